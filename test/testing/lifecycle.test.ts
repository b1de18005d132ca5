/**
 * `lifecycle`: green on every wiring of a sound server, red on a broken store, with a report that a person can read.
 * `lifecycle-mutations.slow.test.ts` has the broken servers.
 * @module
 */
import type { RequestListener } from 'node:http'
import type { RecordStore } from 'grantwell'
import { createFetchHandler } from 'grantwell/fetch'
import { createNodeHandler, sendResponse } from 'grantwell/node'
import type { MemoryStoreOptions } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import type { LifecycleTerms } from '../../src/testing/lifecycle.js'
import { lifecycle } from '../../src/testing/lifecycle.js'
import { virtualClock } from '../../src/testing/virtual-clock.js'
import type { LifecycleWiring, Wired } from '../../src/testing/wiring.js'
import { wire } from '../../src/testing/wiring.js'
import { listen } from '../adapters/http.js'
import { LOGO } from '../support.js'
import { BROKEN_SERVERS, SHORT } from './broken-servers.js'
import { faultOf, inMemory, quick, reportOf } from './wirings.js'

/** A server that listens, as a host wires it: requests by Node's own fetch, tokens validated at a route of the host. */
async function overHttp(): Promise<LifecycleWiring> {
  const clock = virtualClock()
  let answer: RequestListener = () => {}
  const { origin, close } = await listen((request, response) => answer(request, response))
  const wired = await wire({ store: memoryStore({ clock }), clock, issuer: origin, createServer: quick({}) })
  const { server } = wired
  const handler = createNodeHandler(server)
  answer = async (request, response) => {
    if (request.url !== '/api/whoami') return handler(request, response)
    const { 'x-audience': audience } = request.headers
    const found = await server.authenticate(request, typeof audience === 'string' ? { audience } : {})
    if (found.type === 'refused') sendResponse(response, found.response)
    else response.end(JSON.stringify({ scopes: found.scopes }))
  }
  return {
    ...wired,
    close,
    send: async ({ method, url, headers, body = null }) => {
      const response = await fetch(origin + url, { method, headers, body, redirect: 'manual' })
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
    },
    validate: async (accessToken, audience) => {
      const headers = {
        authorization: `Bearer ${accessToken}`,
        ...(audience !== undefined && { 'x-audience': audience }),
      }
      const response = await fetch(`${origin}/api/whoami`, { headers })
      const text = await response.text()
      return response.status === 401 ? undefined : { scopes: JSON.parse(text).scopes }
    },
  }
}

/** A server behind the fetch adapter. */
async function overFetch(): Promise<LifecycleWiring> {
  const wired = await inMemory()
  const { server } = wired
  const handler = createFetchHandler(server)
  return {
    ...wired,
    send: async ({ method, url, headers, body = null }) => {
      const response = await handler(new Request(server.issuer + url, { method, headers, body }))
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
    },
    validate: async (accessToken, audience) => {
      const headers = { authorization: `Bearer ${accessToken}` }
      const request = new Request(`${server.issuer}/api`, { headers })
      const found = await server.authenticate(request, audience === undefined ? {} : { audience })
      return found.type === 'authenticated' ? found : undefined
    },
  }
}

describe('a sound server', () => {
  it('in this process is the one of the model, in the two lines that a user writes', async () => {
    await lifecycle(() => {
      const clock = virtualClock()
      return wire({ store: memoryStore({ clock }), clock })
    })
  })

  it.each([
    ['terms that end within each other', SHORT],
    ['no grace period', { gracePeriod: 0 }],
    ['a replay that is only refused', { ...SHORT, refreshReplay: 'refuse' }],
  ] satisfies [string, Partial<LifecycleTerms>][])('with %s is the one of the model', async (_, terms) => {
    await lifecycle(() => inMemory(quick(terms)), { terms })
  })

  it('that demands PKCE of everybody is the one of the model', async () => {
    await lifecycle(() => inMemory(quick({ requirePkce: true })), { terms: { requirePkce: true }, numRuns: 10 })
  })

  it('that asks for consent once is the one of the model', async () => {
    await lifecycle(() => inMemory(quick({ consent: 'once' })), { numRuns: 10 })
  })

  it('over http of Node, asked by fetch, is the one of the model', async () => {
    await lifecycle(() => overHttp(), { numRuns: 8 })
  })

  it('over the fetch adapter is the one of the model', async () => {
    await lifecycle(() => overFetch(), { numRuns: 8 })
  })

  it('over one store for all runs is the one of the model', async () => {
    const clock = virtualClock()
    const store = memoryStore({ clock })
    await lifecycle(() => wire({ store, clock, createServer: quick({}) }), { numRuns: 10 })
  })

  it('with a public client is the one of the model', async () => {
    await lifecycle(
      async () => {
        const wired = await inMemory()
        const client = await publicClient(wired)
        return { ...wired, client }
      },
      { numRuns: 10 },
    )
  })
})

