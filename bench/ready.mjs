/** What must be there before anything is measured. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stop } from './options.mjs'

/** The package is measured as its users get it, and as its sources are. */
export function checkBuild() {
  const built = fileURLToPath(import.meta.resolve('grantwell'))
  if (!existsSync(built)) stop('there is no build: npm run build')
  const sources = fileURLToPath(new URL('../src', import.meta.url))
  if (!existsSync(sources)) return
  const files = readdirSync(sources, { recursive: true }).map((file) => statSync(join(sources, file)))
  const newest = Math.max(...files.filter((file) => file.isFile()).map((file) => file.mtimeMs))
  if (newest > statSync(built).mtimeMs) stop('the build is older than the sources: npm run build')
}

/** Other packages are in a folder of their own, so that whoever works on this one installs none of them. */
export function installPeers() {
  const cwd = fileURLToPath(new URL('peers', import.meta.url))
  if (existsSync(join(cwd, 'node_modules'))) return
  process.stderr.write('npm install in bench/peers\n')
  const options = { cwd, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' }
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], options)
  if (status !== 0) stop('npm install in bench/peers failed')
}
