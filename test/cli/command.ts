/**
 * The command as its users have it: built by the configuration of the package, run as a process of its own.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'
import { BUILT, environment } from '../built.js'

/** What a process said, and how it ended. */
export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  /** What is piped in; nothing by default. */
  readonly input?: string | Uint8Array
  readonly env?: Readonly<Record<string, string>>
  /** Without the rights of root, who may write to every file. The folder may be written to all the same. */
  readonly asNobody?: boolean
  /** Milliseconds after which a process is ended that hangs; two minutes by default. */
  readonly hangsAfter?: number
}

export const BIN = join(BUILT, 'bin/grantwell.cjs')

let directory: string | undefined

/** The folder of this test, in which the command runs: made at first use, removed when the test is over. */
export function folder(): string {
  directory ??= mkdtempSync(join(realpathSync(tmpdir()), 'grantwell-records-'))
  return directory
}

afterEach(() => {
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true })
  directory = undefined
})

/** Writes a file of the folder, and its folders; returns its whole path. */
export function write(path: string, content: string | Uint8Array): string {
  const file = join(folder(), path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

export function link(target: string, path: string): string {
  symlinkSync(target, join(folder(), path))
  return join(folder(), path)
}

/** Runs `grantwell metadata` in the folder. */
export function metadata(args: readonly string[], options?: RunOptions): Outcome {
  return grantwell(['metadata', ...args], options)
}

export function grantwell(args: readonly string[], options?: RunOptions): Outcome {
  const { stdout, ...outcome } = grantwellBytes(args, options)
  return { ...outcome, stdout: stdout.toString('utf8') }
}

/** As {@link grantwell}, with the bytes of standard output. */
export function grantwellBytes(args: readonly string[], options: RunOptions = {}) {
  const { input = '', env = {}, asNobody = false, hangsAfter = 120_000 } = options
  const isRoot = process.getuid?.() === 0
  if (asNobody && isRoot) chmodSync(folder(), 0o777)
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: folder(),
    env: environment(env),
    input,
    maxBuffer: 2 ** 28,
    // Against hanging alone.
    timeout: hangsAfter,
    killSignal: 'SIGKILL',
    ...(asNobody && isRoot && { uid: 65_534, gid: 65_534 }),
  })
  return { code: status, stdout, stderr: stderr.toString('utf8') }
}

/** Runs a line of bash in the folder, where `metadata` is the command. */
export function bash(line: string, env: Readonly<Record<string, string>> = {}): Outcome {
  const script = `metadata() { ${quoted([process.execPath, BIN, 'metadata'])} "$@"; }\n${line}`
  const options = { cwd: folder(), env: environment(env), encoding: 'utf8', input: '' } as const
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], options)
  return { code: status, stdout, stderr }
}

/** Whether there is a program here that lends a terminal to another, `script` of util-linux. */
export const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

/**
 * Runs the command on a terminal, of a width if one is given; what it says comes in `stdout`.
 * @param input - a file of the folder that is piped in
 */
export function onTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  columns = 200,
  input?: string,
): Outcome {
  const line = `stty cols ${columns}; ${quoted([process.execPath, BIN, 'metadata', ...args])}${input === undefined ? '' : ` < ${quoted([input])}`}`
  const options = { cwd: folder(), env: environment(env), encoding: 'utf8', input: '' } as const
  const { status, stdout, stderr } = spawnSync('script', ['-qec', line, '/dev/null'], options)
  return { code: status, stdout: stdout.replaceAll('\r\n', '\n'), stderr }
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
}

/** A good and complete record, written for these tests. */
export const ZLIB = `# Kept by hand: see the handbook.
name: "zlib"
description: "A library for compression"

third_party {
  url { type: GIT value: "https://git.example/zlib" }  # the sources
  version: '1.3.1'
  license_type: NOTICE
  security {
    tag: "NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.1"
  }
  last_upgrade_date { year: 2024 month: 1 day: 22 }
}
`

/** One with fields that the schema does not know. */
export const WITH_UNKNOWN = `name: "fiat"
third_party {
  identifier {
    type: "Git"
    value: "https://git.example/fiat"
    version: "v0.1.4"
    primary_source: true
    depth: 0x10
    state: ON
  }
  license_type: NOTICE
  last_upgrade_date { year: 2024 month: 1 day: 22 }
}
`
