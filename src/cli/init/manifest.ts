/**
 * The `package.json` of the written service: a new one, or an existing one with what it lacks.
 * @module
 */

/** The ranges of the packages that a service may import: the versions that this repository is tested with, or later. */
export const RANGES = {
  '@hono/node-server': '^2.1.8',
  express: '^5.3.0',
  fastify: '^5.12.8',
  hono: '^4.13.19',
  ioredis: '^6.0.0',
  libsql: '^0.5.29',
  pg: '^8.23.1',
} as const

export type PackageName = keyof typeof RANGES

/** The scripts of a service. */
export const SCRIPTS = { start: 'node service.mjs', test: 'node --test' } as const

/** The content of a `package.json`, as far as it is known. */
export type Manifest = Readonly<Record<string, unknown>>

/** The sections in which a package may be named already. */
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

/** A `package.json` and its text. */
export interface ManifestFile {
  readonly manifest: Manifest
  readonly text: string
}

/**
 * Parses a `package.json`.
 * @throws Error unless it is a JSON object whose sections are objects
 */
export function parseManifest(path: string, bytes: Uint8Array): ManifestFile {
  const text = decode(path, bytes)
  const manifest = parse(path, text)
  if (!isObject(manifest)) throw new Error(`${path} must be a JSON object: correct or remove it`)
  for (const section of ['scripts', ...DEPENDENCIES])
    if (manifest[section] !== undefined && !isObject(manifest[section]))
      throw new Error(`${section} in ${path} must be an object: correct or remove it`)
  return { manifest, text }
}

/** Makes the dependencies of a service, sorted as npm sorts them. */
export function dependenciesOf(version: string, packages: readonly PackageName[]): Readonly<Record<string, string>> {
  const all = [['grantwell', `^${version}`], ...packages.map((name) => [name, RANGES[name]])]
  return Object.fromEntries(all.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))
}

/** Makes the text of a new `package.json`. */
export function newManifest(dependencies: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ private: true, scripts: SCRIPTS, dependencies }, null, 2)}\n`
}

/** Adds scripts and dependencies that are missing. Keeps the order, the indentation and the line ends; undefined if nothing is missing. */
export function completeManifest(
  { manifest, text }: ManifestFile,
  dependencies: Readonly<Record<string, string>>,
): string | undefined {
  const named = DEPENDENCIES.flatMap((section) => Object.keys(sectionOf(manifest, section)))
  const added = {
    ...withMissing(manifest, 'scripts', SCRIPTS, Object.keys(sectionOf(manifest, 'scripts'))),
    ...withMissing(manifest, 'dependencies', dependencies, named),
  }
  if (Object.keys(added).length === 0) return undefined
  // The mark of the encoding is white space here, as it is for JSON.
  const before = text.slice(0, text.length - text.trimStart().length)
  const after = text.slice(text.trimEnd().length)
  const json = JSON.stringify({ ...manifest, ...added }, null, indentationOf(text))
  return before + (text.includes('\r\n') ? json.replaceAll('\n', '\r\n') : json) + after
}

/** Returns a section of a manifest, empty where there is none. */
export function sectionOf(manifest: Manifest, section: string): Manifest {
  const value = Object.hasOwn(manifest, section) ? manifest[section] : undefined
  return isObject(value) ? value : {}
}

/** Makes the section with what it lacks; nothing if it lacks nothing. */
function withMissing(manifest: Manifest, section: string, wanted: Manifest, present: readonly string[]): Manifest {
  const missing = Object.entries(wanted).filter(([name]) => !present.includes(name))
  if (missing.length === 0) return {}
  return { [section]: { ...sectionOf(manifest, section), ...Object.fromEntries(missing) } }
}

/** Finds the indentation of a JSON text: none where it is one line with something in it. */
function indentationOf(text: string): string {
  const isOneLine = !text.trim().includes('\n')
  return /\n([ \t]+)"/.exec(text)?.[1] ?? (isOneLine && text.includes('"') ? '' : '  ')
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error(`${path} is not UTF-8: correct or remove it`)
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    throw new Error(`${path} is not JSON: correct or remove it`)
  }
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
