/**
 * The library's own build of the entry points that run everywhere, without what no runtime reads: types, maps, CommonJS.
 * @module
 */
import type { Options } from 'tsup'
import config from '../../tsup.config.js'

/** As tsup.config.ts of the project names them. */
const PORTABLE = ['index', 'core', 'fetch', 'storage/memory', 'metadata', 'testing']

const builds = config as readonly Options[] // it is a list, which the type of `defineConfig` does not tell

/** Each build of the library that has some of them. */
const forRuntimes: readonly Options[] = builds
  .map((build): Options => {
    const entry = Object.fromEntries(Object.entries(build.entry ?? {}).filter(([name]) => PORTABLE.includes(name)))
    return { ...build, entry, format: ['esm'], dts: false, sourcemap: false, clean: false, silent: true }
  })
  .filter(({ entry }) => Object.keys(entry ?? {}).length > 0)

export default forRuntimes
