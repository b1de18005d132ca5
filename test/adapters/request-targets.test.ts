/**
 * The request target that a signature covers, beside the path and the query that frameworks read from the same bytes.
 * @module
 * @see RFC 9112, section 3.2; RFC 3986, section 3.3
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import * as fc from 'fast-check'
import fastify from 'fastify'
import type { RequestLike } from 'grantwell'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { targetOf } from '../../src/protocol/mac.js'
import { listen, raw } from './http.js'

/** The signed part of a request, and the part that a framework read. */
interface Reading {
  readonly signed: string | undefined
  readonly path: string
  readonly query: string
}

const signedOf = (request: RequestLike): string | undefined => targetOf(request, true)?.requestUri

/** The two parts of a target, as they were sent. */
function split(target: string): readonly [string, string] {
  const [path = ''] = target.split('?', 1)
  return [path, target.slice(path.length + 1)]
}

/** A path without escapes of ASCII: frameworks take them away or leave them, and both are right. */
function decoded(path: string): string {
  return path.replace(/%[0-7][0-9a-f]/gi, (one) => String.fromCharCode(Number.parseInt(one.slice(1), 16)))
}

/** A query where the characters are escaped that some URL parsers escape, which changes nothing of what it says. */
function escaped(query: string): string {
  return query.replace(/[{}|^`']/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** A target, in either form, with a slash behind the mount point. Express tells a router the same path where there is none. */
const BEHIND_MOUNT = /^(?:https?:\/\/[^/?#]*)?\/mount\//i

const ports: Record<string, number> = {}
const closings: (() => unknown)[] = []

async function serve(name: string, listener: Parameters<typeof listen>[0]): Promise<void> {
  const { port, close } = await listen(listener)
  ports[name] = port
  closings.push(close)
}

beforeAll(async () => {
  await serve('the URL of node:url', (request, response) => {
    const { url = '' } = request
    if (!URL.canParse(url, 'http://git.example')) {
      response.writeHead(400).end()
      return
    }
    const { pathname, search } = new URL(url, 'http://git.example')
    response.end(JSON.stringify({ signed: signedOf(request), path: pathname, query: search.slice(1) }))
  })
  const app = express()
  app.set('query parser', (text: string | undefined) => ({ text: text ?? '' }))
  app.use('/mount', (request, response) => {
    const { baseUrl, path, query } = request
    const whole = path === '/' && !BEHIND_MOUNT.test(request.originalUrl) ? baseUrl : baseUrl + path
    response.json({ signed: signedOf(request), path: whole, query: query['text'] })
  })
  app.use((request, response) => {
    response.json({ signed: signedOf(request), path: request.path, query: request.query['text'] })
  })
  await serve('Express', app)
  const server = fastify({ routerOptions: { querystringParser: (text) => ({ text }) } })
  server.all('*', async (request) => {
    const { '*': path } = request.params as { readonly '*': string } // as the route has it
    const { text: query = '' } = request.query as { readonly text?: string } // as the parser above makes it
    return { signed: signedOf(request.raw), path, query }
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  ports['Fastify'] = (server.server.address() as AddressInfo).port // it listens on TCP
  closings.push(() => server.close())
  const hono = new Hono()
  hono.all('*', (context) => {
    const { url, path } = context.req
    const [, query = ''] = split(url)
    return context.json({ signed: signedOf(context.req.raw), path, query })
  })
  await serve('Hono', getRequestListener(hono.fetch))
})
afterAll(() => Promise.all(closings.map((close) => close())))

/** Sends a target as it is. Undefined where no framework gets to see the request, or answers it itself. */
async function readingOf(name: string, target: string, host = 'git.example'): Promise<Reading | undefined> {
  const text = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const answer = await raw(ports[name] ?? 0, text)
  if (!answer.startsWith('HTTP/1.1 200 ')) return undefined
  return JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? expect.fail(answer))
}

/** Checks whether the signed target is the one that is read. */
function expectAgreement(name: string, target: string, { signed = '', path, query }: Reading): void {
  const [signedPath, signedQuery] = split(signed)
  const expected = [name, target, decoded(signedPath), escaped(signedQuery)]
  expect([name, target, decoded(path), escaped(query)]).toEqual(expected)
}

const NAMES = ['the URL of node:url', 'Express', 'Fastify', 'Hono']

/** Targets that are signed, with what of them is. */
const ACCEPTED: readonly (readonly [string, string])[] = [
  ['/', '/'],
  ['/repos/1', '/repos/1'],
  ['/mount/1?a=b', '/mount/1?a=b'],
  ['/repos/1?', '/repos/1?'],
  ['/repos/1??x', '/repos/1??x'],
  ["/a-._~!$&'()*+,;=:@b/%41%ff%2F", "/a-._~!$&'()*+,;=:@b/%41%ff%2F"],
  ['/a//b/', '/a//b/'],
  ['/a/.b/..c/d.', '/a/.b/..c/d.'],
  ['/a?b=/../c&d=//e', '/a?b=/../c&d=//e'],
  // What every fetch sends as it is.
  ['/a[1]|b^?filter[a]={b}|^`', '/a[1]|b^?filter[a]={b}|^`'],
  ["/a?b='c'", "/a?b='c'"],
  ['/http://b/c', '/http://b/c'],
  ['http://git.example/repos/1?a', '/repos/1?a'],
  ['HTTPS://git.EXAMPLE/repos/1', '/repos/1'],
  ['http://git.example', '/'],
  ['http://git.example?a=b', '/?a=b'],
  // At a mount point of Express.
  ['/mount', '/mount'],
  ['/mount/', '/mount/'],
  ['/mount?a', '/mount?a'],
  ['/mount/?a', '/mount/?a'],
  ['http://git.example/mount', '/mount'],
  ['http://git.example/mount/', '/mount/'],
  ['http://git.example/mount?a', '/mount?a'],
  ['http://git.example/mount/?a', '/mount/?a'],
  ['HTTP://git.example/mount/', '/mount/'],
  ['http://git.example/mount/1?a', '/mount/1?a'],
]

/** Targets that RFC 9112, section 3.2, does not have, or that two readers read in two ways. */
const REFUSED: readonly string[] = [
  '',
  '*',
  '?a=b',
  'repos/1',
  'git.example:443',
  'git.example/repos/1',
  '#',
  '/repos/1#',
  '/repos/1#?admin=1',
  '/repos/1#admin=1',
  '/repos/1?a=1#&admin=1',
  'http://git.example/repos/1#?admin=1',
  'http://git.example/repos/1#admin=1',
  'http://git.example/repos/1?a=1#&admin=1',
  'http://git.example#/repos/1',
  'https://git.example/repos/1#fragment',
  '//evil.example/repos/1',
  '///repos/1',
  'http://git.example//evil.example/repos/1',
  '/\\evil.example/repos/1',
  '/repos\\1',
  '/repos/1?a\\b',
  'http:\\\\git.example\\repos\\1',
  '/repos/../1',
  '/repos/.',
  '/repos/..',
  '/./repos/1',
  '/repos/%2e%2E/1',
  '/repos/.%2e?a',
  'http://git.example/repos/../1',
  '/repos/1 2',
  ' /repos/1',
  '/repos/1 ',
  '/repos/1\t',
  '/re\npos/1',
  '/repos/1\r\n',
  '/repos/1?\n',
  '/repos/1\0',
  '/repos/1\x7f',
  '/repos/\xe9',
  '/repos/1?\xe9',
  '/repos/\u{1f600}',
  '/repos/\u212a',
  '/repos/%',
  '/repos/%4',
  '/repos/%zz',
  '/repos/1?%u0041',
  '/repos/"1"',
  '/repos/<1>',
  '/repos/{1}',
  '/repos/`1`',
  '/repos/1?"',
  '/repos/1?<>',
  'http:///repos/1',
  'http:/repos/1',
  'http:repos/1',
  'http://',
  'ftp://git.example/repos/1',
  'javascript://git.example/repos/1',
  'http://ada@git.example/repos/1',
  'http://ada:secret@git.example/repos/1',
  'http://evil.example/repos/1',
  'http://git.example:8443/repos/1',
  'http://git.example.evil.example/repos/1',
  'http://git.example\\@evil.example/repos/1',
  'http://git.example %2f/repos/1',
]

/** A request as Node has it, with a target in each place that a target may be in. */
const requestsWith = (target: string): readonly RequestLike[] => {
  const headers = { host: 'git.example' }
  return [
    { method: 'GET', headers, url: target },
    { method: 'GET', headers, url: '/elsewhere', originalUrl: target },
    { method: 'GET', headers: { ':authority': 'git.example' }, url: target },
  ]
}

describe('the request target that is signed', () => {
  it.each(ACCEPTED)('%j is signed as %j, and every framework reads that', async (target, signed) => {
    for (const request of requestsWith(target)) expect(signedOf(request)).toBe(signed)
    const answers = await Promise.all(NAMES.map(async (name) => ({ name, reading: await readingOf(name, target) })))
    const readings = answers.flatMap(({ name, reading }) => (reading === undefined ? [] : [{ name, reading }]))
    expect(readings.length).toBeGreaterThan(0)
    for (const { name, reading } of readings) expectAgreement(name, target, reading)
  })

  it.each(REFUSED)('%j is refused, wherever it stands', async (target) => {
    for (const request of requestsWith(target)) expect(signedOf(request)).toBeUndefined()
  })

  it.each(REFUSED.filter((target) => target.includes('#')))(
    '%j is refused in every framework: some hand on what stands behind the #',
    async (target) => {
      for (const name of NAMES) expect((await readingOf(name, target))?.signed).toBeUndefined()
    },
  )

  it('says the same to every framework, or is refused: whatever the target is', async () => {
    const piece = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('/', '?', '#', '//', '..', '.', '%2e', '%2F', '%3F', '%23', '%') },
      { weight: 3, arbitrary: fc.constantFrom('a', 'repos', '1', 'mount', '=', '&', ';', ':', '@', '+', "'", '!') },
      { weight: 2, arbitrary: fc.constantFrom('\\', '[', ']', '{', '}', '|', '^', '`', '"', '<', '>', '*', '$', ',') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('http://git.example', 'http://', 'git.example', '%zz', '%ff', '\t', '~'),
      },
    )
    const start = fc.constantFrom('/', '/', '/', '/mount/', '/repos/1', 'http://git.example', 'http://git.example/', '')
    const target = fc.tuple(start, fc.array(piece, { maxLength: 8 })).map(([first, rest]) => first + rest.join(''))
    let signed = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(target, async (each) => {
        const agreed: (readonly [name: string, reading: Reading])[] = []
        for (const name of NAMES) {
          const reading = await readingOf(name, each)
          if (reading?.signed !== undefined) agreed.push([name, reading])
          else if (reading !== undefined) refused++
        }
        signed += agreed.length
        for (const [name, reading] of agreed) expectAgreement(name, each, reading)
      }),
      { numRuns: 200, examples: [...ACCEPTED.map(([each]): [string] => [each])] },
    )
    expect(Math.min(signed, refused)).toBeGreaterThan(100)
  })

  it('is refused where there is none, or no method', () => {
    const headers = { host: 'git.example' }
    expect(signedOf({ headers, method: 'GET' })).toBeUndefined()
    expect(signedOf({ headers, url: '/' })).toBeUndefined()
    // Its only form is an authority (RFC 9112, section 3.2.3).
    expect(signedOf({ headers, url: '/', method: 'CONNECT' })).toBeUndefined()
    expect(signedOf({ headers, url: '/', method: 'OPTIONS' })).toBe('/')
  })

  it.each(['get', 'Get', 'patch', 'POSt', 'm\u00e4', '\u0131'])(
    'is refused with a method that is not in capitals, as it was signed: %s',
    (method) => {
      // HTTP/2 of Node and the fetch API hand such methods on, and handlers compare them letter by letter (RFC 9110, section 9.1).
      expect(signedOf({ headers: { host: 'git.example' }, url: '/', method })).toBeUndefined()
    },
  )
})

