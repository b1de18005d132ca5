/**
 * Starts the host on the HTTP server that a runtime has.
 * @module
 */
import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Bundle } from './bundle.js'
import { DENO_ALONE, environment } from './process.js'
import type { Runtime } from './runtimes.mjs'

/** A host that listens. */
export interface Serving {
  readonly port: number
  /** What it printed so far. */
  readonly output: () => string
  readonly stop: () => Promise<void>
}

/** A runtime that has such a server; in Node it is the host's own matter. */
export type ServingName = Exclude<Runtime['name'], 'Node.js'>

/** How each is started. workerd tells its port on a descriptor of its own. */
const ARGUMENTS: { readonly [Name in ServingName]: readonly string[] } = {
  Bun: ['--no-install', 'run', 'serve.mjs'],
  Deno: ['run', ...DENO_ALONE, '--allow-net=127.0.0.1', 'serve.mjs'],
  workerd: ['serve', 'serve-worker.capnp', '--control-fd=3'],
}

/** Milliseconds until it must listen. */
const PATIENCE = 120_000

/**
 * Starts the host.
 * @throws Error with all that it said, where it does not listen in time
 */
export async function startServing(program: string, name: ServingName, { directory }: Bundle): Promise<Serving> {
  const child = spawn(program, ARGUMENTS[name], {
    cwd: directory,
    env: environment(directory),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()).on('error', () => resolve()))
  let output = ''
  const port = new Promise<number>((resolve) => {
    for (const stream of child.stdio.slice(1) as readonly Readable[]) // those that are pipes out of it
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        const [, found] = /"port":\s*(\d+)/.exec(output) ?? []
        if (found !== undefined) resolve(Number(found))
      })
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE)
  })
  const found = await Promise.race([port, ended, late])
  clearTimeout(timer)
  if (typeof found === 'number') return { port: found, output: () => output, stop }
  await stop()
  throw new Error(`${name} does not listen:\n${output}`)
}
