/**
 * A decision is taken in as one record, and makes its grant as another: whatever comes between the two, a grant is made once, is
 * counted while it lives, and does not come back.
 * @module
 * @see SECURITY, "What is promised"; DESIGN, "a form that is sent twice"
 */
import type { AuditEvent, AuthorizationServer, ClientId, GrantId, HttpResponse, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { describe, expect, it } from 'vitest'
import { clientKeyOf, digestOf } from '../../src/core/credentials/digests.js'
import { isCounted } from '../../src/core/grant/consents.js'
import { keys, recordAs } from '../../src/shell/records.js'
import type { Choose } from '../orders.js'
import { createTurns, inEveryOrder, inSomeOrders } from '../orders.js'
import { codesOf, decideOn, enterCode } from '../protocol/device-form.js'
import { StoreFailure } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import { exchange, ISSUER, openConsent, post, registration, START, WEB } from '../support.js'

/** Who acts, and on a server of their own. */
interface Actor {
  readonly server: AuthorizationServer
}

/** Does what comes before, and returns the requests that are sent at once, each by an actor. */
type Scene = (test: TestServer, actors: readonly Actor[]) => Promise<readonly (() => Promise<unknown>)[]>

/** Agrees by an open form, at a server. */
function agree({ server }: Actor, { fields, headers }: Awaited<ReturnType<typeof openConsent>>): Promise<HttpResponse> {
  return post(server, '/oauth2/auth', { ...fields, decision: 'agree' }, headers)
}

const codeIn = ({ headers }: HttpResponse): string =>
  new URL(headers['Location'] ?? 'none:').searchParams.get('code') ?? ''

const SCENES: Readonly<Record<string, Scene>> = {
  'a form that comes again, and another one that takes its place': async (test, [one = test, other = test]) => {
    const [first, second] = [await openConsent(test), await openConsent(test)]
    await exchange(test, codeIn(await agree(test, first)))
    return [() => agree(one, first), () => agree(other, second)]
  },
  'a form that is sent twice, and another one that takes its place': async (
    test,
    [one = test, another = test, other = test],
  ) => {
    const [first, second] = [await openConsent(test), await openConsent(test)]
    return [() => agree(one, first), () => agree(another, first), () => agree(other, second)]
  },
  'a form whose grant could not be written 300 seconds ago, and another one': async (
    test,
    [one = test, other = test],
  ) => {
    const [first, second] = [await openConsent(test), await openConsent(test)]
    await unwritten(() => agree(test, first))
    test.clock.now += 300
    return [() => agree(one, first), () => agree(other, second)]
  },
  'a form whose grant could not be written a moment ago, and another one': async (test, [one = test, other = test]) => {
    const [first, second] = [await openConsent(test), await openConsent(test)]
    await unwritten(() => agree(test, first))
    return [() => agree(one, first), () => agree(other, second)]
  },
  'a device on which nobody decided yet, and a form': async (test, [one = test, other = test]) => {
    const consent = await enterCode(test, (await codesOf(test)).user_code)
    const form = await openConsent(test)
    return [() => decideOn(one, consent), () => agree(other, form)]
  },
  'a device whose grant could not be written 300 seconds ago, and a form': async (test, [one = test, other = test]) => {
    const consent = await enterCode(test, (await codesOf(test)).user_code)
    await unwritten(() => decideOn(test, consent))
    test.clock.now += 300
    const form = await openConsent(test)
    return [() => decideOn(one, consent), () => agree(other, form)]
  },
  'a form that comes again, and its user who takes all back': async (test, [one = test, other = test]) => {
    const form = await openConsent(test)
    await exchange(test, codeIn(await agree(test, form)))
    return [() => agree(one, form), () => other.server.grants.revokeAll('ada')]
  },
}

/** Whether the store fails to write grants. */
let isFailing = false

/** Sends something whose grant cannot be written. */
async function unwritten(send: () => Promise<HttpResponse>): Promise<void> {
  isFailing = true
  expect((await send()).status).toBe(503)
  isFailing = false
}

/** Servers over one store, each with a view of it that waits for its turn. */
async function stage(count: number) {
  const clock = { now: START }
  const inner = memoryStore({ clock: () => clock.now })
  const events: AuditEvent[] = []
  const errors: unknown[] = []
  const session: TestServer['session'] = { user: { subject: 'ada' } }
  // Whose records these are is asked once in the life of a server, at its first use.
  const turns = createTurns(/^issuer/)
  const store: RecordStore = {
    ...inner,
    write: (key, ...rest) => {
      if (isFailing && key.startsWith('grant:')) throw new StoreFailure()
      return inner.write(key, ...rest)
    },
  }
  const serverOver = (own: RecordStore): AuthorizationServer =>
    createAuthorizationServer({
      issuer: ISSUER,
      store: own,
      digests: nodeDigests,
      user: () => session.user,
      signInUrl: () => '/sign-in',
      clock: () => clock.now,
      onEvent: (event) => events.push(event),
      onError: (error) => errors.push(error),
      grantLimit: 1,
    })
  const server = serverOver(store)
  await server.applications.register(registration(), WEB)
  const actors = Array.from({ length: count }, (_, actor) => ({ server: serverOver(turns.store(store, actor)) }))
  const test: TestServer = { server, store: inner, clock, events, errors, session }
  return {
    test,
    actors,
    /** Plays a scene with a user of its own, in the order that is chosen. */
    play: async (begin: Scene, actors: readonly Actor[], choose: Choose): Promise<void> => {
      session.user = { subject: `ada ${++played}` }
      clock.now += 2000
      events.length = 0
      await turns.run(await begin(test, actors), choose)
    },
  }
}

let played = 0

/** What must hold afterwards, in words where it does not. */
async function faults({ server, store, events, session }: TestServer): Promise<readonly string[]> {
  const subject = session.user?.subject ?? ''
  const { grants } = await server.grants.listGrants(subject)
  const made = events.flatMap((each) => (each.type === 'issued' && each.retry === undefined ? [each.grantId] : []))
  const ended = events.flatMap((each) => (each.type === 'revoked' ? [each.grantId] : []))
  const clientKey = clientKeyOf(nodeDigests, WEB.clientId as ClientId) // it is one
  const [decisions] = await store.read([keys.consent(clientKey, digestOf(nodeDigests, subject))])
  const counted = (id: GrantId): boolean => isCounted(recordAs.consents(decisions?.value), id)
  return [
    ...(grants.length > 1 ? [`${grants.length} grants live where one may`] : []),
    ...made.filter((id, place) => made.indexOf(id) !== place).map(() => 'a grant was made twice'),
    ...grants.filter(({ grantId }) => ended.includes(grantId)).map(() => 'a grant that was ended lives'),
    ...grants.filter(({ grantId }) => !counted(grantId)).map(() => 'a grant lives that nobody counts'),
  ]
}

/** Orders of one scene that are tried one after the other; where there are more, as many random ones follow. */
const ORDERS = 1500

describe('in every order of the steps', () => {
  it.each(Object.entries(SCENES))('%s', async (_name, scene) => {
    const { test, actors, play } = await stage(3)
    const check = async (choose: Choose): Promise<void> => {
      const order: number[] = []
      await play(scene, actors, (choices) => {
        const choice = choose(choices)
        if (choice !== undefined) order.push(choice.actor)
        return choice
      })
      expect({ order, faults: await faults(test) }).toStrictEqual({ order, faults: [] })
    }
    const { isComplete } = await inEveryOrder(check, ORDERS)
    if (!isComplete) await inSomeOrders(check, ORDERS)
  })
})
