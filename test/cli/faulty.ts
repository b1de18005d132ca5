/**
 * The command on a file system with faults, some of which another user makes.
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { BIN, folder } from './command.js'

/** Faults of the file system, and things that others do; `at` is the number of a call, from 1 on. */
export interface Faults {
  readonly at?: number
  readonly code?: string
  readonly signal?: string
  readonly write?: { readonly path: string; readonly content: string }
  readonly swap?: { readonly kind: string; readonly path: string; readonly other: string }
  readonly always?: Readonly<Record<string, string>>
  readonly lasting?: Readonly<Record<string, { readonly from: number; readonly code: string }>>
}

/** How a process ended, and what it said. */
interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly code: number | string | null
  readonly stdout: string
  readonly stderr: string
}

const FAULTS = fileURLToPath(new URL('faults.cjs', import.meta.url))
const RUNS = fileURLToPath(new URL('runs.cjs', import.meta.url))
const PATH = { PATH: process.env['PATH'] }

/** A hang that holds back SIGTERM too is what is looked for. */
const HANGS_AFTER = { timeout: 240_000, killSignal: 'SIGKILL' } as const

/** Runs the command in a process of its own, beside others. */
export async function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, 'metadata', ...args], {
    cwd: folder(),
    env: { ...PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...HANGS_AFTER,
  })
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: code ?? signal, stdout, stderr }
}

/** Processes that run the command when they are asked to, and do nothing now. */
const idle: ChildProcess[] = []
afterAll(() => {
  for (const child of idle.splice(0)) child.kill()
})

/** Returns a process that does nothing now, or a new one. */
function takeRunner(): ChildProcess {
  for (let child = idle.pop(); child !== undefined; child = idle.pop()) if (child.connected) return child
  return fork(RUNS, [BIN], { env: PATH, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
}

/**
 * Runs the command with faults at its calls on a folder.
 * @param within - the folder whose files have the faults
 * @returns how it ended, and the names of its calls
 */
export async function runFaulty(
  within: string,
  args: readonly string[],
  given: Faults,
): Promise<Ended & { readonly calls: readonly string[] }> {
  const log = `${within}.log`
  const faults = { folder: within, log, ...given }
  const env = { NODE_OPTIONS: `--require=${FAULTS}`, GRANTWELL_FAULTS: JSON.stringify(faults) }
  const outcome = await (given.signal === undefined ? runAgain(args, faults) : start(args, env))
  return { ...outcome, calls: readFileSync(log, 'utf8').trim().split('\n') }
}

async function runAgain(args: readonly string[], faults: object): Promise<Ended> {
  const child = takeRunner()
  const timer = setTimeout(() => child.kill('SIGKILL'), HANGS_AFTER.timeout)
  let stderr = ''
  const hear = (said: Buffer): void => {
    stderr += said
  }
  child.stderr?.on('data', hear)
  try {
    return await new Promise<Ended>((resolve, reject) => {
      child.once('message', (answer) => resolve(answer as Ended)) // of runs.cjs
      child.once('close', (code, signal) => resolve({ code: code ?? signal, stdout: '', stderr }))
      child.once('error', reject)
      child.send({ args: ['metadata', ...args], folder: folder(), faults })
    })
  } finally {
    clearTimeout(timer)
    child.stderr?.off('data', hear)
    for (const event of ['message', 'close', 'error']) child.removeAllListeners(event)
    // Not before: whoever takes it next has listeners of its own.
    if (child.connected) idle.push(child)
  }
}
