/**
 * The table of grant types: a new one is one entry.
 * @module
 * @see RFC 6749, sections 4.5, 5.2 and 8.3; RFC 8414, section 2
 */
import type { HttpResponse } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { parseCredential } from '../../src/core/credentials/credential.js'
import { oauthError } from '../../src/core/errors.js'
import { serviceScopes } from '../../src/core/scopes/service-scopes.js'
import { tokenEndpoint } from '../../src/endpoints/token.js'
import { metadataResponse } from '../../src/protocol/metadata.js'
import { missing } from '../../src/protocol/parameters.js'

import { createGrantType, createGrantTypes, GRANT_TYPES } from '../../src/protocol/token.js'
import { createInternals } from '../../src/server.js'
import { resolveOptions } from '../../src/shell/options/settings.js'
import { INVALID_CLIENT, INVALID_GRANT, tokenError } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorize,
  basic,
  CHALLENGE,
  exchange,
  ISSUER,
  NATIVE,
  NATIVE_CALLBACK,
  OTHER,
  requestOf,
  testServer,
  tokens,
  VERIFIER,
  WEB,
} from '../support.js'

/** A grant type that no server has: a confidential client refreshes with a ticket, as long as its word is `please`. */
const TICKET = createGrantType({
  name: 'urn:example:ticket',
  parameters: ['ticket', 'word'],
  parse: ({ ticket, word }) => {
    if (ticket === undefined) return missing('ticket')
    if (word !== 'please') return oauthError('invalid_request', 'malformed_request', 'The word is wrong.')
    return { credential: parseCredential(ticket) }
  },
  registrationFault: ({ type }) =>
    type === 'public' ? oauthError('unauthorized_client', 'grant_type_not_registered', 'No tickets.') : undefined,
  command: (_, fields) => ({ type: 'refresh', ...fields }),
})

const WITH_TICKETS = createGrantTypes(...GRANT_TYPES.byName.values(), TICKET)

/** Sends a form to a token endpoint that takes tickets. */
function askForTokens(
  { store, clock }: TestServer,
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = basic(WEB),
): HttpResponse | Promise<HttpResponse> {
  const settings = resolveOptions({
    issuer: ISSUER,
    store,
    digests: nodeDigests,
    user: () => undefined,
    signInUrl: () => '/sign-in',
    clock: () => clock.now,
  })
  const endpoint = tokenEndpoint(createInternals(settings), WITH_TICKETS)
  const text = new URLSearchParams(form).toString()
  return endpoint(
    requestOf({
      method: 'POST',
      url: '/oauth2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: { type: 'text', text },
    }),
  )
}

describe('a grant type that is added to the table', () => {
  const grant_type = 'urn:example:ticket'

  it('gives tokens for its own credential, read from its own parameters', async () => {
    const test = await testServer()
    const { refresh_token: ticket } = await tokens(test)
    const response = await askForTokens(test, { grant_type, ticket, word: 'please' })
    expect(response.status).toBe(200)
    expect(JSON.parse(response.body).refresh_token).toMatch(/^gwr_/)
  })

  it('has its own parameters checked like all others', async () => {
    const test = await testServer()
    expect(await askForTokens(test, { grant_type })).toEqual(
      tokenError(400, 'invalid_request', 'The parameter ticket is missing.'),
    )
    expect(await askForTokens(test, { grant_type, ticket: 'a\0', word: 'please' })).toEqual(
      tokenError(400, 'invalid_request', 'The parameter ticket is not well-formed.'),
    )
  })

  it('tells what is wrong with its request only to a client that authenticated', async () => {
    const test = await testServer()
    const form = { grant_type, ticket: 'x', word: 'now' }
    expect(await askForTokens(test, form)).toEqual(tokenError(400, 'invalid_request', 'The word is wrong.'))
    expect(await askForTokens(test, form, basic({ ...WEB, clientSecret: 'wrong' }))).toEqual(INVALID_CLIENT)
  })

  it('refuses an application that is not registered for it, and the credential of another client', async () => {
    const test = await testServer()
    const { refresh_token: ticket } = await tokens(test)
    const sound = { grant_type, ticket, word: 'please' }
    expect(await askForTokens(test, sound, basic(OTHER))).toEqual(INVALID_GRANT)
    expect(await askForTokens(test, { ...sound, ticket: 'none' })).toEqual(INVALID_GRANT)
    const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
    const { code } = await authorize(test, { client_id: NATIVE.clientId, redirect_uri: NATIVE_CALLBACK, ...pkce })
    const { body } = await exchange(test, code, { redirect_uri: NATIVE_CALLBACK, code_verifier: VERIFIER }, NATIVE)
    const form = { grant_type, ticket: body.refresh_token, word: 'please', client_id: NATIVE.clientId }
    expect(await askForTokens(test, form, {})).toEqual(tokenError(400, 'unauthorized_client', 'No tickets.'))
  })

  it('leaves the others as they are', async () => {
    const test = await testServer()
    const { refresh_token } = await tokens(test)
    expect((await askForTokens(test, { grant_type: 'refresh_token', refresh_token })).status).toBe(200)
    expect(await askForTokens(test, { grant_type: 'urn:example:none' })).toEqual(
      tokenError(400, 'unsupported_grant_type', 'The grant_type is not supported.'),
    )
  })

  it('is in the metadata', () => {
    const rules = {
      catalogue: serviceScopes(),
      audiences: new Map(),
      allowPost: false,
      registration: false,
      clientDocuments: false,
    }
    const { grant_types_supported: supported } = JSON.parse(metadataResponse(ISSUER, rules, WITH_TICKETS).body)
    expect(supported).toEqual([...GRANT_TYPES.byName.keys(), 'urn:example:ticket'])
  })
})
