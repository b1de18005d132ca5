/**
 * The package as `npm run build` makes it, but without its types: built once in a run, aside from the `dist/` that others may be using.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { folderOf, once } from './once.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Where the build lies, for those tests that look at it. No test may change it. */
export const BUILT = folderOf('dist')

/** Builds the package, unless another test of this run has. */
export async function build(): Promise<void> {
  await once('dist', (folder) => {
    const tsup = fileURLToPath(new URL('cli-default.js', import.meta.resolve('tsup')))
    const args = [tsup, '--no-dts', '--silent', '--out-dir', folder]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: ROOT,
      env: environment(),
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`the build failed: ${stdout}${stderr}`)
  })
}

/** The environment without what colours output, or what a test runner tells its own children. */
export function environment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(CI$|NO_COLOR|FORCE_COLOR|NODE_DISABLE_COLORS|NODE_OPTIONS|VITEST|NODE_V8_COVERAGE)/.test(name),
  )
  return { ...Object.fromEntries(inherited), TERM: 'xterm', ...more }
}
