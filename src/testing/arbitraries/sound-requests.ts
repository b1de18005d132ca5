/**
 * Requests to each endpoint that are sound, but for the credentials that they show.
 * @module
 */
import * as fc from 'fast-check'
import { ENDPOINT_PATHS, METADATA_PATH } from '../../protocol/endpoint-paths.js'
import type { HttpBody } from '../../protocol/message.js'
import { DEVICE_CODE_GRANT } from '../../protocol/token.js'
import { CHALLENGE, VERIFIER } from '../lifecycle/client.js'

/** Options of `arbitraries.request`. */
export interface RequestOptions {
  /** The clients that exist, first the owner of the credentials; one that does not exist is added. */
  readonly clients?: readonly {
    readonly clientId: string
    readonly clientSecret?: string
    readonly redirectUri: string
  }[]
  /** The codes and tokens that were handed out. */
  readonly credentials?: readonly string[]
}

export type Client = NonNullable<RequestOptions['clients']>[number]

/** A request before it is written down. */
export interface Draft {
  method: string
  path: string
  /** True if the parameters are in the query rather than in the body. */
  readonly inQuery: boolean
  parameters: [name: string, value: string][]
  headers: Record<string, string | readonly string[]>
  /** A text that is appended to the encoded parameters. */
  tail: string
  body?: HttpBody
}

export const FORM = 'application/x-www-form-urlencoded'

/** Makes an arbitrary of requests to the endpoints that are sound, but for the credential and the scope. */
export function sound(
  client: fc.Arbitrary<Client>,
  credential: fc.Arbitrary<string>,
  scopeText: fc.Arbitrary<string>,
): fc.Arbitrary<Draft> {
  const state = fc.string({ unit: 'grapheme', maxLength: 20 })
  const endpoint = fc.constantFrom<Endpoint[]>(
    'token',
    'token',
    'revocation',
    'authorization',
    'consent',
    'device_authorization',
    'device',
    'applications',
    'document',
  )
  return fc
    .record({
      endpoint,
      client,
      shown: credential,
      scope: fc.option(scopeText, { nil: undefined, freq: 2 }),
      state,
      nth: fc.nat(17),
    })
    .map(draftOf)
}

type Endpoint =
  | 'token'
  | 'revocation'
  | 'authorization'
  | 'consent'
  | 'device_authorization'
  | 'device'
  | 'applications'
  | 'document'

/** The parts that a sound request is made of. */
interface Parts {
  readonly endpoint: Endpoint
  readonly client: Client
  /** The credential that it shows. */
  readonly shown: string
  readonly scope: string | undefined
  readonly state: string
  /** A number that picks between variants. */
  readonly nth: number
}

const PAGE = { method: 'GET', inQuery: true, tail: '' } as const
const POSTED = { method: 'POST', inQuery: false, tail: '' } as const

function draftOf(parts: Parts): Draft {
  const { endpoint, shown, scope, nth } = parts
  const wanted: [string, string][] = scope === undefined ? [] : [['scope', scope]]
  switch (endpoint) {
    case 'token':
      return clientDraft(ENDPOINT_PATHS.token, parts, tokenParameters(shown, nth, wanted))
    case 'revocation':
      return clientDraft(ENDPOINT_PATHS.revocation, parts, [['token', shown]])
    case 'authorization':
      return { ...PAGE, headers: {}, path: ENDPOINT_PATHS.authorization, parameters: authorizationQuery(parts, wanted) }
    case 'consent':
      return consentDraft(new URLSearchParams(authorizationQuery(parts, wanted)).toString())
    case 'device_authorization':
      return clientDraft(ENDPOINT_PATHS.deviceAuthorization, parts, wanted)
    case 'device':
      return { ...PAGE, headers: {}, path: ENDPOINT_PATHS.device, parameters: [['user_code', 'BCDF-GHJK']] }
    case 'applications':
      return { ...PAGE, headers: {}, path: ENDPOINT_PATHS.applications, parameters: [] }
    case 'document': {
      const path = nth % 2 === 0 ? METADATA_PATH : ENDPOINT_PATHS.stylesheet
      return { ...PAGE, headers: {}, path, parameters: [] }
    }
  }
}

function authorizationQuery(
  { client: { clientId, redirectUri }, state }: Parts,
  wanted: readonly [string, string][],
): [string, string][] {
  return [
    ['response_type', 'code'],
    ['client_id', clientId],
    ['redirect_uri', redirectUri],
    ...wanted,
    ['state', state],
    ['code_challenge', CHALLENGE],
    ['code_challenge_method', 'S256'],
  ]
}

function consentDraft(request: string): Draft {
  return {
    ...POSTED,
    headers: { 'content-type': FORM },
    path: ENDPOINT_PATHS.authorization,
    parameters: [
      ['request', request],
      ['consent', 'x'],
      ['decision', 'agree'],
      ['resource_scope', 'all'],
    ],
  }
}

/** Makes a form of a client: authenticated with its secret, or identified where it has none. */
function clientDraft(path: string, { client }: Parts, parameters: [string, string][]): Draft {
  const { clientId, clientSecret } = client
  if (clientSecret === undefined) {
    const headers = { 'content-type': FORM }
    return { ...POSTED, headers, path, parameters: [['client_id', clientId], ...parameters] }
  }
  const headers = { 'content-type': FORM, authorization: basic(clientId, clientSecret) }
  return { ...POSTED, headers, path, parameters }
}

/** Returns the parameters of the credential's own kind, or now and then of another. */
function tokenParameters(shown: string, nth: number, wanted: readonly [string, string][]): [string, string][] {
  const kinds = ['gwc_', 'gwr_', 'gwd_']
  const kind = nth < 15 ? kinds.find((prefix) => shown.startsWith(prefix)) : kinds[nth - 15]
  switch (kind) {
    case 'gwc_':
      return [
        ['grant_type', 'authorization_code'],
        ['code', shown],
        ...(nth % 2 === 0 ? [] : [['code_verifier', VERIFIER] as [string, string]]),
      ]
    case 'gwd_':
      return [
        ['grant_type', DEVICE_CODE_GRANT],
        ['device_code', shown],
      ]
    default:
      return [['grant_type', 'refresh_token'], ['refresh_token', shown], ...wanted]
  }
}

/** Encodes credentials of any text for the header `Authorization`. */
export function basic(clientId: string, clientSecret: string): string {
  return `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`
}
