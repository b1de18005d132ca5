/**
 * The slow run, `npm run test:slow`: the files named `*.slow.test.ts`.
 * @module
 */
import { configureRun } from './vitest.config.js'

export default configureRun('slow')
