/**
 * The MCP Inspector and version 2 of the SDK's client: large, so they are installed when a slow test needs them.
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { freePort, temporaryFolder } from '../engines/process.js'
import { runtimes, whyNot } from '../runtimes/runtimes.mjs'
import type { Sdk } from './mcp-agent.js'

const FOLDER = fileURLToPath(new URL('./inspector/', import.meta.url))

/** The Inspector wants Node 22.19. The tests run on Node 20 too, and may have a newer one beside it. */
const NODE = runtimes.find(({ name, version }) => name === 'Node.js' && Number.parseInt(version, 10) >= 22)

/** The reason why the Inspector cannot run here; undefined if it can. */
export function whyNoInspector(): string | undefined {
  const reason = NODE === undefined ? 'there is none' : whyNot(NODE)
  return reason && `The MCP Inspector was NOT tested, since it needs Node 22 or later, and ${reason}.`
}

/** An Inspector that runs. */
export interface Inspector {
  /** The address of its page. */
  readonly url: string
  readonly end: () => Promise<void>
}

const running = new Set<ChildProcess>()
// A run that is given up must leave nothing behind.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Installs both, unless they are there. */
export function installInspector(): void {
  if (existsSync(join(FOLDER, 'node_modules/.package-lock.json'))) return
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'pipe' })
}

/** Loads version 2 of the SDK's client. */
export async function sdkOfVersion2(): Promise<Sdk> {
  return import(pathToFileURL(join(FOLDER, 'node_modules/@modelcontextprotocol/client/dist/index.mjs')).href)
}

/** Starts the Inspector, which is told the URL of one server. It keeps what it learns in a folder of its own. */
export async function startInspector(serverUrl: string): Promise<Inspector> {
  const { path: home, remove } = temporaryFolder('inspector')
  const port = await freePort()
  const program = join(FOLDER, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  const child = spawn(NODE?.program ?? '', [program, '--web', '--server-url', serverUrl, '--transport', 'http'], {
    cwd: FOLDER,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      MCP_STORAGE_DIR: join(home, 'storage'),
      MCP_INSPECTOR_SECRET_STORE: 'memory',
      MCP_AUTO_OPEN_ENABLED: 'false',
      DANGEROUSLY_OMIT_AUTH: 'true',
      CLIENT_PORT: `${port}`,
      MCP_SANDBOX_PORT: `${await freePort()}`,
      MCP_APP_ORIGIN_PORT: `${await freePort()}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const ended = once(child, 'close').then(() => {
    running.delete(child)
    remove()
  })
  let said = ''
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
        if (said.includes('up and running')) resolve()
      })
  })
  const isReady = await Promise.race([ready.then(() => true), ended.then(() => false)])
  if (!isReady) throw new Error(`the Inspector did not start: ${said}`)
  return {
    url: `http://127.0.0.1:${port}`,
    end: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}
