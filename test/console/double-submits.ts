/**
 * Forms that are sent twice, by a double click or by Reload: what they ask for is done once, and each answer says so.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it } from 'vitest'
import { START, tokens } from '../support.js'
import type { ConsoleTest, Fields, Seen } from './visitor.js'
import { consoleServer, formOf, HOME, handIn, SOUND, secretsIn, Visitor } from './visitor.js'

/** Makes a store whose every answer takes so long, once it is switched on. */
function slowStore(milliseconds: number) {
  const store = memoryStore({ clock: () => START })
  const slow = { on: false }
  const later =
    <Given extends unknown[], Answer>(call: (...given: Given) => Answer | Promise<Answer>) =>
    async (...given: Given): Promise<Answer> => {
      if (slow.on) await new Promise((resolve) => setTimeout(resolve, milliseconds))
      return call(...given)
    }
  const { read, write, list } = store
  return { slow, store: { ...store, read: later(read), write: later(write), list: later(list) } satisfies RecordStore }
}

const reviewOf = (id: string): string => `${HOME}/administration/applications/${id}`
const ownOf = (id: string): string => `${HOME}/applications/${id}`

/** A form, what it makes in the audit trail, and the words of the answers after the first. */
interface Case {
  readonly name: string
  /** Makes everything that the form needs, and returns who sends it, the page with it, and its fields. */
  readonly prepare: (test: ConsoleTest) => Promise<{ visitor: Visitor; page: Seen; action?: string; fields?: Fields }>
  readonly change: string
  readonly says: RegExp
  readonly makesSecret?: boolean
}

/** Hands in an application of bob's; approves it where that is asked for. */
async function made(test: ConsoleTest, isApproved: boolean) {
  const bob = new Visitor(test, 'bob')
  const { id } = await handIn(bob)
  if (isApproved) await test.server.applications.approve(id, { revision: 1 })
  return { id, bob, root: new Visitor(test, 'root') }
}

const DONE = /This form was sent before, and is done/

const CASES: readonly Case[] = [
  {
    name: 'a new application',
    prepare: async (test) => {
      const visitor = new Visitor(test, 'bob')
      return { visitor, page: await visitor.open(`${HOME}/new`), fields: SOUND }
    },
    change: 'submitted',
    says: DONE,
  },
  {
    name: 'a change',
    prepare: async (test) => {
      const { id, bob } = await made(test, true)
      return {
        visitor: bob,
        page: await bob.open(`${ownOf(id)}/edit`),
        fields: { ...SOUND, logo: undefined, name: 'Copy' },
      }
    },
    change: 'changed',
    says: DONE,
  },
  {
    name: 'a new secret',
    prepare: async (test) => {
      const { id, bob } = await made(test, true)
      return { visitor: bob, page: await bob.open(ownOf(id)), action: 'rotate', fields: { overlap: 'day' } }
    },
    change: 'secret_rotated',
    says: /However often this form is sent, it makes this one secret/,
    makesSecret: true,
  },
  {
    name: 'a withdrawal of a new application',
    prepare: async (test) => {
      const { id, bob } = await made(test, false)
      return { visitor: bob, page: await bob.open(ownOf(id)), action: 'withdraw' }
    },
    change: 'withdrawn',
    says: DONE,
  },
  {
    name: 'a withdrawal of a change',
    prepare: async (test) => {
      const { id, bob } = await made(test, true)
      await test.server.applications.change(id, { name: 'Copy' })
      return { visitor: bob, page: await bob.open(ownOf(id)), action: 'withdraw' }
    },
    change: 'withdrawn',
    says: DONE,
  },
  {
    name: 'a transfer',
    prepare: async (test) => {
      const { id, bob } = await made(test, true)
      return { visitor: bob, page: await bob.open(ownOf(id)), action: 'transfer', fields: { applicant: 'carol' } }
    },
    change: 'transferred',
    says: DONE,
  },
  {
    name: 'a deletion',
    prepare: async (test) => {
      const { id, bob } = await made(test, false)
      return { visitor: bob, page: await bob.open(ownOf(id)), action: 'delete' }
    },
    change: 'deleted',
    says: DONE,
  },
  {
    name: 'an approval',
    prepare: async (test) => {
      const { id, root } = await made(test, false)
      const fields = { scope: ['repo-code:r'] }
      return { visitor: root, page: await root.open(reviewOf(id)), action: 'approve', fields }
    },
    change: 'approved',
    says: DONE,
  },
  {
    name: 'a rejection',
    prepare: async (test) => {
      const { id, root } = await made(test, false)
      return { visitor: root, page: await root.open(reviewOf(id)), action: 'reject', fields: { reason: 'No' } }
    },
    change: 'rejected',
    says: DONE,
  },
  {
    name: 'a suspension',
    prepare: async (test) => {
      const { id, root } = await made(test, true)
      return { visitor: root, page: await root.open(reviewOf(id)), action: 'suspend' }
    },
    change: 'suspended',
    says: /It is suspended/,
  },
  {
    name: 'a reinstatement',
    prepare: async (test) => {
      const { id, root } = await made(test, true)
      await test.server.applications.suspend(id)
      return { visitor: root, page: await root.open(reviewOf(id)), action: 'reinstate' }
    },
    change: 'reinstated',
    says: /It is reinstated/,
  },
  {
    name: 'a resource server',
    prepare: async (test) => {
      const root = new Visitor(test, 'root')
      const fields = { name: 'API', website: 'https://api.example', scope: ['repo-code:r'] }
      return {
        visitor: root,
        page: await root.open(`${HOME}/administration/resource-servers`),
        action: 'register',
        fields,
      }
    },
    change: 'approved',
    says: /This form was sent before, and is done.* it makes this one secret/,
    makesSecret: true,
  },
]

const changesOf = ({ events }: ConsoleTest): readonly string[] =>
  events.flatMap((event) => (event.type === 'application' ? [event.change] : []))

/** Makes the tests with a store whose every answer takes so long. */
export function sentTwice(milliseconds: number): void {
  it.concurrent.each(CASES)('$name is made once, however often its form comes', async (given) => {
    const { store, slow } = slowStore(milliseconds)
    const test = await consoleServer({ store, clock: () => START })
    const { visitor, page, action, fields } = await given.prepare(test)
    const form = action === undefined ? (page.forms[0] ?? expect.fail(page.text)) : formOf(page, action)
    test.events.length = 0
    slow.on = true
    const both = await Promise.all([visitor.submit(form, fields), visitor.submit(form, fields)])
    const later = await visitor.submit(form, fields)
    for (const seen of [...both, later]) expect(seen.status, seen.text).toBe(200)
    expect(changesOf(test).filter((change) => change === given.change)).toStrictEqual([given.change])
    expect(later.text).toMatch(given.says)
    const secrets = [...both, later].flatMap(secretsIn)
    expect([secrets.length, new Set(secrets).size]).toEqual(given.makesSecret ? [3, 1] : [0, 0])
  })

  it('all access is ended once', async () => {
    const { store, slow } = slowStore(milliseconds)
    const test = await consoleServer({ store, clock: () => START })
    test.session.user = { subject: 'ada' }
    await tokens(test)
    const root = new Visitor(test, 'root')
    const page = await root.open(reviewOf('web'))
    test.events.length = 0
    slow.on = true
    await Promise.all([root.act(page, 'endAll'), root.act(page, 'endAll')])
    expect((await root.act(page, 'endAll')).text).toContain('0 permissions were ended.')
    expect(test.events.map(({ type }) => type)).toStrictEqual(['revoked'])
  })
}
