/**
 * A browser without a screen, and the application that it meets, for the tests of pages.
 * @module
 */
import type { Registration } from 'grantwell'
import { expect } from 'vitest'

/** A logo of one pixel. */
export const LOGO = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

/** The application of all tests. Its description is markup, which no page may show as such. */
export const MIRROR: Registration = {
  name: 'Issue Mirror',
  logo: LOGO,
  description: 'Says <i>hello</i>',
  website: 'https://mirror.example',
  type: 'confidential',
  redirectUris: ['https://mirror.example/callback'],
  scopes: ['repo-code:rw', 'account-profile:r'],
  resourceScope: 'all',
  deviceFlow: true,
}

/** Its client identifier and secret. */
export const MIRROR_CLIENT = { clientId: 'mirror', clientSecret: 'a-secret-of-the-mirror-application' }

/** Asks for the code of a device of that application. */
export async function userCodeFrom(handle: (request: Request) => Promise<Response>): Promise<string> {
  const { clientId, clientSecret } = MIRROR_CLIENT
  const body = new URLSearchParams({ client_id: clientId, client_secret: clientSecret })
  const request = new Request('https://git.example/oauth2/device_authorization', { method: 'POST', body })
  const { user_code }: { readonly user_code: string } = JSON.parse(await (await handle(request)).text())
  return user_code
}

/** Makes a browser with a language and one cookie, which reads the forms of the pages that it gets. */
export function browser(handle: (request: Request) => Promise<Response>, first = 'en') {
  let language = first
  let cookie = ''
  let page = ''
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { 'accept-language': language, cookie }
    const answer = await handle(new Request(`https://git.example${path}`, { ...init, headers }))
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie
    page = await answer.text()
    return { answer, page }
  }
  return {
    open: (path: string) => send(path),
    /** Speaks another language from now on. */
    speak: (other: string) => {
      language = other
    },
    post: (path: string, fields: readonly (readonly [string, string])[]) =>
      send(path, {
        method: 'POST',
        body: new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])),
      }),
    /** Sends the form of the page that is open. */
    submit: (chosen: readonly (readonly [string, string])[] = []) => {
      const action = /<form method="post" action="([^"]+)"/.exec(page)?.[1] ?? expect.fail(`no form: ${page}`)
      const fields = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
        ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')] as const,
      )
      return send(action, {
        method: 'POST',
        body: new URLSearchParams([...fields, ...chosen].map(([name, value]): [string, string] => [name, value])),
      })
    },
  }
}
