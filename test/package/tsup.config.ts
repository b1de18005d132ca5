/**
 * The library's own build of all entry points as ES modules, without what nobody loads, and with what became of each source.
 * @module
 */
import type { Options } from 'tsup'
import config from '../../tsup.config.js'

const [library, core, console, telemetry] = config as readonly Options[] // it is a list, which the type of `defineConfig` does not tell

const lean: Options = { format: ['esm'], dts: false, sourcemap: false, clean: false, silent: true }

export default [
  { ...library, ...lean, metafile: true },
  { ...core, ...lean },
  { ...console, ...lean },
  { ...telemetry, ...lean },
]
