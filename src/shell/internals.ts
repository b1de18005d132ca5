/**
 * The parts of a server that other entry points of this package build on. They are a property of the server: in CommonJS each entry
 * point has its own copy of every module, so that no variable of a module could be shared.
 * @module
 */
import type { ReportRefusal } from './audit.js'
import type { Settings } from './options/settings.js'
import type { Transactions } from './transactions.js'

/** The name of that property. */
export const INTERNALS: unique symbol = Symbol.for('grantwell.internals')

/** The parts of a server. */
export interface Internals<Native> {
  readonly settings: Settings<Native>
  readonly transactions: Transactions
  readonly reportRefusal: ReportRefusal
}

/** A server with its parts. */
export interface WithInternals<Native> {
  readonly [INTERNALS]: Internals<Native>
}
