/**
 * The life of clients that registered themselves, and of the documents of those whose identifier is a URL, as pure functions.
 * @module
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Application, PublishedApplication } from '../../src/core/application/application.js'
import { isPublished } from '../../src/core/application/application.js'
import { logosOf } from '../../src/core/application/application-record.js'
import type { RegistrationDetails } from '../../src/core/application/registration.js'
import type { ClientDecision, ReadDocument } from '../../src/core/application/self-registered/document.js'
import { adoptDocument, documentDueAt } from '../../src/core/application/self-registered/document.js'
import { keepUntilOf, UNUSED_LIFETIME, WAITING_LIFETIME } from '../../src/core/application/self-registered/life.js'
import { transitionApplication } from '../../src/core/application/transition.js'
import { serviceScopes } from '../../src/core/scopes/service-scopes.js'
import type { Scope } from '../../src/core/scopes.js'
import type { ClientId, Digest } from '../../src/core/values.js'

const START = 1_800_000_000
const DAY = 86_400
const ID = 'https://tool.example/client.json' as ClientId
const catalogue = serviceScopes()
const SCOPES = ['repo-code:r', 'account-profile:r'] as Scope[]
const URIS = ['a', 'b', 'c', 'd'].map((name) => `https://tool.example/${name}`)

function detailsOf(redirectUris: readonly string[], name = 'A tool'): RegistrationDetails {
  return {
    type: 'public',
    name,
    website: '',
    redirectUris,
    allowSubdomains: false,
    scopes: SCOPES,
    reasons: {},
    resourceScope: 'all',
    deviceFlow: false,
  }
}

function readOf(redirectUris: readonly string[], decision: ClientDecision | undefined, now: number): ReadDocument {
  const details = detailsOf(redirectUris)
  const document = { digest: redirectUris.join() as Digest, until: now + 60 }
  return { id: ID, details, document, catalogue, ...(decision !== undefined && { decision }) }
}

const APPROVE: ClientDecision = { type: 'approve', scopes: SCOPES }

/** A step in the life of a client by its document. */
type Step =
  | { readonly type: 'read'; readonly uris: readonly string[]; readonly decision: ClientDecision }
  | { readonly type: 'approve' | 'reject' | 'suspend' | 'reinstate' | 'use' }
  | { readonly type: 'wait'; readonly seconds: number }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant('read' as const),
        uris: fc.subarray(URIS, { minLength: 1 }),
        decision: fc.constantFrom<ClientDecision>(APPROVE, { type: 'review' }, { type: 'refuse' }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constantFrom('approve', 'reject', 'suspend', 'reinstate', 'use') }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: DAY }) }),
    },
  ),
  { minLength: 1, maxLength: 14 },
)

const LIFETIMES = { refreshTokenLifetime: 30 * DAY, gracePeriod: 300 }

/** Takes a step; an application stays as it is where it refuses. */
function take(before: Application | undefined, step: Step, now: number): Application | undefined {
  const revision = before?.review?.revision ?? 0
  const done = (outcome: ReturnType<typeof transitionApplication>) =>
    outcome.type === 'done' ? outcome.application : before
  switch (step.type) {
    case 'wait':
      return before
    case 'read':
      return done(adoptDocument(before, readOf(step.uris, step.decision, now), now))
    case 'approve':
      return done(
        transitionApplication(before, { type: 'approve', revision, catalogue, secretDigest: '' as Digest }, now),
      )
    case 'reject':
      return done(transitionApplication(before, { type: 'reject', revision, reason: 'No' }, now))
    case 'use': {
      const keepUntil = keepUntilOf(before, now, LIFETIMES)
      return keepUntil === undefined ? before : done(transitionApplication(before, { type: 'use', keepUntil }, now))
    }
    default:
      return done(transitionApplication(before, { type: step.type }, now))
  }
}

const inForce = (application: Application | undefined) => (isPublished(application) ? application.redirectUris : [])
const endOf = (application: Application | undefined) => application?.selfRegistered?.keepUntil