describe('a broken store is caught:', () => {
  it('one that compares nothing, by requests at once', async () => {
    const overwriting = (options: MemoryStoreOptions): RecordStore => {
      const store = memoryStore(options)
      const write: RecordStore['write'] = async (key, value, rest) => {
        for (;;) {
          const [record] = await store.read([key])
          if (await store.write(key, value, { ...rest, expected: record?.version ?? 0 })) return true
        }
      }
      return { ...store, write }
    }
    expect(await faultOf(() => inMemory(quick({}), overwriting), { seed: 1 })).toMatch(/times at once: expected/)
  })

  it('one that forgets too early', async () => {
    const forgetful = ({ clock = () => 0, ...options }: MemoryStoreOptions): RecordStore =>
      memoryStore({ ...options, clock: () => clock() + 1 })
    expect(await faultOf(() => inMemory(quick({}), forgetful), { seed: 1 })).toMatch(/a second before/)
  })

  it('one that fails, with what it threw', async () => {
    const failing = (options: MemoryStoreOptions): RecordStore => {
      const store = memoryStore(options)
      const write: RecordStore['write'] = (key, ...rest) => {
        if (key.startsWith('grant:')) throw new Error('disk full')
        return store.write(key, ...rest)
      }
      return { ...store, write }
    }
    expect(await faultOf(() => inMemory(quick({}), failing), { seed: 1 })).toMatch(/no code: 503[\s\S]*disk full/)
  })
})

describe('options that make no sense', () => {
  it.each<readonly [string, string, object]>([
    ['lifecycle', 'numRuns', { numRuns: 0 }],
    ['lifecycle', 'numRuns', { numRuns: -1 }],
    ['lifecycle', 'numRuns', { numRuns: 1.5 }],
    ['lifecycle', 'numRuns', { numRuns: '5' }],
    ['lifecycle', 'maxCommands', { maxCommands: 0 }],
    ['lifecycle', 'seed', { seed: 0.5 }],
    ['lifecycle', 'path', { seed: 1, path: 5 }],
    ['lifecycle', 'replayPath', { replayPath: ['A'] }],
    ['lifecycle', 'terms', { terms: null }],
    ['lifecycle', 'runs', { runs: 5 }],
    ['lifecycle', 'toString', { toString: 5 }],
    ['lifecycle, terms', 'graceperiod', { terms: { graceperiod: 60 } }],
    ['lifecycle, terms', 'gracePeriod', { terms: { gracePeriod: -1 } }],
    ['lifecycle, terms', 'codeLifetime', { terms: { codeLifetime: 0 } }],
    ['lifecycle, terms', 'accessTokenLifetime', { terms: { accessTokenLifetime: '1' } }],
    ['lifecycle, terms', 'refreshTokenLifetime', { terms: { refreshTokenLifetime: 0.5 } }],
    ['lifecycle, terms', 'refreshReplay', { terms: { refreshReplay: 'ignore' } }],
    ['lifecycle, terms', 'requirePkce', { terms: { requirePkce: 1 } }],
  ])('are refused by name, before any wiring is made: %s: %s of %o', async (of, name, options) => {
    let made = 0
    const run = lifecycle(() => {
      made++
      return inMemory()
    }, options)
    await expect(run).rejects.toMatchObject({
      code: 'ERR_CONFIGURATION',
      message: expect.stringMatching(`^grantwell: ${of}: (?:the|there is no) option ${name}\\b`),
    })
    expect(made).toBe(0)
  })

  it('are not those that are undefined, as they are by default', async () => {
    let made = 0
    const options = { numRuns: undefined, terms: { gracePeriod: undefined } } as object // for callers in JavaScript
    await lifecycle(() => {
      made++
      return inMemory()
    }, options)
    expect(made).toBe(100)
  })
})

