/**
 * A folder of another user, who exchanges files and folders while the command works on them.
 * @module
 */
import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { BIN, folder, type Outcome, write, ZLIB } from './command.js'

const PRELOAD = fileURLToPath(new URL('faults.cjs', import.meta.url))
const SECRET = 'name: "s3cret"\n'

interface Swapped extends Outcome {
  readonly calls: readonly string[]
}

/** Runs the command with something done at one of its calls of the file system. */
function run(name: string, args: readonly string[], faults: object): Promise<Swapped> {
  const log = join(folder(), `${name}.log`)
  const env = {
    PATH: process.env['PATH'],
    NODE_OPTIONS: `--require=${PRELOAD}`,
    GRANTWELL_FAULTS: JSON.stringify({ folder: join(folder(), name), log, ...faults }),
  }
  // A hang that holds back SIGTERM too is what is looked for.
  const options = { cwd: folder(), env, timeout: 20_000, killSignal: 'SIGKILL' } as const
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [BIN, 'metadata', ...args], options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr, calls: readFileSync(log, 'utf8').trim().split('\n') }),
    )
  })
}

/** Does something with each number, a few at once. */
async function each(numbers: readonly number[], work: (at: number) => Promise<void>): Promise<void> {
  const left = [...numbers]
  const worker = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) await work(at)
  }
  // All of them end before the folder is removed.
  for (const ended of await Promise.allSettled([worker(), worker(), worker()]))
    if (ended.status === 'rejected') throw ended.reason
}

const MINUTES = 600_000

export function amongStrangers(): void {
  it.runIf(process.platform !== 'win32').each([
    ['link', {}],
    ['second name', {}],
    ['pipe', {}],
    ['folder', {}],
    ['link', { rename: 'EPERM' }],
    ['second name', { rename: 'EPERM' }],
    ['folder', { rename: 'EPERM' }],
  ])(
    'changes, copies and shows no file but the one that was named, whenever a %s comes in its place: %j',
    async (kind, always) => {
      write('sound/a', ZLIB)
      const { calls } = await run('sound', ['set', 'name=x', 'sound/a'], { always })
      // Before the command knows what the name means, a link is one that the user named.
      const first = calls.indexOf('realpath') + 2
      const steps = calls.map((_, index) => index + 1).filter((at) => at > first)
      expect(steps.length).toBeGreaterThan(10)
      await each(steps, async (at) => {
        const path = write(`at${at}/a`, ZLIB)
        const other = write(`victim${at}/a`, SECRET)
        chmodSync(other, 0o600)
        const swap = { kind, path, other }
        const outcome = await run(`at${at}`, ['set', 'name=x', `at${at}/a`], { at, swap, always })
        const told = `${at} ${calls[at - 1]}: ${outcome.stderr}`
        expect([0, 2], told).toContain(outcome.code)
        expect(outcome.stdout + outcome.stderr, told).not.toContain('s3cret')
        expect(readFileSync(other, 'utf8'), told).toBe(SECRET)
        expect(lstatSync(other).mode & 0o777, told).toBe(0o600)
        for (const name of readdirSync(join(folder(), `at${at}`))) {
          const stats = lstatSync(join(folder(), `at${at}`, name))
          // A copy is the victim's own to read, as the original is.
          if (stats.isFile() && readFileSync(join(folder(), `at${at}`, name), 'utf8').includes('s3cret'))
            expect(stats.mode & 0o777, told).toBe(0o600)
        }
      })
    },
    MINUTES,
  )

  it.runIf(process.platform !== 'win32').each(['link', 'pipe', 'folder'])(
    'shows nothing from outside of a folder, and waits for nothing, whenever a %s comes in the place of a record',
    async (kind) => {
      write('sound/sub/METADATA', ZLIB)
      const { calls } = await run('sound', ['show', '--json', 'sound'], {})
      const steps = calls.map((_, index) => index + 1)
      expect(steps.length).toBeGreaterThan(4)
      await each(steps, async (at) => {
        const path = write(`at${at}/sub/METADATA`, ZLIB)
        const other = write(`victim${at}/METADATA`, SECRET)
        const outcome = await run(`at${at}`, ['show', '--json', `at${at}`], { at, swap: { kind, path, other } })
        const told = `${at} ${calls[at - 1]}: ${outcome.stderr}`
        expect([0, 2], told).toContain(outcome.code)
        expect(outcome.stdout + outcome.stderr, told).not.toContain('s3cret')
        // Whatever is not read is named.
        if (!outcome.stdout.includes('zlib')) expect(outcome.stderr, told).toContain(`at${at}`)
      })
    },
    MINUTES,
  )
}
