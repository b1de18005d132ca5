/**
 * The fetch of a client's metadata document over HTTPS: what it takes, what it refuses, and that it leaves nothing open.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, section 4
 */
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { FetchSettings } from '../../src/adapters/node/client-metadata.js'
import { createClientMetadataFetch } from '../../src/adapters/node/client-metadata.js'
import { describeWith, openssl } from '../engines/available.js'
import { eventually } from './http.js'
import type { Certificate, Counting } from './https.js'
import { HOST, listenHttps, listenSilently, selfSigned } from './https.js'

const DOCUMENT = '{"client_id":"https://client.example/app","client_name":"Möwe"}'
const JSON_HEADERS = { 'Content-Type': 'application/json' }

/** Milliseconds against hanging alone. */
const PATIENT = 100_000

/** Milliseconds for what comes too late. */
const HASTY = 300

let certificate: Certificate
let server: Counting
const signals: AbortSignal[] = []
const timers = { made: vi.spyOn(globalThis, 'setTimeout'), cleared: vi.spyOn(globalThis, 'clearTimeout') }

/** A fetch that takes loopback for the internet. */
function fetching(changes: Partial<FetchSettings> = {}) {
  return createClientMetadataFetch({
    resolve: async (_, signal) => {
      signals.push(signal)
      return ['127.0.0.1']
    },
    isAllowed: () => true,
    deadline: PATIENT,
    ca: certificate.cert,
    ...changes,
  })
}

/** Fetches a document of a server that answers by a listener. */
async function fetchFrom(listener: RequestListener, changes: Partial<FetchSettings> = {}) {
  server = await listenHttps(certificate, listener)
  return fetching(changes)(`https://${HOST}:${server.port}/app?a=b#c`)
}

/** Makes a listener that answers with fixed bytes. */
function answering(body: string | Uint8Array, headers: Readonly<Record<string, string>> = JSON_HEADERS, status = 200) {
  return (_: unknown, response: ServerResponse): void => void response.writeHead(status, headers).end(body)
}

/** Makes a listener that writes the bytes of a whole response itself. */
function writing(text: string, ends: boolean) {
  return (_: unknown, { socket }: ServerResponse): void => {
    socket?.write(text)
    if (ends) socket?.end()
  }
}

