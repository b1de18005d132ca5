/**
 * Processes with a token source each, and their bundle.
 * @module
 */
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Settings of a process. */
export interface SourceSettings {
  readonly issuer: string
  /** The path of the tokens. */
  readonly file: string
  /** The time of its clock, in seconds since the epoch. */
  readonly now: number
  readonly retryFor: number
  /** True if its writes wait for a command. */
  readonly isWriteHeld?: boolean
}

/** Commands to a process. */
export type Order =
  | { readonly type: 'ask'; readonly callers: number; readonly now: number }
  | { readonly type: 'hold' | 'write' | 'exit' | 'exit-while-writing' | 'ask-alone' }

/** Messages of a process. */
export type Report =
  | { readonly type: 'ready' | 'writing' | 'holding' }
  | { readonly type: 'told'; readonly message: string }
  | { readonly type: 'got'; readonly results: readonly string[] }

/** A process that runs. */
export interface SourceProcess {
  readonly order: (order: Order) => void
  /** Waits until it tells something of a type that it has not been asked for yet. */
  readonly next: <Type extends Report['type']>(type: Type) => Promise<Extract<Report, { readonly type: Type }>>
  /** Tells it to ask, and waits for what it got. */
  readonly ask: (callers: number, now: number) => Promise<readonly string[]>
  readonly signal: (signal: NodeJS.Signals) => void
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Its output. */
  readonly printed: () => string
}

const running = new Set<ChildProcess>()
// A run that is given up must leave nothing behind.
process.on('exit', () => endAll())

function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

let bundles = 0

/** Bundles the process from the sources. @returns how to start it, and how to end them all and clear away */
export async function sourceProcesses(): Promise<{
  readonly start: (settings: SourceSettings) => Promise<SourceProcess>
  readonly remove: () => void
}> {
  const directory = join(ROOT, 'temp/client')
  mkdirSync(directory, { recursive: true })
  const outfile = join(directory, `${process.pid}-${bundles++}.mjs`)
  await build({
    entryPoints: [join(ROOT, 'test/client/source-process.ts')],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  })
  return {
    start: (settings) => startProcess(outfile, settings),
    remove: () => {
      endAll()
      rmSync(outfile, { force: true })
    },
  }
}

async function startProcess(bundle: string, settings: SourceSettings): Promise<SourceProcess> {
  const child = fork(bundle, [JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], execArgv: [] })
  running.add(child)
  let printed = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child)
    return (code ?? signal) as number | string // one of the two is there
  })
  const reports: Report[] = []
  let woken = (): void => {}
  child.on('message', (report: Report) => {
    reports.push(report)
    woken()
  })
  ended.then(() => woken())

  const next: SourceProcess['next'] = async (type) => {
    for (;;) {
      const index = reports.findIndex((each) => each.type === type)
      // Found by that type.
      if (index >= 0) return reports.splice(index, 1)[0] as Extract<Report, { readonly type: typeof type }>
      if (!running.has(child)) throw new Error(`ended before it was ${type}: ${printed}`)
      await new Promise<void>((resolve) => {
        woken = resolve
      })
    }
  }
  const order = (given: Order): void => {
    child.send(given)
  }
  await next('ready')
  return {
    order,
    next,
    ask: async (callers, now) => {
      order({ type: 'ask', callers, now })
      return (await next('got')).results
    },
    signal: (signal) => {
      child.kill(signal)
    },
    ended,
    printed: () => printed,
  }
}
