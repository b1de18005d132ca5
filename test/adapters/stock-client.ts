/**
 * Where oauth4webapi, a client that nobody here wrote, meets the server: over HTTP and by both adapters, with and without a
 * path in the issuer.
 * @module
 */
import * as oauth from 'oauth4webapi'
import { overFetch } from './bridge.js'
import { overNode } from './node-listener.js'
import type { ListeningSite, Platform } from './suite.js'
import { serve } from './suite.js'

/** The loopback of the test has no TLS. */
export const INSECURE = { [oauth.allowInsecureRequests]: true }

export const PLATFORMS: readonly (Pick<Platform, 'title' | 'listener'> & { readonly issuerPath?: string })[] = [
  { title: 'by the Node adapter', listener: overNode },
  { title: 'by the fetch adapter', listener: overFetch },
  { title: 'by the Node adapter, with an issuer that has a path', listener: overNode, issuerPath: '/deep' },
  { title: 'by the fetch adapter, with an issuer that has a path', listener: overFetch, issuerPath: '/deep' },
]

/** A server that listens, and what the client found out about it by itself. */
export async function discovered({
  title,
  listener,
  issuerPath = '',
}: (typeof PLATFORMS)[number]): Promise<{ readonly site: ListeningSite; readonly as: oauth.AuthorizationServer }> {
  const twoAuthorizations = { status: 400, error: 'invalid_request' }
  const site = await serve({ title, listener, issuerPath, elsewhere: '', twoAuthorizations })
  const issuer = new URL(site.issuer)
  const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE })
  return { site, as: await oauth.processDiscoveryResponse(issuer, response) }
}
