/**
 * Servers in this process for `lifecycle`, sound and broken ones, and what it says of them.
 * @module
 */
import type { AuthorizationServer, AuthorizationServerOptions, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import type { MemoryStoreOptions } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import type { LifecycleOptions } from '../../src/testing/lifecycle.js'
import { lifecycle } from '../../src/testing/lifecycle.js'
import { virtualClock } from '../../src/testing/virtual-clock.js'
import type { LifecycleWiring, Wired } from '../../src/testing/wiring.js'
import { wire } from '../../src/testing/wiring.js'
import { later } from '../support.js'
import type { BrokenServer } from './broken-servers.js'
import { mutant } from './mutants.js'

type CreateServer = (options: AuthorizationServerOptions) => AuthorizationServer

/** Options that make the same server quicker, or another one. */
export function quick(
  more: Partial<AuthorizationServerOptions>,
  create: CreateServer = createAuthorizationServer,
): CreateServer {
  return (options) => create({ ...options, digests: nodeDigests, ...more })
}

/** A server in this process over a store in memory, which answers a moment later: so requests at once meet in it. */
export async function inMemory(
  createServer: CreateServer = quick({}),
  makeStore: (options: MemoryStoreOptions) => RecordStore = memoryStore,
): Promise<Wired> {
  const clock = virtualClock()
  return wire({ store: later(makeStore({ clock })), clock, createServer })
}

/** What `lifecycle` says of a wiring; undefined where all is well. */
export async function faultOf(
  makeWiring: () => Promise<LifecycleWiring>,
  options: LifecycleOptions,
): Promise<string | undefined> {
  return lifecycle(makeWiring, options).then(
    () => undefined,
    (error: Error) => error.message,
  )
}

/** Returns what `lifecycle` says of a broken server. */
export async function reportOf(broken: BrokenServer, options: LifecycleOptions): Promise<string | undefined> {
  const { terms = {} } = broken
  const { createAuthorizationServer: create } = await mutant(broken)
  const { requirePkce: _, ...lifetimes } = terms
  return faultOf(() => inMemory(quick(lifetimes, create)), { ...options, terms })
}
