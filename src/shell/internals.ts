/**
 * The parts of a server that other entry points of this package build on. They are a property of the server: in CommonJS each entry
 * point has its own copy of every module, so that no variable of a module could be shared.
 * @module
 */
import type { AuditTrail } from './audit.js'
import type { Settings } from './options/settings.js'
import type { CheckedStore } from './records/checked-store.js'

/** The name of that property. */
export const INTERNALS: unique symbol = Symbol.for('grantwell.internals')

/** The parts of a server. */
export interface Internals<Native> {
  readonly settings: Settings<Native>
  readonly store: CheckedStore
  readonly audit: AuditTrail
}

/** A server with its parts. */
export interface WithInternals<Native> {
  readonly [INTERNALS]: Internals<Native>
}
