/**
 * Several servers over one memory store, each of whose reads and writes takes its time, by a seed.
 * @module
 */
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import type { Grant } from 'grantwell/core'
import { parseCredential } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import type { MemoryStore } from 'grantwell/storage/memory'
import { memoryStore } from 'grantwell/storage/memory'
import { expect } from 'vitest'
import { seededNumbers as randomOf } from '../../src/testing/seeded-entropy.js'
import type { TestServer } from '../support.js'
import { call, ISSUER, START, testServer } from '../support.js'

/** Numbers from 0 up to a bound, the same ones for the same seed. */
export type Random = ReturnType<typeof randomOf>

export { randomOf }

/** Waits a while that no clock measures: some microtasks, or some turns of the event loop. */
export async function someTurns(random: Random): Promise<void> {
  const turns = random(6)
  if (random(2) === 0) for (let turn = 0; turn < turns; turn++) await undefined
  else for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A store as it is over a network: what happens, happens at once, but some time after it was asked and before it is told. */
export function slowly(store: RecordStore, random: Random): RecordStore {
  const taking = async <Result>(happens: () => Result | Promise<Result>): Promise<Result> => {
    await someTurns(random)
    const result = await happens()
    await someTurns(random)
    return result
  }
  return {
    read: (keys) => taking(() => store.read(keys)),
    write: (key, value, options) => taking(() => store.write(key, value, options)),
    list: (label, page) => taking(() => store.list(label, page)),
  }
}

/** Servers over one store. */
export interface Farm {
  readonly clock: { now: number }
  readonly shared: MemoryStore
  readonly servers: readonly TestServer[]
  /** One of the servers. */
  readonly any: () => TestServer
  readonly random: Random
}

/** Makes servers over one store, with the applications of `testServer`. */
export async function farm(
  count: number,
  random: Random,
  options: Partial<AuthorizationServerOptions> = {},
  wrap: (store: RecordStore, server: number) => RecordStore = (store) => slowly(store, random),
): Promise<Farm> {
  const clock = { now: START }
  const shared = memoryStore({ clock: () => clock.now })
  // All races are of one user and one application.
  const common = { clock: () => clock.now, grantLimit: 1000, ...options }
  const first = await testServer({ ...common, store: shared })
  const servers = Array.from({ length: count }, (_, index): TestServer => {
    const server = createAuthorizationServer({
      issuer: ISSUER,
      user: () => first.session.user,
      signInUrl: () => '/sign-in',
      digests: nodeDigests,
      onEvent: (event) => first.events.push(event),
      onError: (error) => first.errors.push(error),
      ...common,
      store: wrap(shared, index),
    })
    return { ...first, server }
  })
  const any = (): TestServer => servers[random(count)] ?? first
  return { clock, shared, servers, any, random }
}

/** The stored grant that a credential is of. */
export async function grantOf(store: RecordStore, credential: string): Promise<Grant | undefined> {
  const [record] = await store.read([`grant:${parseCredential(credential)?.grantId}`])
  return record?.value as Grant | undefined // only transitions write such keys
}

/** On how many of the servers an access token works. */
export async function worksOn({ servers }: Farm, accessToken: string): Promise<number> {
  const found = await Promise.all(servers.map((server) => call(server, accessToken)))
  const refused = found.flatMap((each) => (each.type === 'refused' ? [each.error] : []))
  for (const error of refused) expect(error).toMatchObject({ code: 'invalid_token' })
  return found.filter((each) => each.type === 'authenticated').length
}

/** That a grant is whole: nothing in it is half-made. */
export function expectWhole(grant: Grant | undefined): void {
  const { code, pairs, revokedAt, retired } = grant ?? expect.fail('there is no grant')
  expect(pairs.length > 0).toBe(code.usedAt !== undefined && revokedAt === undefined)
  expect(revokedAt !== undefined && retired.length > 0).toBe(false)
  for (const [index, pair] of pairs.entries()) expect(pair.superseded !== undefined).toBe(index < pairs.length - 1)
}
