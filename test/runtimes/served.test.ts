/**
 * The fetch handler on the HTTP servers of Bun, Deno and workerd: what comes over a socket is no `new Request`.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Send } from '../adapters/http.js'
import { form, open, parsed, raw, sender, wire } from '../adapters/http.js'
import { consentForm, walk } from '../adapters/suite.js'
import { basic, ISSUER, WEB } from '../support.js'
import type { Bundle } from './bundle.js'
import { bundleSuite } from './bundle.js'
import { runtimes, whyNot } from './runtimes.mjs'
import type { Serving } from './serving.js'
import { startServing } from './serving.js'

const directory = mkdtempSync(join(tmpdir(), 'grantwell-served-'))
let bundle: Bundle

beforeAll(async () => {
  bundle = await bundleSuite(directory, runtimes.find(({ name }) => name === 'workerd')?.version ?? '')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const TOKEN = '/oauth2/token'
const TYPE = 'Content-Type: application/x-www-form-urlencoded'
const AUTHORIZATION = `Authorization: ${basic(WEB).authorization}`

for (const runtime of runtimes) {
  const { title, name, program } = runtime
  if (name === 'Node.js') continue
  const missing = whyNot(runtime)
  if (missing !== undefined) {
    describe.skip(`served by ${title}`, () => {
      it(`was not tried: ${missing}; node test/runtimes/install.mjs gets it, where the registry has it`, () => {})
    })
    continue
  }
  describe(`served by ${title}`, () => {
    let serving: Serving
    let send: Send

    beforeAll(async () => {
      serving = await startServing(program, name, bundle)
      send = sender(serving.port)
      expect((await send({ path: '/elsewhere' })).status).toBe(404)
    })
    afterAll(() => serving?.stop())

    const site = () => ({
      send,
      issuer: ISSUER,
      issuerPath: '',
      metadataPath: '/.well-known/oauth-authorization-server',
    })

    /** A code that nobody has used. */
    const codeOf = async (): Promise<string> => {
      const back = await send((await consentForm(site())).agree)
      return new URL(back.headers['location'] ?? '').searchParams.get('code') ?? ''
    }
    const exchanging = (code: string) => form(TOKEN, { grant_type: 'authorization_code', code }, basic(WEB))

    it('goes from the consent page to the revocation', async () => {
      await walk(site())
    })

    it('[51] whatever it is called by the Host header', async () => {
      const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'http' }
      const answers: string[] = []
      await walk({
        ...site(),
        send: async (ask) => {
          const answer = await send({ ...ask, headers: { ...ask.headers, ...headers } })
          answers.push(JSON.stringify(answer))
          return answer
        },
      })
      expect(answers.join()).not.toContain('evil')
    })

    it('[50] whatever stands in its Host header, or does not, and however its path is written', async () => {
      const hosts = ['a b', '[::1', 'x#', 'x?', 'x@y', 'x/y', 'x\\y', 'x:99999', 'x:80:80', '', '%', "'", 'a, b']
      const heads = [
        ...hosts.map((host) => `GET /oauth2/style.css HTTP/1.1\r\nHost: ${host}`),
        ...hosts.map((host) => `GET /api HTTP/1.1\r\nHost: ${host}`),
        'GET /oauth2/style.css HTTP/1.0',
        'GET /api HTTP/1.0',
        'GET http://a b/oauth2/style.css HTTP/1.1\r\nHost: a',
        'GET /x/../oauth2/style.css HTTP/1.1\r\nHost: a',
        'GET * HTTP/1.1\r\nHost: a',
      ]
      for (const head of heads) {
        const answer = await raw(serving.port, `${head}\r\nConnection: close\r\n\r\n`)
        expect([head, answer]).toEqual([head, expect.not.stringMatching(/^HTTP\/1\.[01] 50[0-4]/)]) // 505 is of Bun itself
      }
      expect(serving.output()).not.toContain('Error')
      expect((await send({ path: '/oauth2/style.css' })).status).toBe(200)
    })

    it('answers many at once', async () => {
      const codes: string[] = []
      for (let index = 0; index < 20; index++) codes.push(await codeOf())
      const answers = await Promise.all([...codes, ...codes].map((code) => send(exchanging(code))))
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array<number>(20).fill(200),
        ...Array<number>(20).fill(400),
      ])
    })

    it('[47] refuses a body over the limit by its Content-Length, or once it goes over, and answers the next', async () => {
      const announced = wire(`POST ${TOKEN}`, [TYPE, AUTHORIZATION, 'Content-Length: 65537'])
      const half = `${(32_769).toString(16)}\r\n${'a'.repeat(32_769)}\r\n`
      const endless = wire(`POST ${TOKEN}`, [TYPE, AUTHORIZATION, 'Transfer-Encoding: chunked']) + half + half
      // No more than what is read: a server that ends the connection on the rest may take its answer with it.
      for (const sent of [announced, endless]) {
        const { socket, until } = await open(serving.port)
        socket.write(sent, 'latin1')
        await until('HTTP/1.1 413 ')
        await until('{"error":"invalid_request"')
        socket.destroy()
      }
      expect((await send(exchanging(await codeOf()))).status).toBe(200)
    })

    it('[49] makes nothing of a request that is cut, and of one in pieces what it is', async () => {
      const code = await codeOf()
      const fields = new URLSearchParams({ grant_type: 'authorization_code', code, other: 'a'.repeat(200) }).toString()
      const whole = wire(`POST ${TOKEN}`, [TYPE, AUTHORIZATION], fields)
      const bodyAt = whole.length - fields.length
      for (const place of [bodyAt - 4, bodyAt, bodyAt + 1, bodyAt + 150, whole.length - 1]) {
        const { socket } = await open(serving.port)
        await new Promise<void>((resolve) => socket.write(whole.slice(0, place), () => resolve()))
        socket.destroy()
      }
      const { socket, received, ended } = await open(serving.port)
      for (let at = 0; at < whole.length; at += 40) {
        socket.write(whole.slice(at, at + 40), 'latin1')
        await new Promise((resolve) => setImmediate(resolve))
      }
      await ended
      socket.destroy()
      expect(parsed(received()).status).toBe(200)
    })
  })
}
