/**
 * The library's own build of the entry points that run everywhere, without what no runtime reads: types, maps, CommonJS.
 * @module
 */
import type { Options } from 'tsup'
import config from '../../tsup.config.js'

/** As tsup.config.ts of the project names them. */
const PORTABLE = ['index', 'fetch', 'storage/memory', 'metadata', 'testing']

const [library] = config as readonly Options[] // it is a list, which the type of `defineConfig` does not tell

const forRuntimes: Options = {
  ...library,
  entry: Object.fromEntries(Object.entries(library?.entry ?? {}).filter(([name]) => PORTABLE.includes(name))),
  format: ['esm'],
  dts: false,
  sourcemap: false,
  clean: false,
  silent: true,
}

export default forRuntimes