describeWith(describe, openssl, 'a fetch of a metadata document', () => {
  beforeAll(() => {
    certificate = selfSigned()
  })

  // Of every test: no connection, no timer and no query is left.
  afterEach(async () => {
    await eventually(() => server.open() === 0)
    await server.close()
    const made = timers.made.mock.calls.flatMap(([, delay], index) =>
      delay === PATIENT || delay === HASTY ? [timers.made.mock.results[index]?.value] : [],
    )
    expect(made.length).toBeGreaterThan(0)
    const cleared = timers.cleared.mock.calls.map(([timer]) => timer)
    expect(made.filter((timer) => !cleared.includes(timer))).toEqual([])
    expect(signals.filter(({ aborted }) => !aborted)).toEqual([])
    vi.unstubAllEnvs()
    vi.clearAllMocks()
    signals.length = 0
  })

  describe('takes', () => {
    it('a document as it came, with the time for which its headers let it be kept', async () => {
      const headers = { ...JSON_HEADERS, 'Cache-Control': 'max-age=600', Age: '100' }
      expect(await fetchFrom(answering(DOCUMENT, headers))).toEqual({ type: 'document', text: DOCUMENT, maxAge: 500 })
    })

    it('one without a time where the headers do not say it', async () => {
      expect(await fetchFrom(answering(DOCUMENT))).toEqual({ type: 'document', text: DOCUMENT })
    })

    it.each([
      'application/json;charset=utf-8',
      'Application/JSON ; x',
      'application/client+json',
      'application/a.b-c+d+json',
    ])('the media type %s', async (type) => {
      expect(await fetchFrom(answering('{}', { 'Content-Type': type }))).toEqual({ type: 'document', text: '{}' })
    })

    it.each(['identity', 'Identity', ''])('the content encoding "%s"', async (encoding) => {
      const headers = { ...JSON_HEADERS, 'Content-Encoding': encoding }
      expect(await fetchFrom(answering('{}', headers))).toMatchObject({ type: 'document' })
    })

    it('5,120 bytes, with and without a length', async () => {
      const text = '"'.padEnd(5119, 'é').slice(0, 2560).padEnd(2561, '"')
      const bytes = Buffer.from(text).subarray(0, 5120)
      expect(bytes).toHaveLength(5120)
      expect(await fetchFrom(answering(bytes))).toEqual({ type: 'document', text })
      await server.close()
      const inPieces: RequestListener = (_, response) => {
        response.writeHead(200, JSON_HEADERS).write(bytes.subarray(0, 2000))
        setImmediate(() => response.end(bytes.subarray(2000)))
      }
      expect(await fetchFrom(inPieces)).toEqual({ type: 'document', text })
    })

    it('a body that the end of the connection ends', async () => {
      const text = 'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}'
      expect(await fetchFrom(writing(text, true))).toEqual({ type: 'document', text: '{}' })
    })

    it('a document without its byte order mark', async () => {
      expect(await fetchFrom(answering('\uFEFF{}'))).toEqual({ type: 'document', text: '{}' })
    })
  })

  it('asks for JSON that is not compressed, on a connection of its own, and says nothing else', async () => {
    let asked: [string | undefined, string | undefined, IncomingHttpHeaders] | undefined
    await fetchFrom(({ method, url, headers }, response) => {
      asked = [method, url, headers]
      response.end()
    })
    const headers = { accept: 'application/json', 'accept-encoding': 'identity', connection: 'close' }
    expect(asked).toEqual(['GET', '/app?a=b', { ...headers, host: `${HOST}:${server.port}` }])
  })

  describe('refuses', () => {
    it.each([300, 301, 302, 303, 304, 307, 308])('[57] the redirect %d, which it does not follow', async (status) => {
      const headers = { ...JSON_HEADERS, Location: `https://${HOST}:${status}/` }
      expect(await fetchFrom(answering('', headers, status))).toEqual({ type: 'none', reason: 'redirect' })
      expect(server.connections()).toBe(1)
    })

    it.each([201, 204, 206, 400, 401, 404, 500, 503])('the status %d', async (status) => {
      expect(await fetchFrom(answering(DOCUMENT, JSON_HEADERS, status))).toEqual({ type: 'none', reason: 'status' })
    })

    it('a change of the protocol', async () => {
      const text = 'HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n'
      expect(await fetchFrom(writing(text, false))).toEqual({ type: 'none', reason: 'status' })
    })

    it.each([
      ...['text/html', 'text/json', 'application/jsonp', 'application/json5', 'application/+json', 'json', ''],
      ...['application/a,b+json', 'text/html; application/json', 'x/application/json', 'application/json, text/html'],
    ])('the media type "%s"', async (type) => {
      const answer = await fetchFrom(answering(DOCUMENT, { 'Content-Type': type }))
      expect(answer).toEqual({ type: 'none', reason: 'media_type' })
    })

    it('a document without a media type', async () => {
      expect(await fetchFrom(answering(DOCUMENT, {}))).toEqual({ type: 'none', reason: 'media_type' })
    })

    it('a compressed document', async () => {
      const headers = { ...JSON_HEADERS, 'Content-Encoding': 'gzip' }
      const answer = await fetchFrom(answering(gzipSync(DOCUMENT), headers))
      expect(answer).toEqual({ type: 'none', reason: 'media_type' })
    })

    it.each(['gzip', 'br', 'identity, gzip', 'x'])(
      'the content encoding "%s", even of a body that looks plain',
      async (encoding) => {
        const answer = await fetchFrom(answering(DOCUMENT, { ...JSON_HEADERS, 'Content-Encoding': encoding }))
        expect(answer).toEqual({ type: 'none', reason: 'media_type' })
      },
    )

    it('bytes that are not UTF-8', async () => {
      const answer = await fetchFrom(answering(Uint8Array.of(0x22, 0xc3, 0x22)))
      expect(answer).toEqual({ type: 'none', reason: 'media_type' })
    })

    it('[57] a length over 5,120 bytes before the first of them', async () => {
      const answer = await fetchFrom((_, response) => {
        response.writeHead(200, { ...JSON_HEADERS, 'Content-Length': '5121' }).flushHeaders()
      })
      expect(answer).toEqual({ type: 'none', reason: 'size' })
    })

    it('a body without a length as soon as it has 5,121 bytes', async () => {
      const answer = await fetchFrom((_, response) => {
        response.writeHead(200, JSON_HEADERS).write(Buffer.alloc(5121, ' ')) // and never ends
      })
      expect(answer).toEqual({ type: 'none', reason: 'size' })
    })

    it('a body without an end, whose connection it closes', async () => {
      const answer = await fetchFrom((_, response) => {
        response.writeHead(200, JSON_HEADERS)
        const write = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(1000, ' ')));
        }
        response.on('drain', write)
        write()
      })
      expect(answer).toEqual({ type: 'none', reason: 'size' })
    })

    it('headers without an end', async () => {
      const text = `HTTP/1.1 200 OK\r\n${`X: ${'x'.repeat(1000)}\r\n`.repeat(17)}`
      expect(await fetchFrom(writing(text, false))).toEqual({ type: 'none', reason: 'network' })
    })
  })

  describe('gives up', () => {
    it('a server that does not answer', async () => {
      expect(await fetchFrom(() => {}, { deadline: HASTY })).toEqual({ type: 'none', reason: 'time' })
    })

    it('a server that does not speak TLS', async () => {
      server = await listenSilently()
      const answer = await fetching({ deadline: HASTY })(`https://${HOST}:${server.port}/`)
      expect(answer).toEqual({ type: 'none', reason: 'time' })
    })

    it('headers that trickle', async () => {
      const answer = await fetchFrom(
        (_, { socket }) => {
          socket?.write('HTTP/1.1 200 OK\r\nX: ')
          const timer = setInterval(() => socket?.write('x'), 20)
          socket?.on('close', () => clearInterval(timer))
        },
        { deadline: HASTY },
      )
      expect(answer).toEqual({ type: 'none', reason: 'time' })
    })

    it('a body that trickles', async () => {
      const answer = await fetchFrom(
        (_, response) => {
          response.writeHead(200, JSON_HEADERS).flushHeaders()
          const timer = setInterval(() => response.write(' '), 20)
          response.on('close', () => clearInterval(timer))
        },
        { deadline: HASTY },
      )
      expect(answer).toEqual({ type: 'none', reason: 'time' })
    })

    it('preliminary responses without an end', async () => {
      const answer = await fetchFrom(
        (_, response) => {
          const timer = setInterval(() => response.writeProcessing(), 20)
          response.on('close', () => clearInterval(timer))
        },
        { deadline: HASTY },
      )
      expect(answer).toEqual({ type: 'none', reason: 'time' })
    })
  })

  describe('fails', () => {
    it.each([
      ['without an answer', ''],
      ['inside the headers', 'HTTP/1.1 200 OK\r\nContent-Ty'],
      ['inside the body', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{}'],
      [
        'inside a chunk',
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}',
      ],
      ['after what is no HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ])('where the connection ends %s', async (_, text) => {
      expect(await fetchFrom(writing(text, true))).toEqual({ type: 'none', reason: 'network' })
    })

    it('where nothing listens', async () => {
      server = await listenSilently()
      await server.close()
      const closed = server.port
      server = await listenSilently()
      expect(await fetching()(`https://${HOST}:${closed}/`)).toEqual({ type: 'none', reason: 'network' })
    })
  })
})