describe('the host that is signed', () => {
  const hostOf = (headers: RequestLike['headers'], url = '/'): string | undefined =>
    targetOf({ headers, url, method: 'GET' }, true)?.host

  it.each<[string, RequestLike['headers'], ...string[]]>([
    ['none', {}],
    ['none, of a fetch Request without an address', new Headers()],
    ['an empty one', { host: '' }],
    ['several', { host: ['git.example', 'evil.example'] }],
    [
      'several, as the fetch API joins them',
      new Headers([
        ['host', 'git.example'],
        ['host', 'evil.example'],
      ]),
    ],
    ['another one than that of HTTP/2', { host: 'git.example', ':authority': 'evil.example' }],
    ['another one than that of the target', { host: 'git.example' }, 'http://evil.example/'],
    ['another one of HTTP/2 than that of the target', { ':authority': 'git.example' }, 'http://evil.example/'],
    ['with a user', { host: 'ada@git.example' }],
    ['with a path', { host: 'git.example/' }],
    ['with a line end', { host: 'git.example\n' }],
    ['with a space', { host: 'git.example ' }],
    ['with a port that is none', { host: 'git.example:8o' }],
    ['with two ports', { host: 'git.example:80:80' }],
    ['with a bracket', { host: '[::1' }],
    ['that is not ASCII', { host: 'g\u{ef}t.example' }],
  ])('is refused: %s', (_, headers, ...[url]) => {
    expect(hostOf(headers, url)).toBeUndefined()
  })

  it('is one, in whatever case the target and HTTP/2 have it', () => {
    const headers = { host: 'git.example', ':authority': 'GIT.example' }
    expect(hostOf(headers, 'http://Git.Example/')).toBe('git.example')
    expect(hostOf({ ':authority': 'git.example' })).toBe('git.example')
    expect(hostOf({}, 'http://git.example/')).toBe('git.example')
    // The address of a fetch Request may be that of a server behind a proxy.
    expect(hostOf(new Headers({ host: 'git.example' }), 'http://10.0.0.1:3000/')).toBe('git.example')
    expect(hostOf(new Headers(), 'https://git.example/')).toBe('git.example')
  })
})

