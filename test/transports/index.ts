/**
 * The way that the tests of this run take to a server: `GRANTWELL_ADAPTER`, which each project of the test runner sets.
 * @module
 */
import { fetchApi } from './fetch.js'
import { node } from './node.js'
import type { Transport } from './transport.js'
import { direct } from './transport.js'

export type { Transport } from './transport.js'

const name = process.env['GRANTWELL_ADAPTER'] ?? direct.name
const found = [direct, node, fetchApi].find((each) => each.name === name)
if (found === undefined) throw new Error(`GRANTWELL_ADAPTER is ${JSON.stringify(name)}: direct, node or fetch`)

/** How messages get to a server here: not at all but as values (`direct`), through Node's adapter or the fetch adapter. */
export const transport: Transport = found