describe('the report of a failure', () => {
  it('is the shortest history in words, and how to have it again', async () => {
    const [tooLong, , , twice] = BROKEN_SERVERS
    if (tooLong === undefined || twice === undefined) expect.fail('there are more')
    const report = await reportOf(twice, { seed: 4 })
    expect(report?.split('\n')).toStrictEqual([
      expect.stringMatching(
        /^the server is not the one of the model, in run \d+; the shortest history after \d+ shrinks is$/,
      ),
      '  1. authorize without PKCE, scope repo-code:rw account-profile:r: the code of grant 1',
      ...(historyIn(report).length === 3
        ? ['  2. exchange the code of grant 1: pair 1, expires in 28800 s, account-profile:r repo-code:rw']
        : []),
      expect.stringMatching(
        / {2}\d. exchange the code of grant 1( again|, \d times at once): expected .*invalid_grant.*; got pair/,
      ),
      expect.stringMatching(
        /^To have it again: lifecycle\(makeWiring, { seed: 4, path: "[\d:]+", replayPath: "[^"]+" }\)$/,
      ),
    ])
    const longer = await reportOf(tooLong, { seed: 4 })
    expect(longer).toContain('{ seed: 4, path: "')
    expect(historyIn(longer).length).toBeLessThan(8)
    expect(historyIn(longer).at(-1)).toMatch(/ 301 s|works with .*; expected that it is refused|expected invalid_grant/)
  })

  it('leads to the same history in one run', async () => {
    const [broken] = BROKEN_SERVERS
    if (broken === undefined) expect.fail('there are more')
    const first = await reportOf(broken, { seed: 4 })
    const [, path, replayPath] = /path: "([^"]+)", replayPath: "([^"]+)"/.exec(first ?? '') ?? []
    if (path === undefined || replayPath === undefined) expect.fail(first)
    const again = await reportOf(broken, { seed: 4, path, replayPath })
    expect(again).toContain('in run 1;')
    expect(historyIn(again)).toStrictEqual(historyIn(first))
  })
})

describe('the same seed', () => {
  it('gives the same run: every request, every answer, every token validated', async () => {
    const [first, second] = [await traceOf(7), await traceOf(7)]
    expect(first.length).toBeGreaterThan(200)
    expect(second).toStrictEqual(first)
    expect(await traceOf(8)).not.toStrictEqual(first)
  })
})

/** Everything that goes to and fro in a few runs. */
async function traceOf(seed: number): Promise<readonly unknown[]> {
  const trace: unknown[] = []
  const makeWiring = async (): Promise<LifecycleWiring> => {
    const wired = await inMemory()
    return {
      ...wired,
      send: async (request) => {
        const response = await wired.send(request)
        trace.push([wired.clock(), request, response])
        return response
      },
      validate: async (accessToken, audience) => {
        const found = await wired.validate(accessToken, audience)
        trace.push([wired.clock(), accessToken, found])
        return found
      },
    }
  }
  await lifecycle(makeWiring, { seed, numRuns: 8 })
  return trace
}

function historyIn(report: string | undefined): readonly string[] {
  return report?.match(/^ {2}\d+\. .*$/gm) ?? []
}

async function publicClient({ server, client }: Wired): Promise<LifecycleWiring['client']> {
  const { scopes } = client
  const redirectUri = 'http://127.0.0.1/callback'
  const { clientId } = await server.applications.register({
    name: 'Tool',
    logo: LOGO,
    website: 'https://tool.example',
    type: 'public',
    redirectUris: [redirectUri],
    scopes: scopes[0].split(' '),
    resourceScope: 'all',
  })
  return { clientId, redirectUri, scopes }
}
