/**
 * A browser without a screen, for the tests of pages.
 * @module
 */
import { expect } from 'vitest'

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
