/**
 * The suite as a worker, for `workerd test`.
 * @module
 */
import './bare.js'
import { runSuite } from './run-suite.js'

export default { test: runSuite }
