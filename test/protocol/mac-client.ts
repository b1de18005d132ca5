/**
 * A client that signs its requests, written from draft-ietf-oauth-v2-http-mac-01 with nothing of the server's own.
 * @module
 */
import { createHmac } from 'node:crypto'
import type { AuthorizationServerOptions, HttpRequest } from 'grantwell'
import type { TestServer, Tokens } from '../support.js'
import { authorize, exchange, ISSUER, registration } from '../support.js'

/** An answer of the token endpoint to a client that is registered for the type `mac`. */
export interface MacTokens extends Tokens {
  readonly mac_key: string
  readonly mac_algorithm: string
}

/** Of every server that gives them out. */
export const MAC_OPTIONS: Partial<AuthorizationServerOptions> & { readonly derivationKey: Uint8Array } = {
  macTokens: true,
  derivationKey: Uint8Array.from({ length: 32 }, (_, index) => 7 * index),
}

/** A confidential application that is registered for tokens of the type `mac`. */
export const SIGNER = { clientId: 'signer', clientSecret: 'a-secret-of-the-application-that-signs' }

/** The same server, with the application. */
export async function withSigner<Test extends TestServer>(test: Test): Promise<Test> {
  await test.server.applications.register(registration({ name: 'Signer', tokenType: 'mac' }), SIGNER)
  test.events.length = 0
  return test
}

/** The whole way to a first pair of that application. */
export async function macTokens(
  test: TestServer,
  parameters: Record<string, string> = {},
  form: Record<string, string> = {},
): Promise<MacTokens> {
  const { code } = await authorize(test, { client_id: SIGNER.clientId, ...parameters }, form)
  const { status, body } = await exchange(test, code, {}, SIGNER)
  if (status !== 200) throw new Error(`not exchanged: ${JSON.stringify(body)}`)
  return body as MacTokens // its client is registered for them
}

/** Everything that a signature is about. */
export interface Signed {
  readonly method: string
  readonly url: string
  readonly host: string
  readonly port: string
  readonly ts: string
  readonly nonce: string
  readonly ext?: string | undefined
}

/** Section 3.2.1: each part on a line of its own, and a line end behind the last one. */
export function signatureOf(key: string, { ts, nonce, method, url, host, port, ext = '' }: Signed): string {
  const parts = [ts, nonce, method.toUpperCase(), url, host.toLowerCase(), port, ext]
  return createHmac('sha256', key)
    .update(parts.map((part) => `${part}\n`).join(''))
    .digest('base64')
}

/** Section 3.1. */
export function headerOf(id: string, { ts, nonce, ext }: Pick<Signed, 'ts' | 'nonce' | 'ext'>, mac: string): string {
  const attributes = { id, ts, nonce, ...(ext !== undefined && { ext }), mac }
  const printed = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`)
  return `MAC ${printed.join(', ')}`
}

let nonces = 0

/** What a request is, where a test does not say it. */
export function signedParts(test: Pick<TestServer, 'clock'>, changes: Partial<Signed> = {}): Signed {
  const { host } = new URL(ISSUER)
  const ts = String(test.clock.now)
  return { method: 'GET', url: '/repos/1?page=2&page=3', host, port: '443', ts, nonce: `n${nonces++}`, ...changes }
}

/** A signed request. */
export function signedRequest(
  { access_token, mac_key }: Pick<MacTokens, 'access_token' | 'mac_key'>,
  parts: Signed,
): HttpRequest & { readonly headers: { readonly host: string; readonly authorization: string } } {
  const { method, url, host, port } = parts
  const authorization = headerOf(access_token, parts, signatureOf(mac_key, parts))
  const authority = port === '443' ? host : `${host}:${port}`
  return { method, url, headers: { host: authority, authorization }, native: undefined }
}
