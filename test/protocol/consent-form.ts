/**
 * What the tests of the consent page share: its form, what it shows, and what a refusal is.
 * @module
 */
import type { AuthorizationServerOptions, HttpResponse, JsonValue } from 'grantwell'
import { portableDigests } from 'grantwell'
import { clientKeyOf, parseClientId } from 'grantwell/core'
import type { ConsentPageModel } from 'grantwell/pages'
import { expect } from 'vitest'
import { CONSENT_REFUSED, grantsOf, withoutWayBack } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import { CHALLENGE, ISSUER, post, START } from '../support.js'

export const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }
/** What a user can specify. */
export const ITEMS = [{ id: 'repo/1', name: 'First' }, { id: 'repo/2' }, { id: '<b>"3"</b>', name: '<i>' }]
export const withItems: Partial<AuthorizationServerOptions> = { resources: () => ITEMS }

/** What a server needs besides a store; nobody is signed in. */
export const HOST = { issuer: ISSUER, clock: () => START, signInUrl: () => '/sign-in', user: () => undefined }

export type Form = Record<string, string>

/** Sends the form of a consent page. */
export function submit({ server }: TestServer, form: Form | [string, string][], headers: Form): Promise<HttpResponse> {
  return post(server, '/oauth2/auth', form, headers)
}

/** A form is refused, and nothing came of it. */
export async function expectRefused(test: TestServer, response: HttpResponse, subject = 'ada'): Promise<void> {
  expect(withoutWayBack(response)).toStrictEqual(withoutWayBack(CONSENT_REFUSED))
  expect(await grantsOf(test.store, subject)).toStrictEqual([])
  expect(test.events.at(-1)).toStrictEqual({
    type: 'refused',
    at: test.clock.now,
    endpoint: 'authorization',
    error: 'invalid_request',
    reason: 'consent_invalid',
  })
}

/** The address of an application's logo, as a page has it: its name is random. */
export function logoIn(html: string, clientId = '\\w+'): string {
  const found = new RegExp(`/oauth2/logo\\?client_id=${clientId}&amp;logo=[\\w-]{22}(?=")`).exec(html)?.[0]
  return found?.replace('&amp;', '&') ?? expect.fail(`no logo of ${clientId} in ${html}`)
}

/** What the page of a plain request of `web` shows; its logo is the one in the page. */
export function model(
  form: Form,
  html: string,
  changes: Partial<Extract<ConsentPageModel, { readonly redirectHost: string }>> = {},
): ConsentPageModel {
  return {
    application: {
      name: 'Sample',
      description: 'An application',
      website: 'https://app.example',
      logo: logoIn(html),
      checkedAt: START,
    },
    user: { name: 'Ada' },
    redirectHost: 'app.example',
    scopes: [
      { scope: 'repo-code:rw', permission: 'rw', description: 'Repository code through Git commands' },
      { scope: 'account-profile:r', permission: 'r', description: 'User profile' },
    ],
    resources: { choices: ['all', 'public'], selected: 'all', items: [] },
    form: {
      action: '/oauth2/auth',
      fields: [
        { name: 'request', value: form['request'] ?? '' },
        { name: 'consent', value: form['consent'] ?? '' },
      ],
    },
    stylesheet: '/oauth2/style.css',
    ...changes,
  }
}

/** Changes the record of an application, as an administrator's tool would. */
export async function changeApplication(
  { store }: TestServer,
  changes: Record<string, JsonValue>,
  clientId = 'web',
): Promise<void> {
  const key = `application:${clientKeyOf(portableDigests, parseClientId(clientId) ?? expect.fail())}`
  const [record] = await store.read([key])
  const value = { ...(record?.value as Record<string, JsonValue>), ...changes } // an application is an object
  expect(await store.write(key, value, { expected: record?.version ?? 0 })).toBe(true)
}
