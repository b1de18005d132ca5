/**
 * What the tests of the device flow share: the device's requests, and the two forms of the page that its user has.
 * @module
 */
import type { HttpResponse, RecordStore } from 'grantwell'
import { parseCredential } from 'grantwell/core'
import type { TestServer, Tokens } from '../support.js'
import { basic, hiddenFields, post, send, token, WEB } from '../support.js'

/** The `grant_type` of a poll (RFC 8628, section 3.4). */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export const DEVICE_PATH = '/oauth2/device'

type Client = { readonly clientId: string; readonly clientSecret?: string }

/** What a device is told of its codes. */
export interface Codes {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly expires_in: number
  readonly interval: number
}

/** A device authorization request, whatever comes of it. */
export function askForCodes(
  { server }: Pick<TestServer, 'server'>,
  form: Record<string, string> = {},
  client: Client = WEB,
): Promise<HttpResponse> {
  const { clientId, clientSecret } = client
  return clientSecret === undefined
    ? post(server, '/oauth2/device_authorization', { client_id: clientId, ...form })
    : post(server, '/oauth2/device_authorization', form, basic({ clientId, clientSecret }))
}

/** The codes of a device. */
export async function codesOf(
  test: Pick<TestServer, 'server'>,
  form: Record<string, string> = {},
  client: Client = WEB,
): Promise<Codes> {
  const { status, body } = await askForCodes(test, form, client)
  if (status !== 200) throw new Error(`no codes: ${body}`)
  return JSON.parse(body)
}

/** A poll: its status, and its JSON as tokens or error. */
export function poll(
  test: TestServer,
  codes: Pick<Codes, 'device_code'>,
  client: Client = WEB,
): Promise<{ status: number; body: Tokens & { error?: string; error_description?: string }; response: HttpResponse }> {
  return token(test, { grant_type: DEVICE_GRANT, device_code: codes.device_code }, client)
}

/** What a poll was told, in a word. */
export async function told(test: TestServer, codes: Pick<Codes, 'device_code'>, client: Client = WEB): Promise<string> {
  const { status, body } = await poll(test, codes, client)
  return status === 200 ? 'tokens' : `${body.error}`
}

/** A page, the fields of its form, and the headers of the browser that it is in. */
export interface Opened {
  readonly page: HttpResponse
  readonly fields: Record<string, string>
  readonly headers: { readonly cookie: string }
}

function opened(page: HttpResponse, cookie = ''): Opened {
  const own = page.headers['Set-Cookie']?.split(';')[0]
  return { page, fields: hiddenFields(page.body), headers: { cookie: own ?? cookie } }
}

/** Opens the page that asks for a code. */
export async function openDevicePage(
  { server }: Pick<TestServer, 'server'>,
  query = '',
  headers: Record<string, string> = {},
): Promise<Opened> {
  const page = await send(server, { url: `${DEVICE_PATH}${query === '' ? '' : `?${query}`}`, headers })
  return opened(page, headers['cookie'])
}

/** Sends the form of that page with a code, in a browser that has it open. */
export async function enter(
  { server }: Pick<TestServer, 'server'>,
  { fields, headers }: Opened,
  userCode: string,
  form: Record<string, string> = {},
  more: Record<string, string> = {},
): Promise<Opened> {
  const page = await post(server, DEVICE_PATH, { ...fields, user_code: userCode, ...form }, { ...headers, ...more })
  return opened(page, headers.cookie)
}

/** Opens the page and enters a code: the consent page, if the code is good. */
export async function enterCode(test: Pick<TestServer, 'server'>, userCode: string): Promise<Opened> {
  return enter(test, await openDevicePage(test), userCode)
}

/** Sends the consent form. */
export function decideOn(
  { server }: Pick<TestServer, 'server'>,
  { fields, headers }: Opened,
  decision: 'agree' | 'refuse' | string = 'agree',
  form: Record<string, string> = {},
  more: Record<string, string> = {},
): Promise<HttpResponse> {
  return post(server, DEVICE_PATH, { resource_scope: 'all', ...fields, decision, ...form }, { ...headers, ...more })
}

/** The user goes all the way: opens the page, enters the code, decides. */
export async function decide(
  test: Pick<TestServer, 'server'>,
  { user_code }: Pick<Codes, 'user_code'>,
  decision: 'agree' | 'refuse' = 'agree',
): Promise<HttpResponse> {
  const response = await decideOn(test, await enterCode(test, user_code), decision)
  if (response.status !== 200) throw new Error(`not decided: ${response.status} ${response.body}`)
  return response
}

/** The stored record that a device code names. */
export async function recordOf(store: RecordStore, { device_code }: Pick<Codes, 'device_code'>) {
  const [record] = await store.read([`grant:${parseCredential(device_code)?.grantId}`])
  return record?.value as Record<string, unknown> | undefined // an object, as all our records are
}
