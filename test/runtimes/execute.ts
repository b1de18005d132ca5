/**
 * Runs the bundled suite in a runtime, without any permission that it can withhold, and reads what it prints.
 * @module
 */
import { spawn } from 'node:child_process'
import type { Bundle } from './bundle.js'
import { DENO_ALONE, environment } from './process.js'
import type { Line } from './run-suite.js'
import type { Runtime } from './runtimes.mjs'

/** Milliseconds that a runtime may take; they take seconds. */
const PATIENCE = 300_000

/** What came of a run. */
export interface Execution {
  /** What the suite printed, line by line. */
  readonly lines: readonly Line[]
  /** How the process ended, and what else it said. */
  readonly end: string
  /** Whether it ended by itself and without an error. */
  readonly isClean: boolean
}

/** How each runtime is started with the suite. */
const ARGUMENTS: { readonly [Name in Runtime['name']]: readonly string[] } = {
  'Node.js': ['main.mjs'],
  Bun: ['--no-install', 'run', 'main.mjs'],
  Deno: ['run', ...DENO_ALONE, 'main.mjs'],
  workerd: ['test', 'worker.capnp'],
}

/** Runs the suite. */
export async function execute({ name, program }: Runtime, { directory }: Bundle): Promise<Execution> {
  const child = spawn(program, ARGUMENTS[name], {
    cwd: directory,
    env: environment(directory),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const how = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (status, signal) => resolve(signal === null ? `status ${status}` : `ended by ${signal}`))
  })
  const isLine = (text: string): boolean => text.startsWith('{"type":')
  const printed = stdout.split('\n')
  const others = printed.filter((text) => text !== '' && !isLine(text)).join('\n')
  return {
    lines: printed.filter(isLine).map((text): Line => JSON.parse(text)),
    end: [how, others, stderr].filter((text) => text !== '').join('\n'),
    isClean: how === 'status 0' && others === '',
  }
}
