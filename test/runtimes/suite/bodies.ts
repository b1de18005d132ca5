/**
 * Bodies as streams: in any pieces, too large, cut off, taken, locked or not there.
 * @module
 */
import fc from 'fast-check'
import { createFetchHandler } from 'grantwell/fetch'
import type { Case, Suite } from './case.js'
import { SEED, same } from './case.js'
import type { Ask, Site } from './site.js'
import { basic, makeSite, pairOf, requestOf, tokenRequest, WEB } from './site.js'

const TOKEN = '/oauth2/token'
const HEADERS = { 'content-type': 'application/x-www-form-urlencoded', ...basic(WEB) }

/** A body that is asked for piece by piece. */
function streamOf(
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
  cancel: () => void = () => {},
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 })
}

/** A body of these pieces. */
function inPieces(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return streamOf((controller) => {
    const piece = left.shift()
    if (piece === undefined) controller.close()
    else controller.enqueue(piece)
  })
}

function posted(body: Ask['body'], headers: Readonly<Record<string, string>> = HEADERS): Request {
  return requestOf({ method: 'POST', path: TOKEN, headers, ...(body !== undefined && { body }) })
}

/** Sends a request that is there already: status and description of the error. */
async function told({ server }: Site, request: Request): Promise<readonly unknown[]> {
  const response = await createFetchHandler(server)(request)
  const text = await response.text()
  return [response.status, JSON.parse(text).error_description]
}

const TOO_LARGE = [413, 'The body is too large.']
const MISSING = [400, 'The body is missing.']

const cases: readonly Case[] = [
  {
    name: 'are read the same in whatever pieces they come',
    run: async () => {
      const site = await makeSite()
      const { refresh_token } = await pairOf(site)
      const sound = tokenRequest({ grant_type: 'refresh_token', refresh_token })
      const whole = await site.send(sound)
      same(whole.status, 200, 'a body in one piece')
      const bytes = new TextEncoder().encode(String(sound.body))
      const places = fc.array(fc.nat(bytes.length), { maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(places, async (some) => {
          const ends = [...some.sort((a, b) => a - b), bytes.length]
          // Where two places are one, a piece is empty.
          const pieces = ends.map((end, index) => bytes.slice(ends[index - 1] ?? 0, end))
          const { status, body } = await site.send({ ...sound, body: inPieces(pieces) })
          same([status, body], [200, whole.body], 'a body in pieces')
        }),
        { seed: SEED, numRuns: 50 },
      )
      const one = Array.from(bytes, (byte) => Uint8Array.of(byte))
      same((await site.send({ ...sound, body: inPieces(one) })).body, whole.body, 'a body byte by byte')
    },
  },
  {
    name: 'that are cut inside a character, or begin with a mark of their order, are what they are',
    run: async () => {
      const site = await makeSite()
      const bytes = new TextEncoder().encode('grant_type=ü')
      const cut = inPieces(Array.from(bytes, (byte) => Uint8Array.of(byte)))
      same((await told(site, posted(cut)))[0], 400, 'cut inside a character')
      const whole = await told(site, posted('grant_type=ü'))
      const again = await told(site, posted(inPieces(Array.from(bytes, (byte) => Uint8Array.of(byte)))))
      same(again, whole, 'cut, as it is whole')
      const marked = posted('\ufeffgrant_type=refresh_token&refresh_token=a')
      same(await told(site, marked), [400, 'A parameter name is not well-formed.'], 'marked')
    },
  },
  {
    name: 'over the limit are refused to the byte, and read no further',
    run: async () => {
      const site = await makeSite()
      const { refresh_token } = await pairOf(site)
      const start = `${tokenRequest({ grant_type: 'refresh_token', refresh_token }).body}&a=`
      const filled = (length: number): Uint8Array => new TextEncoder().encode(start.padEnd(length, 'a'))
      const halves = (bytes: Uint8Array) => inPieces([bytes.slice(0, 40_000), bytes.slice(40_000)])
      same((await told(site, posted(halves(filled(65_536)))))[0], 200, 'at the limit')
      same(await told(site, posted(halves(filled(65_537)))), TOO_LARGE, 'one byte over it')

      const seen = { pulled: 0, cancelled: false }
      const endless = streamOf(
        (controller) => {
          seen.pulled++
          controller.enqueue(new Uint8Array(10_000).fill(97))
        },
        () => {
          seen.cancelled = true
        },
      )
      same(await told(site, posted(endless)), TOO_LARGE, 'without an end')
      same(seen, { pulled: 7, cancelled: true }, 'what was taken of it')
      const announced = posted('a=b', { ...HEADERS, 'content-length': '65537' })
      same(await told(site, announced), TOO_LARGE, 'by its Content-Length')
      same(announced.bodyUsed, false, 'that one was touched')
    },
  },
  {
    name: 'that break off, were taken, are locked or are not there are missing, and the next one is answered',
    run: async () => {
      const site = await makeSite()
      const { refresh_token } = await pairOf(site)
      let parts = 0
      const cut = streamOf((controller) => {
        if (parts++ < 2) controller.enqueue(new TextEncoder().encode('grant_type='))
        else controller.error(new Error('the connection was reset'))
      })
      same(await told(site, posted(cut)), MISSING, 'broken off')
      const taken = posted('grant_type=refresh_token')
      await taken.arrayBuffer()
      same(await told(site, taken), MISSING, 'taken')
      const locked = posted('grant_type=refresh_token')
      locked.body?.getReader()
      same(await told(site, locked), MISSING, 'locked')
      same((await told(site, posted(undefined)))[0], 400, 'not there')
      same(site.errors, [], 'the errors of the server')
      same((await site.send(tokenRequest({ grant_type: 'refresh_token', refresh_token }))).status, 200, 'the next one')
    },
  },
  {
    name: 'of other paths and methods are not touched',
    run: async () => {
      const { server } = await makeSite()
      const handler = createFetchHandler(server)
      const elsewhere = requestOf({ method: 'POST', path: '/elsewhere', body: 'a=b' })
      same((await handler(elsewhere)).status, 404, 'another path')
      same(elsewhere.bodyUsed, false, 'its body was touched')
      const put = requestOf({ method: 'PUT', path: TOKEN, body: 'a=b' })
      same((await handler(put)).status, 405, 'another method')
      same(put.bodyUsed, false, 'its body was touched')
    },
  },
]

export const bodies: Suite = { title: 'bodies', cases: () => cases }
