/**
 * Engines and programs that this machine may have, and suites that need one: with `CI` set, one that is missing fails a test;
 * else its suites are skipped, and the last line of the run says so.
 * @module
 */
import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where Debian keeps the programs of PostgreSQL, which are on no path. */
const DEBIAN_POSTGRESQL = '/usr/lib/postgresql'

/** An engine or a program: the directory that it is in, undefined where this machine does not have it. */
export interface Engine {
  readonly name: string
  readonly directory: string | undefined
  /** What Debian calls it. */
  readonly package: string
}

export const postgresql: Engine = {
  name: 'PostgreSQL',
  directory: directoryWith(['initdb', 'postgres'], [...path(), ...debianPostgresql()]),
  package: 'postgresql',
}

export const redis: Engine = {
  name: 'Redis',
  directory: directoryWith(['redis-server'], path()),
  package: 'redis-server',
}

export const etcd: Engine = {
  name: 'etcd',
  directory: directoryWith(['etcd'], path()),
  package: 'etcd-server',
}

/** The login of Git by a browser; Debian's package needs Git. */
export const gitCredentialOauth: Engine = {
  name: 'git-credential-oauth',
  directory: directoryWith(['git-credential-oauth'], path()),
  package: 'git-credential-oauth',
}

/** Makes the certificates of HTTPS servers. */
export const openssl: Engine = {
  name: 'OpenSSL',
  directory: directoryWith(['openssl'], path()),
  package: 'openssl',
}

/** A suite; given, as by Vitest, what makes a test. */
type Suite = (it: (title: string, run: () => void) => void) => void

/** Vitest's `describe`, passed in since the notice at the end of a run is made where there is none. */
type Describe = ((title: string, suite: Suite) => void) & { readonly skip: (title: string, suite: Suite) => void }

/** A suite that runs where the engine is. In CI an engine that is missing is a failed test, elsewhere the suite is skipped. */
export function describeWith(describe: Describe, engine: Engine, title: string, suite: () => void): void {
  const missing = `${engine.name} is not on this machine`
  if (engine.directory !== undefined) describe(title, suite)
  else if (!process.env['CI']) describe.skip(`${title} (not run: ${missing})`, suite)
  else
    describe(title, (it) =>
      it(`runs on ${engine.name}`, () => {
        throw new Error(`${missing}: apt-get install ${engine.package}`)
      }),
    )
}

/** A program of an engine. */
export function program({ name, directory, package: debian }: Engine, file: string): string {
  if (directory === undefined) throw new Error(`${name} is not on this machine: apt-get install ${debian}`)
  return join(directory, file)
}

/** Says which engines did not run, and how to run them by a command; undefined where all did. */
export function notice(
  engines: readonly Engine[] = [postgresql, redis, etcd, gitCredentialOauth, openssl],
  command = 'npm test',
): string | undefined {
  const missing = engines.filter(({ directory }) => directory === undefined)
  if (missing.length === 0) return undefined
  const packages = [...new Set(missing.flatMap((engine) => engine.package.split(' ')))].join(' ')
  const names = missing.map(({ name }) => name).join(' and ')
  return `Not run: the tests on ${names}, not on this machine. To run them: apt-get install ${packages}, then ${command}`
}

function path(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter)
}

/** The newest version first. */
function debianPostgresql(): readonly string[] {
  try {
    const versions = readdirSync(DEBIAN_POSTGRESQL).sort((a, b) => Number(b) - Number(a))
    return versions.map((version) => join(DEBIAN_POSTGRESQL, version, 'bin'))
  } catch {
    return [] // another system keeps them elsewhere
  }
}

function directoryWith(files: readonly string[], directories: readonly string[]): string | undefined {
  return directories.find((directory) => files.every((file) => isProgram(join(directory, file))))
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
