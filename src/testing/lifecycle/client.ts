/**
 * The client's side of the flow, over any sender of requests: the browser on the consent page, and the requests of the token
 * and revocation endpoints.
 * @module
 * @see Specification, section 4
 */
import { parseUrl } from '../../core/url.js'
import type { LifecycleClient, LifecycleResponse, LifecycleWiring } from '../wiring.js'

/** A verifier and its challenge (RFC 7636, appendix B). */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

const FORM = 'application/x-www-form-urlencoded'

/** The sender of a request: a client with its secret, or somebody who claims to be it and is not. */
export interface Sender {
  readonly client: LifecycleClient
  readonly authentic: boolean
}

/**
 * Gets a code: opens the consent page, reads its form and agrees.
 * @returns the code
 * @throws Error where no code comes of it
 */
export async function authorize(
  { send, client, browser = {} }: LifecycleWiring,
  asked: {
    readonly scope: string
    readonly audience: readonly string[]
    readonly challenged: boolean
    readonly state: string
  },
): Promise<string> {
  const { clientId, redirectUri } = client
  const { scope, audience, challenged, state } = asked
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state,
    ...(challenged && { code_challenge: CHALLENGE, code_challenge_method: 'S256' }),
  })
  for (const resource of audience) query.append('resource', resource)
  const url = `/oauth2/auth?${query}`
  const page = await send({ method: 'GET', url, headers: browser })
  // At once where the server remembers an earlier consent.
  if (page.status === 302) return codeOf(page, redirectUri, state)
  if (page.status !== 200) throw new Error(`no consent page: ${page.status} ${page.body}`)
  const { action, fields } = formOf(page.body)
  const cookie = [browser['cookie'], ...cookiesOf(page)].filter((each) => each !== undefined).join('; ')
  const agreed = await send({
    method: 'POST',
    url: action ?? url,
    headers: { ...browser, 'content-type': FORM, ...(cookie !== '' && { cookie }) },
    body: new URLSearchParams([...fields, ['decision', 'agree']]).toString(),
  })
  return codeOf(agreed, redirectUri, state)
}

/** Sends a form to the token or the revocation endpoint. */
export function post(
  { send }: LifecycleWiring,
  url: '/oauth2/token' | '/oauth2/revoke',
  form: Readonly<Record<string, string>>,
  { client, authentic }: Sender,
): Promise<LifecycleResponse> {
  const { clientId, clientSecret } = client
  const secret = authentic ? clientSecret : `${clientSecret ?? 'no-client-has-this-secret'}x`
  const identified = secret === undefined ? { client_id: clientId, ...form } : form
  return send({
    method: 'POST',
    url,
    headers: { 'content-type': FORM, ...(secret !== undefined && { authorization: basic(clientId, secret) }) },
    body: new URLSearchParams(identified).toString(),
  })
}

/** Returns the first value of a header, in any case of its name; undefined where it is absent. */
export function headerOf({ headers }: LifecycleResponse, name: string): string | undefined {
  return headersOf(headers, name)[0]
}

function headersOf(headers: LifecycleResponse['headers'], name: string): readonly string[] {
  return Object.entries(headers).flatMap(([each, value]) => (each.toLowerCase() === name ? (value ?? []) : []))
}

/** Encodes credentials for the header `Authorization` (RFC 6749, section 2.3.1). */
function basic(clientId: string, clientSecret: string): string {
  const [id, secret] = [clientId, clientSecret].map((part) => encodeURIComponent(part).replaceAll('%20', '+'))
  return `Basic ${btoa(`${id}:${secret}`)}`
}

function codeOf(response: LifecycleResponse, redirectUri: string, state: string): string {
  const location = headerOf(response, 'location') ?? ''
  const parameters = parseUrl(location)?.searchParams ?? new URLSearchParams()
  const code = parameters.get('code')
  if (
    response.status !== 302 ||
    !location.startsWith(redirectUri) ||
    code === null ||
    parameters.get('state') !== state
  )
    throw new Error(`no code: ${response.status} ${location}\n${response.body}`)
  return code
}

/** Returns the name and value of each cookie that is set; a list may have been joined with commas. */
function cookiesOf({ headers }: LifecycleResponse): readonly string[] {
  return (
    headersOf(headers, 'set-cookie')
      .flatMap((value) => value.split(','))
      .map((part) => part.split(';', 1).join('').trim())
      // The rest is the second half of a date.
      .filter((part) => part.includes('='))
  )
}

/** Returns the fields that a browser sends of a page's form: the hidden ones, and the chosen one of each group. */
function formOf(html: string): { readonly action: string | undefined; readonly fields: readonly [string, string][] } {
  const form = /<form\b[^<>]*>/i.exec(html)?.[0] ?? ''
  const fields = new Map<string, string>()
  for (const [tag] of html.matchAll(/<input\b[^<>]*>/gi)) {
    const name = attributeOf(tag, 'name')
    const type = attributeOf(tag, 'type')?.toLowerCase()
    const chosen = type === 'hidden' || (type === 'radio' && (/\schecked\b/i.test(tag) || !fields.has(name ?? '')))
    if (name !== undefined && chosen) fields.set(name, attributeOf(tag, 'value') ?? '')
  }
  return { action: attributeOf(form, 'action'), fields: [...fields] }
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
])

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`, 'i').exec(tag)?.[1]
  return value?.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES.get(entity) ?? entity)
}
