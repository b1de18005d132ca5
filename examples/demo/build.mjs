/**
 * Builds `dist/` where it is missing or older than the sources, as it is in a fresh clone. It belongs to this
 * repository and not to the example: whoever installs the package gets it built.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const dist = join(root, 'dist')
const ENTRIES = ['index.js', 'node.js', 'pages.js', 'storage/memory.js', 'client.js', 'client/node.js']

/** Makes sure of a fresh `dist/`; its JavaScript alone, since types take longer and nobody reads them here. */
export async function build() {
  if (await isFresh()) return
  process.stderr.write('Building grantwell, for the first time or since its sources changed ...\n')
  const began = new Date()
  // Built aside and moved into place whole: other demos may start at the same time.
  const aside = join(root, 'temp', `dist-${process.pid}`)
  try {
    await bundle(aside)
    // So that a source that was changed meanwhile counts as newer.
    for (const entry of ENTRIES) await utimes(join(aside, entry), began, began)
    if (!(await isFresh())) await replace(aside)
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}

async function isFresh() {
  const sources = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true })
  const files = sources.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const newest = Math.max(...(await Promise.all(files.map(changedAt))))
  const oldest = Math.min(...(await Promise.all(ENTRIES.map((entry) => changedAt(join(dist, entry))))))
  return oldest >= newest
}

/** Milliseconds since the epoch; 0 where there is no such file. */
async function changedAt(file) {
  return (await stat(file).catch(() => undefined))?.mtimeMs ?? 0
}

async function bundle(outDir) {
  let tsup
  try {
    tsup = fileURLToPath(new URL('cli-default.js', import.meta.resolve('tsup')))
  } catch {
    throw new Error('The tools to build with are not installed: run npm install first.')
  }
  // On standard error, since the first line of standard output may be for a script.
  const child = spawn(process.execPath, [tsup, '--no-dts', '--silent', '--out-dir', outDir], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  const stop = () => child.kill()
  process.once('exit', stop)
  const [code] = await once(child, 'exit')
  process.off('exit', stop)
  if (code !== 0) throw new Error('The build failed.')
}

async function replace(aside) {
  const old = `${aside}-old`
  await mkdir(join(root, 'temp'), { recursive: true })
  await rename(dist, old).catch(() => {}) // there may be none
  // Fails where another demo was quicker: its build is as good.
  await rename(aside, dist).catch(() => {})
  await rm(old, { recursive: true, force: true })
}
