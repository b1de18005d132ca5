/**
 * The user's part in the flows of other people's clients: at the pages of the service, in a browser of a few lines.
 * @module
 */
import { expect } from 'vitest'
import { hiddenFields } from '../../support.js'
import type { Announcement } from '../start.js'
import { Browser, locationOf, signIn } from '../walk.js'

/** What a user can say to an application. */
export type Decision = 'agree' | 'refuse'

/** What the applications of these tests ask for. */
export const SCOPE = 'repo-code:r account-profile:r'

/** A scope that no service has. */
export const UNKNOWN_SCOPE = 'repo-everything:rw'

/** Where the applications are called back; on loopback any port does, and nobody listens: the answer is in the redirect. */
export const CALLBACK = 'http://127.0.0.1:51004/callback'

/** Opens the URL that a client made, signed in at the demo, and decides. Returns the URL that the user is sent to. */
export async function follow(demo: Announcement, url: string | URL, decision: Decision = 'agree'): Promise<URL> {
  const browser = new Browser()
  await signIn(browser, demo)
  return decide(browser, url, decision)
}

/** The same for a browser that is signed in already. A request that there is nothing to ask about is answered at once. */
export async function decide(browser: Browser, url: string | URL, decision: Decision = 'agree'): Promise<URL> {
  const page = await browser.get(url)
  if (page.status === 302) return locationOf(page)
  expect(page.status).toBe(200)
  const form = { resource_scope: 'all', ...hiddenFields(await page.text()), decision }
  const answer = await browser.post(new URL('/oauth2/auth', url), form)
  expect(answer.status).toBe(302)
  return locationOf(answer)
}

/** Types the code that a device shows into the page that it names, and decides. */
export async function connect(
  demo: Announcement,
  device: { readonly user_code: string; readonly verification_uri: string },
  decision: Decision = 'agree',
): Promise<void> {
  const browser = new Browser()
  await signIn(browser, demo)
  const { user_code, verification_uri } = device
  const entry = hiddenFields(await (await browser.get(verification_uri)).text())
  const consent = hiddenFields(await (await browser.post(verification_uri, { ...entry, user_code })).text())
  const answer = await browser.post(verification_uri, { resource_scope: 'all', ...consent, decision })
  expect(answer.status).toBe(200)
}

/** What a promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  )
}
