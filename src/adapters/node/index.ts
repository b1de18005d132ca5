/**
 * The entry point `grantwell/node`: the server and its guards on Node's `http`, Express, connect and Fastify, Node's own
 * digests, and a safe fetch of clients' metadata documents.
 * @module
 */

export type { Authorized, ResourceNeeds, RouteNeeds } from '../../guard/adapter-guard.js'
export type { AuthInfo } from '../../guard/auth-info.js'
export type { GuardProvider } from '../../guard/guard.js'
export { fetchClientMetadata } from './client-metadata.js'
export { nodeDigests } from './digests.js'
export type { FastifyGuard, FastifyReplyLike, FastifyRequestLike } from './fastify-guard.js'
export { createFastifyGuard } from './fastify-guard.js'
export type { Next, NodeGuard, NodeGuardOptions } from './guard.js'
export { createNodeGuard } from './guard.js'
export type { NodeHandler } from './handler.js'
export { createNodeHandler } from './handler.js'
export { sendResponse } from './response.js'
