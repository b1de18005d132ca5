/**
 * The demo as a process, started as a newcomer starts it: in a fresh clone, where nothing is built yet. A copy of the
 * tree stands in for the clone, so that no test touches the `dist/` that others may be using.
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BUILT, build } from '../built.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The line of JSON that the demo prints first. */
export interface Announcement {
  readonly issuer: string
  readonly app: string
  readonly api: string
  readonly client_id: string
  readonly client_secret: string
  readonly redirect_uri: string
  readonly username: string
  readonly password: string
  readonly admin_username: string
  readonly admin_password: string
}

/** A demo that runs. */
export interface Demo extends Announcement {
  readonly process: ChildProcess
  /** All that was printed on standard output so far. */
  readonly printed: () => string
  /** Ends it; resolves with its exit code, or the signal that killed it. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals | null>
}

/** A clone, and how to remove it. */
export interface Clone {
  readonly path: string
  readonly remove: () => void
}

/** A copy of what the demo needs, without `dist/`. */
export function freshClone(): Clone {
  // Real, since a module knows itself by its real path.
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'grantwell-demo-')))
  for (const name of ['src', 'examples', 'package.json', 'tsconfig.json', 'tsup.config.ts']) {
    cpSync(join(root, name), join(path, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'), 'junction')
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** As {@link freshClone}, with `dist/`: most of what is tested begins behind the build. */
export async function builtClone(): Promise<Clone> {
  await build()
  const clone = freshClone()
  cpSync(BUILT, join(clone.path, 'dist'), { recursive: true })
  return clone
}

/** Starts the demo on free ports, and waits until it says that it can be used. */
export async function startDemo(clone: string, options: readonly string[] = ['--port', '0']): Promise<Demo> {
  const child = spawnDemo(clone, [...options, '--json'])
  let printed = ''
  let complaints = ''
  child.stdout?.on('data', (part) => {
    printed += part
  })
  child.stderr?.on('data', (part) => {
    complaints += part
  })
  const exited = once(child, 'exit')
  await Promise.race([firstLine(), exited])
  if (!printed.includes('\n')) throw new Error(`the demo did not start: ${complaints}`)
  return {
    ...(JSON.parse(printed.split('\n')[0] ?? '') as Announcement), // demo.test.ts checks every field
    process: child,
    printed: () => printed,
    end: async (signal = 'SIGTERM') => {
      if (child.exitCode === null) child.kill(signal)
      const [code, killedBy] = await exited
      return code ?? killedBy
    },
  }

  async function firstLine(): Promise<void> {
    while (!printed.includes('\n')) await once(child.stdout as NodeJS.ReadableStream, 'data') // it is piped
  }
}

/** Runs the demo to its end. */
export async function runDemo(
  clone: string,
  options: readonly string[],
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const child = spawnDemo(clone, options)
  const [stdout, stderr, [code]] = await Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}

export function spawnDemo(clone: string, options: readonly string[]): ChildProcess {
  const start = join(clone, 'examples', 'demo', 'start.mjs')
  return spawn(process.execPath, [start, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = ''
  for await (const part of stream ?? []) text += part
  return text
}