describe('a client by its document, whatever happens to it', () => {
  /** Walks through steps, and looks at the application before and after each. */
  function walk(
    list: readonly Step[],
    look: (before: Application | undefined, step: Step, after: Application | undefined, now: number) => void,
  ): void {
    let now = START
    let application: Application | undefined
    for (const step of list) {
      if (step.type === 'wait') now += step.seconds
      const after = take(application, step, now)
      look(application, step, after, now)
      application = after
    }
  }

  it('[56] answers users at no redirect URI but one that was decided on, and that its document still has', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const reads: (readonly [uris: readonly string[], after: Application])[] = []
        const decided = new Set<string>()
        walk(list, (before, step, after) => {
          if (step.type === 'read' && step.decision.type === 'approve') for (const uri of step.uris) decided.add(uri)
          if (step.type === 'approve' && before?.review?.state === 'pending')
            for (const uri of before.review.details.redirectUris) decided.add(uri)
          for (const uri of inForce(after)) expect(decided).toContain(uri)
          if (step.type === 'read' && after?.state === 'approved') reads.push([step.uris, after])
        })
        // Whatever the policy says of it, a document that was read takes away at once.
        for (const [uris, after] of reads) for (const uri of inForce(after)) expect(uris).toContain(uri)
      }),
      { numRuns: 500 },
    )
  })

  it('is not kept for longer because its document was read', () => {
    let reads = 0
    fc.assert(
      fc.property(steps, (list) => {
        const ends: Record<'before' | 'after', number | undefined>[] = []
        walk(list, (before, step, after) => {
          if (step.type === 'read' && isPublished(before)) ends.push({ before: endOf(before), after: endOf(after) })
        })
        for (const { before, after } of ends) expect(after).toBe(before)
        reads += ends.length
      }),
      { numRuns: 500 },
    )
    expect(reads).toBeGreaterThan(100)
  })

  it('[58] stays as an administrator left it: stopped or refused, nothing that it says changes it, and it has no end', () => {
    let reads = 0
    fc.assert(
      fc.property(steps, (list) => {
        const all: {
          readonly before: Application | undefined
          readonly after: Application | undefined
          isRead: boolean
        }[] = []
        walk(list, (before, step, after) => all.push({ before, after, isRead: step.type === 'read' }))
        const stopped = all.filter(({ before }) => before?.state === 'suspended' || before?.state === 'rejected')
        for (const { before } of stopped) expect(endOf(before)).toBeUndefined()
        const readOfStopped = stopped.filter(({ isRead }) => isRead)
        for (const { before, after } of readOfStopped) expect(after).toBe(before)
        const withoutEnd = all.filter(({ before }) => before !== undefined && endOf(before) === undefined)
        for (const { after } of withoutEnd) expect(endOf(after)).toBeUndefined()
        reads += readOfStopped.length
      }),
      { numRuns: 500 },
    )
    expect(reads).toBeGreaterThan(50)
  })

  it('cannot be withdrawn or deleted, whatever its state: it would come back with the next link', () => {
    for (const list of [
      [{ type: 'read', uris: URIS, decision: { type: 'review' } }],
      [{ type: 'read', uris: URIS, decision: { type: 'review' } }, { type: 'reject' }],
      [{ type: 'read', uris: URIS, decision: APPROVE }, { type: 'suspend' }],
    ] satisfies Step[][]) {
      let application: Application | undefined
      for (const step of list) application = take(application, step, START)
      for (const type of application?.state === 'suspended' ? (['delete'] as const) : (['withdraw', 'delete'] as const))
        expect(transitionApplication(application, { type }, START)).toStrictEqual({ type: 'refused', refusal: 'state' })
    }
  })

  it('that an administrator decided on has no more by the policy: what its document adds waits', () => {
    const reads: (readonly [before: PublishedApplication, after: PublishedApplication])[] = []
    fc.assert(
      fc.property(steps, (list) => {
        reads.length = 0
        walk(list, (before, step, after) => {
          if (step.type === 'read' && isPublished(before) && isPublished(after) && endOf(before) === undefined)
            reads.push([before, after])
        })
        fc.pre(reads.length > 0)
        for (const [{ redirectUris, name, scopes, approvedAt }, after] of reads) {
          expect(after).toMatchObject({ name, scopes, approvedAt })
          for (const uri of inForce(after)) expect(redirectUris).toContain(uri)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is kept for as long as the tokens that it gets, and is written once a week at most', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 * DAY }), { minLength: 1, maxLength: 40 }), (pauses) => {
        let now = START
        let tokensEnd = START
        let application = take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, now)
        const writes: number[] = []
        for (const pause of pauses) {
          // The first token comes within a week; each other one while the one before it works.
          now += tokensEnd === START ? pause % (7 * DAY) : pause
          // The store has removed it otherwise.
          expect(endOf(application) ?? 0).toBeGreaterThan(now)
          const after = take(application, { type: 'use' }, now)
          if (after !== application) writes.push(now)
          tokensEnd = now + 30 * DAY + 300
          expect(endOf(after) ?? 0).toBeGreaterThanOrEqual(tokensEnd)
          application = after
        }
        for (const [index, at] of writes.slice(1).entries())
          expect(at - (writes[index] ?? at)).toBeGreaterThanOrEqual(7 * DAY)
      }),
    )
  })
})

