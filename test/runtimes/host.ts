/**
 * A host as people write it for a fetch platform: the server is made while the module is loaded, with the defaults, behind
 * a proxy that its issuer names.
 * @module
 */
import { createAuthorizationServer } from 'grantwell'
import type { FetchHandler } from 'grantwell/fetch'
import { memoryStore } from 'grantwell/storage/memory'
import { hostOptions, routeOf } from './suite/site.js'

const server = createAuthorizationServer({ ...hostOptions, store: memoryStore() })

let route: FetchHandler | undefined

/** Answers a request; the first one must come alone, since the applications are registered then. */
export const handle: FetchHandler = async (request) => {
  route ??= await routeOf(server)
  return route(request)
}
