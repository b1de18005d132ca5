/**
 * A host of many different characters outside ASCII takes a URL parser time by the square of their number, even within the limit of a
 * text. No stranger can make the server parse one.
 * @module
 */
import { serviceScopes } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { brokenRedirectRule, parseRedirectUri, redirectUriRule } from '../../src/core/application/redirect-uri.js'
import type { ResourceIdentifier } from '../../src/core/audiences/audience.js'
import { requestedAudience } from '../../src/protocol/audiences/requested-audience.js'
import { checkClientMetadata } from '../../src/protocol/registration/client-metadata.js'
import { shortestTimeOf } from './growth.js'

const redirect = { matching: 'domain', allowLocalhost: true } as const
const rules = { scopes: serviceScopes(), redirect, specifiedResources: false, allowPost: true }
const registered = { type: 'public', redirectUris: ['https://app.example/'], allowSubdomains: false } as const
const RESOURCE = 'https://git.example/mcp' as ResourceIdentifier // as the option would have it
const audiences = new Map([[RESOURCE, { resource: RESOURCE, name: 'Tools', scopes: [] }]])

const host = (first: number, size: number): string =>
  String.fromCodePoint(...Array.from({ length: size }, (_, index) => first + index))

/** Texts of one length: of plain characters, of different ideographs, and of their escapes. */
const textsOf = (size: number): Readonly<Record<'plain' | 'ideographs' | 'escapes', string>> => ({
  plain: `https://app.example/${'a'.repeat(size)}`,
  ideographs: `https://${host(0x4e00, size)}/`,
  escapes: `https://${encodeURIComponent(host(0x4e00, Math.floor(size / 9)))}/`,
})

const READ: Readonly<Record<string, readonly [size: number, read: (text: string) => unknown]>> = {
  parseRedirectUri: [2000, (text) => parseRedirectUri(text, redirect)],
  redirectUriRule: [2000, (text) => redirectUriRule(text, redirect)],
  brokenRedirectRule: [2000, (text) => brokenRedirectRule(registered, text, redirect)],
  requestedAudience: [8000, (text) => requestedAudience(new Map([['resource', text]]), { audiences })],
  checkClientMetadata: [20_000, (text) => checkClientMetadata({ redirect_uris: [text] }, 'An application', rules)],
}

describe('a host outside ASCII', () => {
  it.each(Object.entries(READ))('costs about as much as a plain one: %s', async (_, [size, read]) => {
    const { plain, ideographs, escapes } = textsOf(size)
    // A tenth of a millisecond is free beside a request, however little the plain one costs.
    const most = 10 * (await shortestTimeOf(() => read(plain))) + 0.1
    for (const text of [ideographs, escapes]) expect(await shortestTimeOf(() => read(text))).toBeLessThan(most)
  })
})
