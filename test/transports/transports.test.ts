/**
 * The transports of these tests: what is written arrives, what is answered comes back, and nothing else.
 * @module
 */
import { IncomingMessage } from 'node:http'
import * as fc from 'fast-check'
import type { AuthorizationServer, HttpRequest, HttpResponse } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { canSend, requestOf, send, testServer } from '../support.js'
import { transport } from './index.js'

const OK: HttpResponse = { status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'ok' }

/** A server that keeps what it gets, and answers with one thing. */
async function recorder(answer = OK): Promise<{ server: AuthorizationServer; seen: HttpRequest[] }> {
  const seen: HttpRequest[] = []
  const { server } = await testServer({ bodyLimit: 1024 })
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    seen.push(request)
    return answer
  }
  return { server: { ...server, owns: () => true, handle }, seen }
}

/** What a server gets of a request. */
async function arrived(request: Partial<HttpRequest>): Promise<HttpRequest> {
  const { server, seen } = await recorder()
  await send(server, request)
  return seen[0] ?? expect.fail('did not arrive')
}

describe('a request', () => {
  it('arrives as it is written', async () => {
    const { server, seen } = await recorder()
    const character = fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code))
    const [inUrl, word] = [fc.string({ unit: character }), fc.string({ unit: character, minLength: 1 })]
    const value = fc.array(word, { maxLength: 3 }).map((words) => words.join(' '))
    // Beside others that no transport but one carries, some that each does.
    const url = fc.oneof(inUrl, inUrl.map(encodeURIComponent)).map((text) => `/a?${text}`)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST', 'PUT'), url, value, word, async (method, url, cookie, text) => {
        const body = method === 'POST' ? ({ type: 'text', text } as const) : undefined
        const request = {
          method,
          url,
          headers: { authorization: cookie, cookie, 'x-a': cookie, 'content-type': 'x/y' },
          body,
        }
        fc.pre(canSend(request))
        expect(await send(server, request)).toStrictEqual(OK)
        expect(seen.splice(0)).toMatchObject([request])
      }),
    )
  })

  it('brings the request of the platform along', async () => {
    const { native } = await arrived({ native: 7 })
    const given = { direct: 7, node: expect.any(IncomingMessage), fetch: expect.any(Request) }
    expect(native).toStrictEqual(given[transport.name])
  })

  it('has headers that the test did not name only where the platform needs them', async () => {
    const { headers } = await arrived({ method: 'POST', url: '/a', body: { type: 'text', text: 'a' } })
    const needed = { host: 'git.example', connection: 'keep-alive', 'content-length': '1' }
    expect(headers).toStrictEqual(transport.name === 'node' ? needed : {})
  })

  it('has two headers of a name as the platform has them', async () => {
    const { headers } = await arrived({ headers: { authorization: ['a', 'b'] } })
    expect(headers['authorization']).toStrictEqual(transport.name === 'fetch' ? 'a, b' : ['a', 'b'])
  })

  it('has a body up to the limit, none that is missing, and is too large over it', async () => {
    const text = 'a'.repeat(1024)
    for (const body of [{ type: 'text', text }, { type: 'text', text: '' }, { type: 'too_large' }, undefined] as const)
      expect((await arrived({ method: 'POST', url: '/a', body })).body).toStrictEqual(body)
    const fields = { a: ['b', 7] }
    const { body } = await arrived({ method: 'POST', url: '/a', body: { type: 'parsed', fields } })
    expect(body).toStrictEqual({ type: 'parsed', fields })
  })

  it('that is sent beside a hundred others is answered as itself', async () => {
    const { server } = await recorder()
    const echo = { ...server, handle: async ({ url }: HttpRequest) => ({ ...OK, body: url }) }
    const urls = Array.from({ length: 100 }, (_, index) => `/a?${index}`)
    const answers = await Promise.all(urls.map((url) => send(echo, { url })))
    expect(answers.map(({ body }) => body)).toStrictEqual(urls)
  })

  it.each<[string, Partial<HttpRequest>, readonly string[]]>([
    ['an ordinary one', { url: '/a?b=%20c', headers: { cookie: 'a=b; c=d' } }, ['node', 'fetch']],
    ['one with a body', { method: 'POST', body: { type: 'text', text: '\u{1f511}' } }, ['node', 'fetch']],
    ['a method of one’s own', { method: 'x' }, ['fetch']],
    ['a method in lower case', { method: 'post' }, []],
    ['a method that tunnels', { method: 'CONNECT' }, []],
    ['a method that traces', { method: 'TRACE' }, ['node']],
    ['no method', { method: '' }, []],
    ['a body with GET', { body: { type: 'text', text: 'a' } }, ['node']],
    ['a whole URL', { url: 'https://git.example/a' }, ['node', 'fetch']],
    ['no path', { url: 'a' }, []],
    ['a fragment', { url: '/a#b' }, ['node']],
    ['dots in a path', { url: '/a/../b' }, ['node']],
    ['a quote in a query', { url: "/a?'" }, ['node']],
    ['a space in a query', { url: '/a? ' }, []],
    ['é in a query', { url: '/a?\u{e9}' }, []],
    ['é in a header', { headers: { a: '\u{e9}' } }, ['node', 'fetch']],
    ['a character of no byte in a header', { headers: { a: '\u{1f511}' } }, []],
    ['a line end in a header', { headers: { a: 'b\n' } }, []],
    ['a space around a header', { headers: { a: ['b', 'c '] } }, []],
    ['a header without a name', { headers: { '': 'a' } }, []],
  ])('can be %s by some transports', (_what, request, by) => {
    expect(canSend(request)).toBe(transport.name === 'direct' || by.includes(transport.name))
  })
})

describe('an answer', () => {
  it('comes back as it is', async () => {
    for (const answer of [
      { status: 401, headers: { 'WWW-Authenticate': 'Basic realm="a", b=", "', 'X-Frame-Options': 'DENY' }, body: '' },
      { status: 302, headers: { Location: 'https://a.example/?a=b#c', 'Set-Cookie': 'a=b; Path=/' }, body: '' },
      { status: 200, headers: { 'Content-Type': 'text/html' }, body: '\ufeffé\u{1f511}'.repeat(10_000) },
    ]) {
      const { server } = await recorder(answer)
      expect(await send(server, {})).toStrictEqual(answer)
    }
  })

  it('is undefined for a path that is not the server’s own', async () => {
    const { server } = await testServer()
    expect(await transport.handle(server, requestOf({ url: '/elsewhere' }))).toBeUndefined()
    await expect(send(server, { url: '/elsewhere' })).rejects.toThrow('not a path of the server: /elsewhere')
  })

  it('is an error where none came', async () => {
    const { server } = await recorder()
    const failing = { ...server, handle: () => Promise.reject(new Error('of the test')) }
    await expect(send(failing, {})).rejects.toThrow()
  })
})