describe('two Host headers', () => {
  it('are refused in every framework, whichever of them it takes', async () => {
    for (const [index, name] of NAMES.entries()) {
      const port = ports[name] ?? expect.fail(name)
      for (const [first, second] of [
        ['git.example', 'evil.example'],
        ['evil.example', 'git.example'],
        ['git.example', 'git.example'],
      ]) {
        const text = `GET /repos/1 HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\nConnection: close\r\n\r\n`
        const answer = await raw(port, text)
        // A target that is refused is undefined, which JSON leaves out.
        expect([index, name, answer]).toEqual([index, name, expect.not.stringContaining('"signed":"')])
      }
    }
  })
})

describe('a fetch Request', () => {
  it('is refused with a fragment, which came over the wire: Hono on Node hands it on', async () => {
    const { port, close } = await new Promise<{ port: number; close: () => void }>((resolve) => {
      const app = new Hono()
      app.all('*', (context) => context.json({ url: context.req.raw.url, signed: signedOf(context.req.raw) ?? null }))
      const server = createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1', () =>
        resolve({ port: (server.address() as AddressInfo).port, close: () => server.close() }),
      )
    })
    try {
      const text = 'GET /repos/1?a=1#&admin=1 HTTP/1.1\r\nHost: git.example\r\nConnection: close\r\n\r\n'
      const answer = await raw(port, text)
      expect(answer).toContain('{"url":"http://git.example/repos/1?a=1#&admin=1","signed":null}')
    } finally {
      close()
    }
    const { method, headers, url } = new Request('https://git.example/repos/1#z')
    expect(signedOf({ method, headers, url })).toBeUndefined()
  })
})
