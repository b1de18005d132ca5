/**
 * Gets the runtimes from the registry, each by itself: one that cannot be got does not stop the others. Says in a line
 * each what came of it, and fails in no case, since the tests say what they did not run on.
 *
 *     node test/runtimes/install.mjs
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { HERE, oneLine, runtimes, whyNot } from './runtimes.mjs'

/** Milliseconds that one may take: a registry that does not answer must not hold up the others, or CI. */
const PATIENCE = 300_000

const MODULES = join(HERE, 'node_modules')

/** What npm says with `--json` of what went wrong. @param {string} stdout @param {string} stderr */
function reasonOf(stdout, stderr) {
  try {
    const { error } = JSON.parse(stdout)
    return oneLine(`${error.code ?? ''} ${error.summary ?? ''}`.replaceAll(/https?:\/\/[^\s/]+/g, ''))
  } catch {
    return oneLine(stderr || stdout) || 'npm said nothing'
  }
}

/** Installs a package into a folder of its own. @param {string} wanted @param {string} prefix @returns {Promise<string | undefined>} why not */
function install(wanted, prefix) {
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--json']
  const args = ['install', '--prefix', prefix, ...quiet, wanted]
  const npm = spawn('npm', args, {
    cwd: prefix,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    timeout: PATIENCE,
  })
  let [stdout, stderr] = ['', '']
  npm.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  npm.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  return new Promise((resolve) => {
    npm.on('error', (error) => resolve(`npm does not start: ${error.message}`))
    npm.on('close', (status, signal) => {
      if (status === 0) resolve(undefined)
      else resolve(signal === null ? reasonOf(stdout, stderr) : `no answer in ${PATIENCE / 1000} seconds`)
    })
  })
}

/**
 * A runtime whose program is there afterwards, and does what it should, or none of it.
 * @param {import('./runtimes.mjs').Runtime} runtime
 * @returns {Promise<string | undefined>} why not
 */
async function get({ program, says, folder, package: wanted }) {
  if (folder === undefined || whyNot({ program, says }) === undefined) return undefined
  if (wanted === undefined) return `nobody here knows a package of it for ${process.platform}-${process.arch}`
  const prefix = mkdtempSync(join(MODULES, '.install-'))
  try {
    const failed = await install(wanted, prefix)
    if (failed !== undefined) return failed
    const place = join(MODULES, folder)
    const came = join(prefix, 'node_modules', folder)
    const wrong = whyNot({ program: join(came, relative(place, program)), says })
    if (wrong !== undefined) return wrong
    rmSync(place, { recursive: true, force: true })
    mkdirSync(dirname(place), { recursive: true })
    renameSync(came, place)
    return undefined
  } finally {
    rmSync(prefix, { recursive: true, force: true })
  }
}

if (!existsSync(MODULES)) mkdirSync(MODULES)
await Promise.all(
  runtimes.map(async (runtime) => {
    const began = performance.now()
    const reason = await get(runtime).catch((error) => oneLine(String(error)))
    const seconds = Math.round((performance.now() - began) / 1000)
    if (reason === undefined) console.log(`ok     ${runtime.title} (${seconds} s)`)
    else console.log(`no     ${runtime.title}, which the tests will not run on: ${reason}`)
  }),
)
