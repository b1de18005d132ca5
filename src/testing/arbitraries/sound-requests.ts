/**
 * Requests to each endpoint as they should be, but for what they show.
 * @module
 */
import * as fc from 'fast-check'
import { ENDPOINT_PATHS, METADATA_PATH } from '../../protocol/endpoints.js'
import { DEVICE_CODE_GRANT } from '../../protocol/grant-types.js'
import type { HttpBody } from '../../protocol/message.js'
import { CHALLENGE, VERIFIER } from '../lifecycle/client.js'

/** What requests may know. */
export interface RequestOptions {
  /** Clients that there are, first the one whose credentials they are; one that there is not is added. */
  readonly clients?: readonly {
    readonly clientId: string
    readonly clientSecret?: string
    readonly redirectUri: string
  }[]
  /** Codes and tokens that were handed out. */
  readonly credentials?: readonly string[]
}

export type Client = NonNullable<RequestOptions['clients']>[number]

/** A request before it is written down. */
export interface Draft {
  method: string
  path: string
  /** Whether the parameters are in the query rather than in the body. */
  readonly inQuery: boolean
  parameters: [name: string, value: string][]
  headers: Record<string, string | readonly string[]>
  /** What is appended to the encoded parameters. */
  tail: string
  body?: HttpBody
}

export const FORM = 'application/x-www-form-urlencoded'

/** A request to one of the endpoints, as it should be but for what it shows. */
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

    .tuple(endpoint, client, credential, fc.option(scopeText, { nil: undefined, freq: 2 }), state, fc.nat(17))
    .map((asked) => draftOf(...asked))
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

function draftOf(
  endpoint: Endpoint,
  { clientId, clientSecret, redirectUri }: Client,
  shown: string,
  scope: string | undefined,
  stateText: string,
  nth: number,
): Draft {
  const wanted: [string, string][] = scope === undefined ? [] : [['scope', scope]]
  const query: [string, string][] = [
    ['response_type', 'code'],
    ['client_id', clientId],
    ['redirect_uri', redirectUri],
    ...wanted,
    ['state', stateText],
    ['code_challenge', CHALLENGE],
    ['code_challenge_method', 'S256'],
  ]
  const form = { method: 'POST', inQuery: false, tail: '', headers: { 'content-type': FORM } }
  const page = { method: 'GET', inQuery: true, tail: '', headers: {} }
  const authenticated =
    clientSecret === undefined
      ? form
      : { ...form, headers: { ...form.headers, authorization: basic(clientId, clientSecret) } }
  const identified: [string, string][] = clientSecret === undefined ? [['client_id', clientId]] : []
  switch (endpoint) {
    case 'token':
      return {
        ...authenticated,
        path: ENDPOINT_PATHS.token,
        parameters: [...identified, ...tokenParameters(shown, nth, wanted)],
      }
    case 'revocation':
      return { ...authenticated, path: ENDPOINT_PATHS.revocation, parameters: [...identified, ['token', shown]] }
    case 'authorization':
      return { ...page, path: ENDPOINT_PATHS.authorization, parameters: query }
    case 'consent': {
      const request = new URLSearchParams(query).toString()
      return {
        ...form,
        path: ENDPOINT_PATHS.authorization,
        parameters: [
          ['request', request],
          ['consent', 'x'],
          ['decision', 'agree'],
          ['resource_scope', 'all'],
        ],
      }
    }
    case 'device_authorization':
      return { ...authenticated, path: ENDPOINT_PATHS.deviceAuthorization, parameters: [...identified, ...wanted] }
    case 'device':
      return { ...page, path: ENDPOINT_PATHS.device, parameters: [['user_code', 'BCDF-GHJK']] }
    case 'applications':
      return { ...page, path: ENDPOINT_PATHS.applications, parameters: [] }
    case 'document':
      return { ...page, path: nth % 2 === 0 ? METADATA_PATH : ENDPOINT_PATHS.stylesheet, parameters: [] }
  }
}

/** The parameters of the credential's own kind, or now and then of another. */
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

/** As the bytes of UTF-8, whatever the text is. */
export function basic(clientId: string, clientSecret: string): string {
  return `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`)}`
}
