/**
 * Erasure: a user and an application leave nothing in the store that says who they were. What stays refuses what comes back.
 * @module
 */
import type { JsonValue, RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { authorize, exchange, openConsent, post, refresh, START, testServer, tokens, works } from '../support.js'
import type { Life } from './erasure.js'
import { ADA, CAROL, ERASED, eraseBoth, GRACE, live, NOTES } from './erasure.js'

/** A store in memory that says what is in it: every record that was ever written, with its key and labels, as it is now. */
function openStore() {
  const store = memoryStore({ clock: () => START })
  const labelsOf = new Map<string, readonly string[]>()
  const observed: RecordStore = {
    ...store,
    write: async (key, value, options) => {
      const isWritten = await store.write(key, value, options)
      if (isWritten) labelsOf.set(key, options.labels ?? [])
      return isWritten
    },
  }
  const dump = async (): Promise<string> => {
    const records: [string, JsonValue, readonly string[]][] = []
    for (const [key, labels] of labelsOf) {
      const [record] = await store.read([key])
      if (record !== undefined) records.push([key, record.value, labels])
    }
    return JSON.stringify(records)
  }
  return { store: observed, dump }
}

async function lived(): Promise<{ life: Life; dump: () => Promise<string> }> {
  const { store, dump } = openStore()
  return { life: await live({ store }), dump }
}

describe('erasure', () => {
  it('leaves no subject, applicant, resource, name or address in any record, key or label, and the others as they were', async () => {
    const { life, dump } = await lived()
    const before = await dump()
    for (const text of ERASED) expect(before).toContain(text)
    expect(await eraseBoth(life)).toBe(2) // the exchanged grant, and the code that was not used; the rest ended with the application
    const after = await dump()
    for (const text of ERASED) expect(after).not.toContain(text)
    expect(after).toContain(GRACE)
    expect(await works(life.test, life.grace.access_token)).toBe(true)
    expect((await refresh(life.test, life.grace.refresh_token)).status).toBe(200)
  })

  it('of a user alone leaves the application, and of an application alone no user who permitted it', async () => {
    const first = await lived()
    await first.life.test.server.grants.erase(ADA)
    expect(await first.dump()).toContain(CAROL)
    expect(await first.dump()).not.toContain(ADA)
    const second = await lived()
    const { server } = second.life.test
    await server.applications.erase(second.life.erasedApplication)
    const left = await second.dump()
    for (const text of [CAROL, NOTES]) expect(left).not.toContain(text)
    expect(await server.applications.get(second.life.erasedApplication)).toBeUndefined()
    expect(await server.grants.countGrants(second.life.erasedApplication)).toStrictEqual({ grants: 0, users: 0 })
    // An interrupted call is repeated, and one for an application that was deleted before ends the rest.
    await server.applications.erase(second.life.erasedApplication)
  })

  it('reaches a grant that a newer one replaced, which no list finds', async () => {
    const { store, dump } = openStore()
    const test = await testServer({ store, grantLimit: 1 })
    test.session.user = { subject: ADA }
    await tokens(test)
    await tokens(test)
    expect(JSON.parse(await dump()).filter(([key]: [string]) => key.startsWith('grant:'))).toHaveLength(2)
    await test.server.grants.erase(ADA)
    expect(await dump()).not.toContain(ADA)
  })

  it('refuses every credential that comes back, and a form that was decided', async () => {
    const { life } = await lived()
    await eraseBoth(life)
    const { test, ada, codes } = life
    for (const { access_token, refresh_token } of ada) {
      expect(await works(test, access_token)).toBe(false)
      expect((await refresh(test, refresh_token)).body.error).toBe('invalid_grant')
    }
    for (const code of codes) expect((await exchange(test, code)).body.error).toBe('invalid_grant')
    expect(test.errors).toEqual([])
  })

  it('tells the audit trail who asked, and what ended', async () => {
    const { life } = await lived()
    life.test.events.length = 0
    await eraseBoth(life)
    const told = life.test.events.map((event) =>
      event.type === 'application'
        ? [event.change, event.actor]
        : event.type === 'revoked'
          ? [event.what, event.actor]
          : event,
    )
    expect(told).toStrictEqual([
      ['suspended', 'root'],
      ...Array(3).fill(['grant', 'root']),
      ['deleted', 'root'],
      ...Array(2).fill(['grant', 'root']),
    ])
  })

  it('again finds nothing, and a user who comes back begins anew', async () => {
    const { life, dump } = await lived()
    await eraseBoth(life)
    expect(await life.test.server.grants.erase(ADA)).toBe(0)
    life.test.session.user = { subject: ADA }
    const pair = await tokens(life.test)
    expect(await works(life.test, pair.access_token)).toBe(true)
    expect(await life.test.server.grants.erase(ADA)).toBe(1)
    expect(await dump()).not.toContain(ADA)
  })

  it('meets a decision that is under way: its grant is refused', async () => {
    const { store, dump } = openStore()
    let meet = async (): Promise<unknown> => undefined
    const test = await testServer({
      store: {
        ...store,
        write: async (key, value, options) => {
          const isWritten = await store.write(key, value, options)
          // The decision is stored, and its grant is not.
          if (key.startsWith('consent:')) await meet()
          return isWritten
        },
      },
    })
    test.session.user = { subject: ADA }
    const { fields, headers } = await openConsent(test)
    meet = () => {
      meet = async () => undefined
      return test.server.grants.erase(ADA)
    }
    const response = await post(test.server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
    expect(response.status).toBe(400)
    expect(await dump()).not.toContain(ADA)
  })

  it('refuses an application that nobody knows, and wrong arguments', async () => {
    const { server } = await testServer()
    for (const erased of [
      server.grants.erase(''),
      server.grants.erase(7 as never),
      server.applications.erase(7 as never),
    ])
      await expect(erased).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    for (const id of ['', 'w\u{e9}b'])
      await expect(server.applications.erase(id)).rejects.toMatchObject({ code: 'ERR_CLIENT_UNKNOWN' })
  })
})

describe('revokeEverything', () => {
  it('ends all grants of all applications, suspended ones too, and what is made after it works', async () => {
    const test = await testServer()
    const pairs = [await tokens(test)]
    test.session.user = { subject: GRACE }
    pairs.push(await tokens(test))
    const { code } = await authorize(test)
    await test.server.applications.suspend('web')
    test.events.length = 0
    expect(await test.server.grants.revokeEverything({ actor: 'root' })).toBe(3)
    expect(test.events).toMatchObject(Array(3).fill({ type: 'revoked', cause: 'administrator', actor: 'root' }))
    await test.server.applications.reinstate('web')
    for (const { access_token } of pairs) expect(await works(test, access_token)).toBe(false)
    expect((await exchange(test, code)).body.error).toBe('invalid_grant')
    expect(await test.server.grants.revokeEverything()).toBe(0)
    expect(await works(test, (await tokens(test)).access_token)).toBe(true)
  })

  it('ends all others where one cannot be read, and says so', async () => {
    const store = memoryStore({ clock: () => START })
    const test = await testServer({ store })
    const pair = await tokens(test)
    await store.write('grant:x', { v: 7 }, { expected: 0, labels: ['client:web'] })
    await store.write('application:x', { v: 7 }, { expected: 0, labels: ['applications:approved'] })
    await expect(test.server.grants.revokeEverything()).rejects.toMatchObject({ code: 'ERR_STORE' })
    expect(await works(test, pair.access_token)).toBe(false)
  })
})
