/**
 * What engines have in common: a process that says when it is ready, a free port, a folder that does not outlive them.
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A program to start. */
export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly directory: string
  /** Who it runs as; who runs the tests by default. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** What it says on either stream once it is ready. */
  readonly ready: RegExp
}

/** A program that is ready. */
export interface Running {
  readonly pid: number
  /** The groups of `ready`. */
  readonly said: readonly string[]
  /** Sends it a signal, and resolves when it has ended. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>
  readonly ended: Promise<void>
}

const running = new Set<ChildProcess>()
// A run that is given up must leave nothing behind.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a program, and waits until it says that it is ready. */
export function start({ file, args, directory, user, ready }: Program): Promise<Running> {
  return new Promise((resolve, reject) => {
    // Messages are matched, so they must be in English.
    const env = { ...process.env, LC_ALL: 'C' }
    const child = spawn(file, args, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'], ...user })
    running.add(child)
    const ended = new Promise<void>((end) => {
      child.once('exit', () => {
        running.delete(child)
        end()
      })
    })
    let said = ''
    let isReady = false
    const listen = (text: string): void => {
      if (isReady) return // the pipes are drained all the same, or it would come to a halt
      said += text
      const match = ready.exec(said)
      if (match === null) return
      isReady = true
      const end = (signal: NodeJS.Signals): Promise<void> => {
        child.kill(signal)
        return ended
      }
      resolve({ pid: child.pid ?? 0, said: match.slice(1), end, ended }) // it runs, so it has one
    }
    child.stdout.setEncoding('utf8').on('data', listen)
    child.stderr.setEncoding('utf8').on('data', listen)
    child.once('error', reject)
    ended.then(() => reject(new Error(`${file} ended before it was ready:\n${said}`)))
  })
}

/** Ports below those that systems give to whoever asks for any: nobody gets one by chance while an engine is stopped, or about to start. */
const PORTS = { first: 12_000, count: 20_000 } as const

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** A folder of one's own, and how to remove it. */
export function temporaryFolder(name: string): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), `grantwell-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
