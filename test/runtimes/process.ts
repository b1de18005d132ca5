/**
 * What every process of a runtime is started with.
 * @module
 */

/** Deno, with nothing from elsewhere and no question: what it is not permitted fails. */
export const DENO_ALONE = ['--no-prompt', '--no-config', '--no-lock', '--no-npm', '--no-remote'] as const

/** Nothing of ours, and a home that is gone afterwards. */
export function environment(home: string): NodeJS.ProcessEnv {
  const { PATH, SystemRoot } = process.env
  return { PATH, SystemRoot, HOME: home, DENO_DIR: home, DENO_NO_UPDATE_CHECK: '1', DO_NOT_TRACK: '1', NO_COLOR: '1' }
}