describe('a document', () => {
  it('keeps a new client for a week that was approved, and for thirty days one that waits', () => {
    const approved = take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, START)
    const waiting = take(undefined, { type: 'read', uris: URIS, decision: { type: 'review' } }, START)
    expect([endOf(approved), endOf(waiting)]).toEqual([START + UNUSED_LIFETIME, START + WAITING_LIFETIME])
    expect([approved?.state, waiting?.state]).toEqual(['approved', 'pending'])
  })

  it('that says the same as before changes nothing but the time at which it is due', () => {
    const before = take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, START)
    const outcome = adoptDocument(before, readOf(URIS, undefined, START + 60), START + 60)
    const selfRegistered = { ...before?.selfRegistered, document: { digest: URIS.join(), until: START + 120 } }
    expect(outcome).toStrictEqual({ type: 'done', application: { ...before, selfRegistered } })
  })

  it('that changed while nobody was asked about it is refused', () => {
    const before = take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, START)
    const outcome = adoptDocument(before, readOf(URIS.slice(1), undefined, START), START)
    expect(outcome).toStrictEqual({ type: 'refused', refusal: 'outdated' })
    expect(adoptDocument(undefined, readOf(URIS, undefined, START), START)).toMatchObject({ type: 'refused' })
  })

  it('is due for no application that administrators registered, nor for one that they stopped or refused', () => {
    const client = take(undefined, { type: 'read', uris: URIS, decision: { type: 'review' } }, START)
    expect(documentDueAt(client)).toBe(START + 60)
    expect(documentDueAt(take(client, { type: 'reject' }, START))).toBeUndefined()
    const approved = take(client, { type: 'approve' }, START)
    expect(documentDueAt(approved)).toBe(START + 60)
    expect(documentDueAt(take(approved, { type: 'suspend' }, START))).toBeUndefined()
    const submit = { type: 'submit', id: ID, details: { ...detailsOf(URIS), logo: 'a' } } as const
    const usual = transitionApplication(undefined, submit, START)
    if (usual.type !== 'done') return expect.fail()
    expect(documentDueAt(usual.application)).toBeUndefined()
    expect(adoptDocument(usual.application, readOf(URIS, APPROVE, START), START)).toMatchObject({ refusal: 'state' })
    expect([logosOf(usual.application), logosOf(client)]).toEqual([['a'], []])
  })

  it('that was refused is decided on again when it is due, also where it says what was approved once', () => {
    const refuse = { type: 'read', uris: URIS.slice(2), decision: { type: 'refuse' } } as const
    const before = take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, START)
    const refused = take(before, refuse, START)
    expect(inForce(refused)).toEqual(URIS.slice(2))
    expect(inForce(take(refused, { type: 'read', uris: URIS, decision: APPROVE }, START))).toEqual(URIS)
  })

  it('is adopted for the client alone whose identifier is its URL, whatever key that has', () => {
    const before = take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, START)
    const other = 'https://thief.example/client.json' as ClientId
    const read = { ...readOf(URIS.slice(1), APPROVE, START), id: other }
    expect(adoptDocument(before, read, START)).toStrictEqual({ type: 'refused', refusal: 'state' })
  })

  it('of a client that is in use is approved anew without an end of a week', () => {
    const before = take(
      take(undefined, { type: 'read', uris: URIS, decision: APPROVE }, START),
      { type: 'approve' },
      START,
    )
    const used = take(before, { type: 'use' }, START + 6 * DAY)
    const after = take(used, { type: 'read', uris: URIS.slice(1), decision: APPROVE }, START + 6 * DAY)
    expect(endOf(after)).toBe(endOf(used))
    expect(inForce(after)).toEqual(URIS.slice(1))
    expect(after?.revision).toBe(2)
  })
})
