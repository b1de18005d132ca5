/**
 * Messages as plain values: the headers and the target of a platform's request, for each platform alike.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { headersOf, originForm, pathOf, queryOf } from '../../src/protocol/message.js'

describe('the headers of a request', () => {
  const headers = { host: 'git.example', authorization: 'Bearer a', 'content-type': 'text/plain' }

  it.each<[string, string[]]>([
    ['without repetitions', ['Host', 'git.example', 'Authorization', 'Bearer a', 'Content-Type', 'text/plain']],
    ['with others of the same length', ['Content-Type', 'text/plain', 'If-None-Match', 'b', 'X-Forwarded0', 'c']],
    ['with repeated ones that are lists', ['Cookie', 'a=1', 'Cookie', 'b=2', 'Accept', 'a', 'Accept', 'b']],
  ])('are those of Node %s', (_what, rawHeaders) => {
    expect(headersOf({ headers, rawHeaders })).toBe(headers)
  })

  it.each<[string, string[], object]>([
    [
      'Authorization headers',
      ['Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer b'],
      { authorization: ['Bearer a', 'Bearer b'] },
    ],
    [
      'Content-Type headers',
      ['content-type', 'text/plain', 'Authorization', 'Bearer a', 'Content-Type', 'text/html'],
      { 'content-type': ['text/plain', 'text/html'] },
    ],
    [
      'both',
      ['Content-Type', 'a', 'Authorization', 'b', 'Content-Type', 'c', 'Authorization', 'd', 'authorization', 'e'],
      { 'content-type': ['a', 'c'], authorization: ['b', 'd', 'e'] },
    ],
  ])('have a list of repeated %s, of which Node keeps the first alone', (_what, rawHeaders, repeated) => {
    expect(headersOf({ headers, rawHeaders })).toStrictEqual({ ...headers, ...repeated })
  })

  it('are those of the object where a platform has no raw ones', () => {
    expect(headersOf({ headers })).toBe(headers)
  })

  it('are those of a fetch request that has them', () => {
    const { authorization } = headers
    expect(headersOf(new Request('https://git.example', { headers: { authorization } }))).toStrictEqual({
      authorization,
    })
    expect(headersOf(new Request('https://git.example'))).toStrictEqual({})
  })
})

describe('the target of a request', () => {
  it.each([
    ['/oauth2/auth?a=b?c', '/oauth2/auth', 'a=b?c'],
    ['/oauth2/auth', '/oauth2/auth', ''],
    ['/oauth2/auth?', '/oauth2/auth', ''],
    ['?a=b', '', 'a=b'],
    ['', '', ''],
  ])('%j has a path and a query', (url, path, query) => {
    expect([pathOf(url), queryOf(url)]).toStrictEqual([path, query])
  })

  it.each([
    ['https://git.example/a?b', '/a?b'],
    ['https://git.example/a/', '/a/'],
    ['HTTP://git.example:8080?b', '?b'],
    ['/a?b=https://git.example/', '/a?b=https://git.example/'],
    ['//git.example/a/', '//git.example/a/'],
    ['ftp://git.example/a/', 'ftp://git.example/a/'],
  ])('%j is %j without scheme and authority', (target, expected) => {
    expect(originForm(target)).toBe(expected)
  })
})
