/**
 * Memory that strangers make a server hold: requests that are slow, cut, endless or pipelined, at every endpoint and guard, over
 * Node and over fetch, in a process of its own with a small heap. `bench/held.mjs` prints the same figures.
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import fc from 'fast-check'
import { createNodeHandler } from 'grantwell/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attacksOf, BODY_LIMIT, send, settled, startServer } from '../../bench/held/attacks.mjs'
import { append } from '../../src/adapters/body.js'
import { authorizationUrl, testServer } from '../support.js'
import { listen, open, wire } from './http.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const file = join(ROOT, `temp/held/${process.pid}.mjs`)

beforeAll(async () => {
  mkdirSync(join(ROOT, 'temp/held'), { recursive: true })
  const entryPoints = [join(ROOT, 'bench/held/server.mjs')]
  await build({ entryPoints, bundle: true, outfile: file, format: 'esm', platform: 'node', target: 'node20' })
})
afterAll(() => rmSync(file))

/** Bytes of heap and buffers that a connection may cost, on average over all endpoints; 0.5 of the limit is usual. */
const BOUND = 4 * BODY_LIMIT

/** The bound while the host is slow: Node keeps a response for each request that one read of a socket brought. */
const SLOW_BOUND = 12 * BODY_LIMIT

/** Megabytes: the pages that one connection asked for did not fit into four times as much. */
const HEAP = 128

const ATTACKS = attacksOf(8_000)

const CASES = [
  ...Object.entries(ATTACKS).map(([name, attack]) => [name, false, attack] as const),
  ...(['one-byte chunks, GET', 'pipelined', 'pipelined, smallest'] as const).map(
    (name) => [name, true, ATTACKS[name]] as const,
  ),
]

type Server = Awaited<ReturnType<typeof startServer>>

/** Bytes that a connection costs on average, with one connection to each endpoint. */
async function heldBy({ port, ask, endpoints }: Server, attack: (endpoint: Server['endpoints'][number]) => string) {
  const before = await settled(ask)
  const sockets = endpoints.map((endpoint) => send(port, attack(endpoint)))
  const after = await settled(ask)
  for (const socket of sockets) socket.destroy()
  while ((await ask()).connections > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  return (after.held - before.held) / endpoints.length
}

describe.each(['node', 'fetch'] as const)('[50] what a connection makes a server hold: %s', (platform) => {
  let server: Server
  beforeAll(async () => {
    server = await startServer(file, platform, [`--max-old-space-size=${HEAP}`])
    // What is made at the first use.
    for (const name of ['pipelined forms', 'pipelined'] as const) await heldBy(server, ATTACKS[name])
  })
  afterAll(() => server.end())

  it.each(CASES)(
    'is bounded by the body limit times a small number: %s, slow host: %s',
    async (_name, slow, attack) => {
      await server.ask({ slow })
      expect(await heldBy(server, attack)).toBeLessThan(slow ? SLOW_BOUND : BOUND)
      await server.ask({ slow: false })
    },
    300_000,
  )
})

describe('a body in pieces', () => {
  it('is the pieces one after the other, in at most twice their bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 20 }), fc.nat(5000), (pieces, more) => {
        const whole = Buffer.concat(pieces)
        const limit = whole.length + more
        let bytes: Uint8Array | undefined
        let length = 0
        for (const piece of pieces) {
          bytes = append(bytes, length, piece, limit)
          length += piece.length
          expect(bytes.length).toBeLessThanOrEqual(Math.max(2 * length, 1024, pieces[0]?.length ?? 0))
          expect(bytes.length).toBeLessThanOrEqual(limit)
        }
        expect(Buffer.from(bytes ?? []).subarray(0, length)).toEqual(whole)
      }),
    )
  })

  it('leaves the first piece as it is, which is the platform\u2019s', () => {
    const first = Uint8Array.of(1, 2)
    expect(append(append(undefined, 0, first, 9), 2, Uint8Array.of(3), 9).subarray(0, 3)).toEqual(
      Uint8Array.of(1, 2, 3),
    )
    expect(first).toEqual(Uint8Array.of(1, 2))
  })
})

describe('requests that are pipelined', () => {
  it('are begun one after the other, each when the answer before it is sent', async () => {
    let answer = (): void => {}
    let begun = 0
    const { server } = await testServer({
      user: () => {
        begun++
        return new Promise((resolve) => {
          answer = () => resolve({ subject: 'ada' })
        })
      },
    })
    const { port, close } = await listen(createNodeHandler(server))
    const { socket, until } = await open(port)
    const line = `GET ${authorizationUrl()}`
    socket.write(wire(line, [], '', 'keep-alive').repeat(20))
    for (let sent = 1; sent <= 20; sent++) {
      while (begun < sent) await new Promise((resolve) => setTimeout(resolve, 1))
      expect(begun).toBe(sent)
      answer()
      await until('HTTP/1.1 200', sent)
    }
    socket.destroy()
    await close()
  })

  it.each([
    ['too many', '', 200],
    ['too large heads', `X-Any: ${'a'.repeat(10_000)}`, 40],
  ])('are given up with their connection where there are %s, and others are answered', async (_what, header, count) => {
    let begun = 0
    const { server } = await testServer({
      user: () => {
        begun++
        return new Promise(() => {})
      },
    })
    const { port, close } = await listen(createNodeHandler(server))
    const { socket, ended, received } = await open(port)
    const headers = header === '' ? [] : [header]
    socket.write(wire(`GET ${authorizationUrl()}`, headers, '', 'keep-alive').repeat(count))
    await ended
    expect([received(), begun]).toEqual(['', 1])
    const other = await open(port)
    other.socket.write(wire('GET /oauth2/style.css'))
    await other.until('HTTP/1.1 200')
    other.socket.destroy()
    await close()
  })

  it('wait for an answer of the host\u2019s own, too, with their bodies', async () => {
    const { server } = await testServer()
    const handler = createNodeHandler(server)
    let respond = (): void => {}
    const { port, close } = await listen((request, response) => {
      if (request.url === '/own') respond = () => void response.end('own')
      else handler(request, response)
    })
    const { socket, until, received } = await open(port)
    const type = 'Content-Type: application/x-www-form-urlencoded'
    const post = wire('POST /oauth2/token', [type], 'client_id=native&grant_type=x', 'keep-alive')
    socket.write(wire('GET /own', [], '', 'keep-alive') + post + wire('GET /nowhere', [], '', 'keep-alive') + post)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(received()).toBe('')
    respond()
    await until('HTTP/1.1 ', 4)
    expect([...received().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '400',
      '404',
      '400',
    ])
    socket.destroy()
    await close()
  })
})
