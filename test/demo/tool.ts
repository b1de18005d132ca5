/**
 * The command-line tool of the demo as a process, in a clone where nothing was built before, with a folder of its own.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { freePort } from '../engines/process.js'
import { hiddenFields } from '../support.js'
import { type Demo, freshClone } from './start.js'
import { Browser, signIn } from './walk.js'

/** The secret part of every token, code and secret. */
export const CREDENTIAL = /gw[a-z]_[\w-]{40}/

/** A run of the tool that has ended. */
export interface Ended {
  /** Null where a signal killed it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A run of the tool. */
export interface Running {
  readonly child: ChildProcess
  /** The user code, once it is shown. */
  readonly code: () => Promise<string>
  readonly end: () => Promise<Ended>
}

/** Where the tool is run, in one file of tests. */
export interface Bench {
  readonly clone: () => string
  /** Fresh for each test; the configuration folder of the user. */
  readonly folder: () => string
  /** The file of the tokens, where no option says otherwise. */
  readonly file: () => string
  /** What the first run printed, which had to build the package, and found nobody. */
  readonly first: () => Ended
  readonly start: (options: readonly string[]) => Running
  /** Runs it to an end that is a failure: one sentence, nothing secret. */
  readonly failure: (options: readonly string[], running?: Running) => Promise<Ended>
  /** Has something ended after the test. */
  readonly afterwards: (end: () => void) => void
}

/** Makes it ready, for all tests of the file that calls this. */
export function bench(): Bench {
  let clone: ReturnType<typeof freshClone> | undefined
  let folder = ''
  let first: Ended | undefined
  const ended: (() => void)[] = []

  const start: Bench['start'] = (options) => {
    const running = startTool(made(clone).path, options, folder)
    ended.push(() => running.child.kill('SIGKILL'))
    return running
  }

  beforeAll(async () => {
    clone = freshClone()
    folder = join(clone.path, 'nobody')
    first = await start(['--issuer', `http://127.0.0.1:${await freePort()}`]).end()
  })

  afterAll(() => clone?.remove())

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'grantwell-login-'))
  })

  afterEach(() => {
    for (const end of ended.splice(0)) end()
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    clone: () => made(clone).path,
    folder: () => folder,
    file: () => join(folder, 'grantwell-demo', 'tokens.json'),
    first: () => made(first),
    start,
    failure: async (options, running = start(options)) => {
      const { code, stdout, stderr } = await running.end()
      expect(stderr).toMatch(/^[^\n]+\.\n$/)
      expect(stdout + stderr).not.toMatch(CREDENTIAL)
      return { code, stdout, stderr }
    },
    afterwards: (end) => void ended.push(end),
  }
}

function made<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('it is made before the tests')
  return thing
}

/** The tool of a clone. */
export function startTool(clone: string, options: readonly string[], folder: string): Running {
  const tool = join(clone, 'examples', 'demo', 'login.mjs')
  const env = { ...process.env, XDG_CONFIG_HOME: folder }
  const child: ChildProcess = spawn(process.execPath, [tool, ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (part) => {
    stdout += part
  })
  child.stderr?.on('data', (part) => {
    stderr += part
  })
  const closed = once(child, 'close')
  return {
    child,
    code: async () => {
      for (;;) {
        const code = /enter this code: +(\S+)/.exec(stdout)?.[1]
        if (code !== undefined) return code
        if (child.exitCode !== null) throw new Error(`the tool ended: ${stdout}${stderr}`)
        await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), closed]) // it is piped
      }
    },
    end: async () => {
      const [code] = await closed
      return { code: code as number | null, stdout, stderr }
    },
  }
}

/** The user of the demo types a code in and decides, through the forms of the pages. */
export async function decide(demo: Demo, code: string, decision: 'agree' | 'refuse'): Promise<void> {
  const browser = new Browser()
  await signIn(browser, demo)
  const page = `${demo.issuer}/oauth2/device`
  const entry = hiddenFields(await (await browser.get(page)).text())
  const consent = hiddenFields(await (await browser.post(page, { ...entry, user_code: code })).text())
  const answer = await browser.post(page, { ...consent, resource_scope: 'all', decision })
  expect(answer.status).toBe(200)
}

/** What a file of tokens holds. */
export function tokensIn(file: string): Record<string, string | number> {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The paths of all that is in a folder; nothing where there is none. */
export function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true }).map(String).sort() : []
}

/** What the mode of a file must be; Windows has none that says who may read it. */
export function ownersMode(mode: number): unknown {
  return process.platform === 'win32' ? expect.any(Number) : mode
}

/** What the owner and others may do with a file. */
export function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}
