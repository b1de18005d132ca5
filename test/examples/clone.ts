/**
 * The examples as a newcomer has them: in a fresh clone in which the package was built, each started as a process.
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clone } from '../demo/start.js'

/** How an example ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** An example as a process. */
export interface Example {
  /** All of standard output so far. */
  readonly stdout: () => string
  /** Resolves when it says that it listens, or has ended. */
  readonly settled: Promise<'listening' | 'ended'>
  /** Resolves when it has ended. */
  readonly ended: Promise<Ended>
  /** Sends it SIGTERM, and resolves when it has ended. */
  readonly stop: () => Promise<Ended>
}

const running = new Set<ChildProcess>()
// A run that is given up must leave nothing behind.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts an example: `NAME=value ... node <args>` in the clone. */
export function startExample(clone: Clone, args: readonly string[], env: Readonly<Record<string, string>>): Example {
  const child = spawn(process.execPath, args, {
    cwd: clone.path,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    running.delete(child)
    return { code, signal, stdout, stderr }
  })
  const listening = new Promise<'listening'>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (/^listening at /m.test(stdout)) resolve('listening')
    })
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return {
    stdout: () => stdout,
    settled: Promise.race([listening, ended.then(() => 'ended' as const)]),
    ended,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** The program that stands for `next start`; it needs nothing of the clone. */
export function nextServer(): string {
  return join(fileURLToPath(new URL('.', import.meta.url)), 'next-server.mjs')
}

/** What a terminal would have, without what `npm test` tells its own children, and with what is given. */
function environment(given: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const ours =
    /^(?:npm_|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|VITEST|NO_COLOR|FORCE_COLOR|ISSUER|PORT|HOST|DATABASE|REDIS_URL|PG)/i
  const inherited = Object.entries(process.env).filter(([name]) => !ours.test(name))
  return { ...Object.fromEntries(inherited), ...given }
}
