/**
 * The suite as a program, for Node, Bun and Deno.
 * @module
 */
import './bare.js'
import { runSuite } from './run-suite.js'

await runSuite()
