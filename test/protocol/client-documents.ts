/**
 * Clients whose identifier is the URL of their metadata: documents, and a server that reads them.
 * @module
 */
import type { AuthorizationServerOptions, FetchedClientMetadata } from 'grantwell'
import type { TestServer } from '../support.js'
import { authorizationUrl, send, testServer } from '../support.js'
import { parametersOf } from './registration.js'

export const CLIENT_URL = 'https://tool.example/oauth/client.json'
export const CALLBACK = 'https://tool.example/callback'

/** A server with the documents that it finds, by their URLs, and all URLs that it asked for. */
export interface DocumentServer extends TestServer {
  readonly documents: Map<string, FetchedClientMetadata>
  readonly fetched: string[]
}

/** Makes a document of a client. */
export function documentOf(changes: object = {}, maxAge?: number): FetchedClientMetadata {
  const document = { client_id: CLIENT_URL, client_name: 'A tool', redirect_uris: [CALLBACK], ...changes }
  return { type: 'document', text: JSON.stringify(document), ...(maxAge !== undefined && { maxAge }) }
}

/** A server that finds one document at first, and whose policy approves everybody. */
export async function documentServer(options: Partial<AuthorizationServerOptions> = {}): Promise<DocumentServer> {
  const documents = new Map([[CLIENT_URL, documentOf()]])
  const fetched: string[] = []
  const test = await testServer({
    clientPolicy: () => 'approve',
    fetchClientMetadata: async (url) => {
      fetched.push(url)
      return documents.get(url) ?? { type: 'none', reason: 'status' }
    },
    ...options,
  })
  return { ...test, documents, fetched }
}

/** Opens the authorization endpoint for a client. */
export function openFor({ server }: Pick<TestServer, 'server'>, clientId = CLIENT_URL, redirectUri = CALLBACK) {
  return send(server, { url: authorizationUrl(parametersOf(clientId, redirectUri)) })
}
