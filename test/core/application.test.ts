/**
 * The life of an application (specification, sections 1 and 2.1): every command in every state, histories held against a
 * model that was written from the diagram, and secrets that are compared in full.
 *
 *     submit -> pending -> approved | rejected        approved <-> suspended
 * @module
 */
import * as fc from 'fast-check'
import type { Application, Resources, Scope } from 'grantwell'
import { portableDigests } from 'grantwell'
import type {
  ApplicationCommand,
  ApplicationDetails,
  ApplicationOutcome,
  ApplicationRefusal,
  Digest,
  PublishedApplication,
  ResourceScope,
} from 'grantwell/core'
import { coversScopes, SECRETS_KEPT, transitionApplication } from 'grantwell/core'
import { describe, expect, it } from 'vitest'
import { hasSecret, isPublished, isResourceServer, limitResources } from '../../src/core/application/application.js'
import { applicationLabels, logosOf } from '../../src/core/application/application-record.js'
import { digestOf } from '../../src/core/credentials/digests.js'
import { scopeCatalogue } from '../../src/core/scopes/catalogue.js'
import { serviceScopes } from '../../src/core/scopes/service-scopes.js'
import { Counted } from './counted.js'
import { clientIdOf } from './histories.js'
import { anyText } from './texts.js'

const NOW = 1_800_000_000
const ID = clientIdOf('web')

/** The digest of a secret that is called by a number. */
const digest = (secret: number | string): Digest => digestOf(portableDigests, `secret ${secret}`)

/** What is reviewed, with a few words of its own to tell it from others. */
function detailsOf(changes: Partial<ApplicationDetails> = {}): ApplicationDetails {
  return {
    type: 'confidential',
    name: 'Sample',
    website: 'https://app.example',
    redirectUris: ['https://app.example/callback'],
    authorizedDomain: 'app.example',
    allowSubdomains: false,
    scopes: ['repo-code:rw', 'account-profile:r'],
    reasons: { 'repo-code:rw': 'To push' },
    resourceScope: 'all',
    deviceFlow: false,
    logo: 'logo-1',
    ...changes,
  }
}

/** Freezes all that can be reached, so that whoever changes an argument throws. */
function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    for (const each of Object.values(Object.freeze(value))) frozen(each)
  }
  return value
}

/** Applies a command; whatever it is given is frozen. */
function ask(application: Application | undefined, command: ApplicationCommand, now = NOW): ApplicationOutcome {
  return transitionApplication(frozen(application), frozen(command), now)
}

/** The application after some commands, each of which must be done. */
function made(...commands: readonly ApplicationCommand[]): Application {
  let application: Application | undefined
  for (const command of commands) {
    const outcome = ask(application, command)
    if (outcome.type !== 'done') expect.fail(`${command.type}: ${JSON.stringify(outcome)}`)
    application = outcome.application
  }
  return application ?? expect.fail('no command')
}

/** The same, of one that is in force. */
function published(...commands: readonly ApplicationCommand[]): PublishedApplication {
  const application = made(...commands)
  return isPublished(application) ? application : expect.fail(application.state)
}

const submit = (changes: Partial<ApplicationDetails> = {}): ApplicationCommand => ({
  type: 'submit',
  id: ID,
  applicant: 'ada',
  details: detailsOf(changes),
})
const change = (changes: Partial<ApplicationDetails> = {}): ApplicationCommand => ({
  type: 'change',
  details: detailsOf(changes),
})
const approve = (revision = 1, scopes?: readonly Scope[], secret: number | string = 1): ApplicationCommand => ({
  type: 'approve',
  catalogue: serviceScopes(),
  revision,
  ...(scopes !== undefined && { scopes }),
  secretDigest: digest(secret),
})
const reject = (revision = 1): ApplicationCommand => ({ type: 'reject', revision, reason: 'Too much' })
const suspend: ApplicationCommand = { type: 'suspend' }
const reinstate: ApplicationCommand = { type: 'reinstate' }
const rotate = (secret: number | string, overlap: number): ApplicationCommand => ({
  type: 'rotate_secret',
  secretDigest: digest(secret),
  overlap,
})

/** Every situation that the diagram has, a change beside what is in force included; each with how to get there. */
const SITUATIONS = {
  none: undefined,
  pending: made(submit()),
  rejected: made(submit(), reject()),
  approved: made(submit(), approve()),
  'approved, change pending': made(submit(), approve(), change({ name: 'Renamed' })),
  'approved, change rejected': made(submit(), approve(), change({ name: 'Renamed' }), reject(2)),
  suspended: made(submit(), approve(), suspend),
  'suspended, change pending': made(submit(), approve(), change({ name: 'Renamed' }), suspend),
  'suspended, change rejected': made(submit(), approve(), change({ name: 'Renamed' }), reject(2), suspend),
} as const

type Situation = keyof typeof SITUATIONS

/** Which situation an application is in. */
function situationOf(application: Application | undefined): string {
  if (application === undefined) return 'none'
  const { state, review } = application
  return !isPublished(application) || review === undefined ? state : `${state}, change ${review.state}`
}

/** The revision that waits in a situation, or would. */
const revisionIn = (situation: Situation): number => SITUATIONS[situation]?.revision ?? 1

type Answer = Situation | `unchanged` | `refused: ${ApplicationRefusal}`

/** What each command is answered: the situation that it leads to, that nothing changes, or why it is refused. */
const ANSWERS: {
  readonly [S in Situation]: { readonly [Type in ApplicationCommand['type']]: Answer }
} = {
  none: {
    submit: 'pending',
    change: 'refused: unknown',
    approve: 'refused: unknown',
    reject: 'refused: unknown',
    suspend: 'refused: unknown',
    reinstate: 'refused: unknown',
    use: 'refused: unknown',
    rotate_secret: 'refused: unknown',
    withdraw: 'refused: unknown',
    transfer: 'refused: unknown',
    set_terms: 'refused: unknown',
    delete: 'refused: unknown',
  },
  pending: {
    submit: 'refused: exists',
    change: 'pending',
    approve: 'approved',
    reject: 'rejected',
    suspend: 'refused: state',
    reinstate: 'refused: state',
    use: 'refused: state',
    rotate_secret: 'refused: state',
    withdraw: 'none',
    transfer: 'pending',
    set_terms: 'refused: state',
    delete: 'none',
  },
  rejected: {
    submit: 'refused: exists',
    change: 'refused: state',
    approve: 'refused: state',
    reject: 'refused: state',
    suspend: 'refused: state',
    reinstate: 'refused: state',
    use: 'refused: state',
    rotate_secret: 'refused: state',
    withdraw: 'none',
    transfer: 'rejected',
    set_terms: 'refused: state',
    delete: 'none',
  },
  approved: {
    submit: 'refused: exists',
    change: 'approved, change pending',
    approve: 'refused: state',
    reject: 'refused: state',
    suspend: 'suspended',
    reinstate: 'unchanged',
    use: 'unchanged',
    rotate_secret: 'approved',
    withdraw: 'refused: state',
    transfer: 'approved',
    set_terms: 'approved',
    delete: 'refused: state',
  },
  'approved, change pending': {
    submit: 'refused: exists',
    change: 'approved, change pending',
    approve: 'approved',
    reject: 'approved, change rejected',
    suspend: 'suspended, change pending',
    reinstate: 'unchanged',
    use: 'unchanged',
    rotate_secret: 'approved, change pending',
    withdraw: 'approved',
    transfer: 'approved, change pending',
    set_terms: 'approved, change pending',
    delete: 'refused: state',
  },
  'approved, change rejected': {
    submit: 'refused: exists',
    change: 'approved, change pending',
    approve: 'refused: state',
    reject: 'refused: state',
    suspend: 'suspended, change rejected',
    reinstate: 'unchanged',
    use: 'unchanged',
    rotate_secret: 'approved, change rejected',
    withdraw: 'approved',
    transfer: 'approved, change rejected',
    set_terms: 'approved, change rejected',
    delete: 'refused: state',
  },
  suspended: {
    submit: 'refused: exists',
    change: 'suspended, change pending',
    approve: 'refused: state',
    reject: 'refused: state',
    suspend: 'unchanged',
    reinstate: 'approved',
    use: 'unchanged',
    rotate_secret: 'suspended',
    withdraw: 'refused: state',
    transfer: 'suspended',
    set_terms: 'suspended',
    delete: 'none',
  },
  'suspended, change pending': {
    submit: 'refused: exists',
    change: 'suspended, change pending',
    approve: 'suspended',
    reject: 'suspended, change rejected',
    suspend: 'unchanged',
    reinstate: 'approved, change pending',
    use: 'unchanged',
    rotate_secret: 'suspended, change pending',
    withdraw: 'suspended',
    transfer: 'suspended, change pending',
    set_terms: 'suspended, change pending',
    delete: 'none',
  },
  'suspended, change rejected': {
    submit: 'refused: exists',
    change: 'suspended, change pending',
    approve: 'refused: state',
    reject: 'refused: state',
    suspend: 'unchanged',
    reinstate: 'approved, change rejected',
    use: 'unchanged',
    rotate_secret: 'suspended, change rejected',
    withdraw: 'suspended',
    transfer: 'suspended, change rejected',
    set_terms: 'suspended, change rejected',
    delete: 'none',
  },
}

const TABLE = Object.entries(ANSWERS).flatMap(([situation, answers]) =>
  Object.entries(answers).map(
    ([type, answer]) => [type, situation, answer] as [ApplicationCommand['type'], Situation, Answer],
  ),
) // as they stand in the table

/** The command of a kind that fits what is asked of it in a situation. */
function commandIn(type: ApplicationCommand['type'], situation: Situation): ApplicationCommand {
  const commands: { readonly [Type in ApplicationCommand['type']]: ApplicationCommand } = {
    submit: submit({ name: 'Again' }),
    change: change({ name: 'Changed' }),
    approve: approve(revisionIn(situation), undefined, 'unused'),
    reject: reject(revisionIn(situation)),
    suspend,
    reinstate,
    use: { type: 'use', keepUntil: NOW + 1000 },
    rotate_secret: rotate('next', 60),
    withdraw: { type: 'withdraw' },
    transfer: { type: 'transfer', applicant: 'grace' },
    set_terms: { type: 'set_terms', terms: { firstParty: true } },
    delete: { type: 'delete' },
  }
  return commands[type]
}

const EVENTS = {
  submit: 'submitted',
  change: 'changed',
  approve: 'approved',
  reject: 'rejected',
  suspend: 'suspended',
  reinstate: 'reinstated',
  use: undefined, // tells nobody
  rotate_secret: 'secret_rotated',
  withdraw: 'withdrawn',
  transfer: 'transferred',
  set_terms: 'terms_set',
  delete: 'deleted',
} as const

describe('every command in every state', () => {
  it('the situations are what they are called, and there is an answer to all of 12 commands in each of 9', () => {
    for (const [name, application] of Object.entries(SITUATIONS)) expect(situationOf(application)).toBe(name)
    expect(TABLE).toHaveLength(108)
  })

  const REFUSED = 'refused: '

  it.each(TABLE.filter(([, , answer]) => answer.startsWith(REFUSED)))(
    '%s, where it is %s: %s',
    (type, situation, answer) => {
      const outcome = ask(SITUATIONS[situation], commandIn(type, situation), NOW + 5)
      expect(outcome).toStrictEqual({ type: 'refused', refusal: answer.slice(REFUSED.length) })
    },
  )

  it.each(TABLE.filter(([, , answer]) => answer === 'unchanged'))('%s, where it is %s: %s', (type, situation) => {
    const before = SITUATIONS[situation]
    const outcome = ask(before, commandIn(type, situation), NOW + 5)
    expect(outcome).toStrictEqual({ type: 'done', application: before })
    expect('application' in outcome && outcome.application).toBe(before)
  })

  const CHANGES = TABLE.filter(([, , answer]) => answer !== 'unchanged' && !answer.startsWith(REFUSED))

  it.each(CHANGES)('%s, where it is %s: %s', (type, situation, answer) => {
    const before: Application | undefined = SITUATIONS[situation]
    const outcome = ask(before, commandIn(type, situation), NOW + 5)
    if (outcome.type === 'refused') expect.fail(outcome.refusal)
    const after = outcome.type === 'removed' ? undefined : outcome.application
    expect(situationOf(after)).toBe(answer)
    const { revision } = after ?? before ?? expect.fail('there was none')
    expect(revision).toBe((before?.revision ?? 0) + (type === 'submit' || type === 'change' ? 1 : 0))
    expect(outcome.event).toStrictEqual({
      type: 'application',
      at: NOW + 5,
      applicationId: 'web',
      change: EVENTS[type],
      revision,
      ...(type === 'transfer' && { applicant: 'grace' }),
      ...(type === 'set_terms' && { terms: { firstParty: true } }),
    })
  })

  const waiting = ['pending', 'approved, change pending', 'suspended, change pending'] as const

  it.each(waiting)('where it is %s: a revision that was outdated, or is to come, takes no effect', (situation) => {
    const application = SITUATIONS[situation]
    const { revision } = application
    for (const other of [revision - 1, revision + 1, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(ask(application, approve(other))).toStrictEqual({ type: 'refused', refusal: 'outdated' })
      expect(ask(application, reject(other))).toStrictEqual({ type: 'refused', refusal: 'outdated' })
    }
  })

  it.each(waiting)('where it is %s: scopes that were not asked for are not granted', (situation) => {
    const application = SITUATIONS[situation]
    const { revision } = application
    for (const scopes of [['repo-delete:rw'], ['repo-code:rw', 'account-profile:rw'], ['account-email:r']] as const)
      expect(ask(application, approve(revision, scopes))).toStrictEqual({ type: 'refused', refusal: 'scopes' })
    for (const scopes of [['repo-code:r'], ['account-profile:r'], ['repo-code:r', 'account-profile:r']] as const) {
      const outcome = ask(application, approve(revision, scopes))
      expect(outcome.type === 'done' && isPublished(outcome.application) && outcome.application.scopes).toEqual(scopes)
    }
  })

  it('[27] a client stays public or confidential from its first approval on; until then its applicant may choose', () => {
    for (const [type, other] of [
      ['confidential', 'public'],
      ['public', 'confidential'],
    ] as const) {
      const approved = [submit({ type }), approve()]
      for (const more of [[], [suspend], [change({ type })], [change({ type }), reject(2)]]) {
        const application = made(...approved, ...more)
        expect(ask(application, change({ type: other }))).toStrictEqual({ type: 'refused', refusal: 'type' })
        expect(ask(application, change({ type })).type).toBe('done')
      }
      const chosen = published(submit({ type: other }), change({ type }), approve(2))
      expect(chosen).toMatchObject({ type, secrets: type === 'public' ? [] : [{ digest: digest(1) }] })
      expect(chosen.secrets).toHaveLength(type === 'public' ? 0 : 1)
    }
  })

  it('[27] a public client has no secret, and gets none', () => {
    const application = published(submit({ type: 'public' }), approve())
    expect(application.secrets).toStrictEqual([])
    expect(ask(application, rotate(2, 60))).toStrictEqual({ type: 'refused', refusal: 'state' })
    const again = published(submit({ type: 'public' }), approve(), change({ type: 'public' }), approve(2))
    expect(again.secrets).toStrictEqual([])
  })
})

describe('the record', () => {
  it('of a submission, with its applicant, and without where an administrator registers it', () => {
    const outcome = ask(undefined, submit())
    const submitted = {
      v: 1,
      id: 'web',
      state: 'pending',
      applicant: 'ada',
      revision: 1,
      createdAt: NOW,
      review: { state: 'pending', revision: 1, submittedAt: NOW, details: detailsOf() },
    }
    expect(outcome).toStrictEqual({
      type: 'done',
      application: submitted,
      event: { type: 'application', at: NOW, applicationId: 'web', change: 'submitted', revision: 1 },
    })
    const { applicant, ...rest } = submitted
    expect(applicant).toBe('ada')
    expect(ask(undefined, { type: 'submit', id: ID, details: detailsOf() })).toMatchObject({ application: rest })
    expect(made({ type: 'submit', id: ID, details: detailsOf() })).not.toHaveProperty('applicant')
    expect(made({ type: 'submit', id: ID, details: detailsOf() }, approve())).not.toHaveProperty('applicant')
  })

  it('of an approval: what was submitted, and a first secret', () => {
    const outcome = ask(SITUATIONS.pending, approve(1, ['repo-code:r']), NOW + 9)
    expect(outcome.type === 'done' && outcome.application).toStrictEqual({
      v: 1,
      id: 'web',
      clientId: 'web',
      state: 'approved',
      applicant: 'ada',
      revision: 1,
      createdAt: NOW,
      approvedAt: NOW + 9,
      secrets: [{ digest: digest(1) }],
      ...detailsOf({ scopes: ['repo-code:r'], reasons: { 'repo-code:r': 'To push' } }),
    })
  })

  it('keeps the reasons of the scopes that were approved, each by its scope', () => {
    const reasons = { 'repo-code:rw': 'To push', 'account-profile:r': 'To greet' }
    const asked = made(submit(detailsOf({ reasons })))
    const reasonsAfter = (scopes?: readonly Scope[]) => {
      const outcome = ask(asked, approve(1, scopes))
      return outcome.type === 'done' && isPublished(outcome.application) && outcome.application.reasons
    }
    expect(reasonsAfter()).toStrictEqual(reasons)
    expect(reasonsAfter(['account-profile:r'])).toStrictEqual({ 'account-profile:r': 'To greet' })
    expect(reasonsAfter(['repo-code:r'])).toStrictEqual({ 'repo-code:r': 'To push' })
  })

  it('of a refusal: the reason, and when', () => {
    const rejected = {
      state: 'rejected',
      revision: 1,
      submittedAt: NOW,
      rejectedAt: NOW + 9,
      reason: 'Too much',
      details: detailsOf(),
    }
    const outcome = ask(SITUATIONS.pending, reject(), NOW + 9)
    expect(outcome.type === 'done' && outcome.application).toStrictEqual({
      ...SITUATIONS.pending,
      state: 'rejected',
      review: rejected,
    })
  })

  it('of a change and its refusal: what is in force stays as it is beside it', () => {
    const details = detailsOf({ name: 'Renamed', logo: 'logo-2' })
    const changed = ask(SITUATIONS.approved, change(details), NOW + 3)
    const review = { state: 'pending', revision: 2, submittedAt: NOW + 3, details }
    if (changed.type !== 'done') expect.fail(changed.type)
    expect(changed.application).toStrictEqual({ ...SITUATIONS.approved, revision: 2, review })
    const rejected = ask(changed.application, reject(2), NOW + 4)
    expect(rejected.type === 'done' && rejected.application).toStrictEqual({
      ...SITUATIONS.approved,
      revision: 2,
      review: { ...review, state: 'rejected', rejectedAt: NOW + 4, reason: 'Too much' },
    })
  })

  it('keeps the reasons of scopes that the service has taken out of its catalogue meanwhile', () => {
    const asked = submit({ scopes: ['repo-code:rw'], reasons: { 'repo-code:rw': 'To mirror.' } })
    const outcome = ask(made(asked), { ...approve(), catalogue: scopeCatalogue([]) } as ApplicationCommand) // an approval
    expect(outcome).toMatchObject({ application: { reasons: { 'repo-code:rw': 'To mirror.' } } })
  })

  it('of an approved change has nothing of what was in force before, and the secrets that there were', () => {
    const { authorizedDomain, ...details } = detailsOf({ name: 'Native now', redirectUris: ['http://127.0.0.1/'] })
    expect(authorizedDomain).toBeDefined()
    const before = published(submit({ description: 'gone' }), approve(), rotate(2, 60))
    const outcome = ask(made(submit({ description: 'gone' }), approve(), rotate(2, 60), { type: 'change', details }), {
      type: 'approve',
      catalogue: serviceScopes(),
      revision: 2,
      secretDigest: digest('unused'),
    })
    expect(outcome.type === 'done' && outcome.application).toStrictEqual({
      v: 1,
      id: 'web',
      clientId: 'web',
      state: 'approved',
      applicant: 'ada',
      revision: 2,
      createdAt: NOW,
      approvedAt: NOW,
      secrets: before.secrets,
      ...details,
    })
  })

  it('a change without a logo keeps the one that waits, or else the one in force, never a refused one', () => {
    const { logo, ...without } = detailsOf()
    expect(logo).toBe('logo-1')
    const bare: ApplicationCommand = { type: 'change', details: without }
    const logoAfter = (...commands: readonly ApplicationCommand[]) => made(...commands, bare).review?.details.logo
    expect(logoAfter(submit())).toBe('logo-1')
    expect(logoAfter(submit(), change({ logo: 'logo-2' }))).toBe('logo-2')
    expect(logoAfter(submit(), approve())).toBe('logo-1')
    expect(logoAfter(submit(), approve(), change({ logo: 'logo-2' }))).toBe('logo-2')
    expect(logoAfter(submit(), approve(), change({ logo: 'logo-2' }), approve(2))).toBe('logo-2')
    expect(logoAfter(submit(), approve(), change({ logo: 'logo-2' }), reject(2))).toBe('logo-1')
  })

  it('needs the logos in force and in review, none of what was refused; and is in these lists', () => {
    const renamed = { name: 'Renamed', logo: 'logo-2' }
    const approved = [submit(), approve()]
    const changed = [...approved, change(renamed)]
    const anonymous = made({ type: 'submit', id: ID, details: detailsOf() })
    const table: readonly (readonly [Application | undefined, readonly string[], readonly string[]])[] = [
      [undefined, [], []],
      [anonymous, ['logo-1'], ['applications:pending']],
      [made(submit()), ['logo-1'], ['applications:pending', 'applicant:ada']],
      [made(submit(), reject()), [], ['applications:rejected', 'applicant:ada']],
      [made(...approved), ['logo-1'], ['applications:approved', 'applicant:ada']],
      [made(...approved, suspend), ['logo-1'], ['applications:suspended', 'applicant:ada']],
      [made(...changed), ['logo-1', 'logo-2'], ['applications:approved', 'applications:pending', 'applicant:ada']],
      [
        made(...changed, suspend),
        ['logo-1', 'logo-2'],
        ['applications:suspended', 'applications:pending', 'applicant:ada'],
      ],
      [made(...changed, reject(2)), ['logo-1'], ['applications:approved', 'applicant:ada']],
      [made(...changed, approve(2)), ['logo-2'], ['applications:approved', 'applicant:ada']],
    ]
    for (const [application, logos, labels] of table) {
      expect(logosOf(application)).toEqual(logos)
      expect(application === undefined ? [] : applicationLabels(application)).toEqual(labels)
    }
  })
})

/** One thing that happens in a history; a revision is counted from the newest one. */
type Step =
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'submit' | 'change'; readonly details: ApplicationDetails; readonly withLogo: boolean }
  | { readonly do: 'approve'; readonly back: number; readonly scopes: readonly Scope[] | undefined }
  | { readonly do: 'reject'; readonly back: number }
  | { readonly do: 'suspend' | 'reinstate' }
  | { readonly do: 'rotate'; readonly overlap: number }

/** Scopes in normal form, so that the parts of one are parts of another often enough. */
const SCOPES: readonly (readonly Scope[])[] = [
  ['repo-code:rw', 'account-profile:r'],
  ['repo-code:rw'],
  ['repo-code:r'],
  ['account-profile:r'],
  ['repo-code:r', 'account-profile:r'],
]
const someScopes = fc.constantFrom(...SCOPES)
const someDetails = fc.record({
  name: fc.constantFrom('One', 'Two', 'Three'),
  logo: fc.constantFrom('logo-1', 'logo-2', 'logo-3'),
  scopes: someScopes,
  type: fc.oneof(
    { weight: 9, arbitrary: fc.constant('confidential' as const) },
    { weight: 1, arbitrary: fc.constant('public' as const) },
  ),
})
const back = fc.oneof(
  { weight: 8, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: -1, max: 2 }) },
)
const handedIn = fc.record({ details: someDetails.map(detailsOf), withLogo: fc.boolean() })
const someStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(0, 1, 9, 10, 11, 100, -5) }),
  handedIn.map((given) => ({ do: 'submit', ...given }) as const),
  handedIn.map((given) => ({ do: 'change', ...given }) as const),
  fc.record({ do: fc.constant('approve' as const), back, scopes: fc.option(someScopes, { nil: undefined }) }),
  fc.record({ do: fc.constant('reject' as const), back }),
  fc.record({ do: fc.constantFrom('suspend' as const, 'reinstate' as const) }),
  fc.record({ do: fc.constant('rotate' as const), overlap: fc.constantFrom(0, 1, 10, 100, 10_000) }),
)

/** Most often it begins with a submission that is soon approved, since little can happen otherwise. */
const someHistory: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.constantFrom<readonly Step[]>(
      [],
      [{ do: 'submit', details: detailsOf(), withLogo: true }],
      [
        { do: 'submit', details: detailsOf(), withLogo: true },
        { do: 'approve', back: 0, scopes: undefined },
      ],
      [
        { do: 'submit', details: detailsOf(), withLogo: true },
        { do: 'approve', back: 0, scopes: undefined },
        ...Array.from({ length: 6 }, () => ({ do: 'rotate', overlap: 100 }) as const),
      ],
    ),
    fc.array(someStep, { maxLength: 40 }),
  )
  .map(([beginning, rest]) => [...beginning, ...rest])

interface Reviewed {
  readonly revision: number
  readonly at: number
  readonly details: ApplicationDetails
  refusedAt?: number
}

/**
 * The model: an application as the diagram and the words of section 1 have it. It knows what it is told and when, and
 * makes no record.
 */
function applicationLife() {
  let place: 'nowhere' | 'pending' | 'approved' | 'suspended' | 'rejected' = 'nowhere'
  let revisions = 0
  let createdAt = 0
  let inForce: { readonly details: ApplicationDetails; readonly since: number } | undefined
  let review: Reviewed | undefined
  /** Every secret that there ever was, and when it ends. */
  const secrets: { readonly secret: number; end: number }[] = []

  const waits = (): boolean => review !== undefined && review.refusedAt === undefined
  const live = (): boolean => place === 'approved' || place === 'suspended'

  return {
    get place() {
      return place
    },
    get inForce() {
      return inForce
    },
    get revisions() {
      return revisions
    },
    secrets,

    submit(details: ApplicationDetails, now: number): ApplicationRefusal | 'done' {
      if (place !== 'nowhere') return 'exists'
      place = 'pending'
      createdAt = now
      review = { revision: ++revisions, at: now, details }
      return 'done'
    },

    change(details: ApplicationDetails, withLogo: boolean, now: number): ApplicationRefusal | 'done' {
      if (place === 'nowhere') return 'unknown'
      if (place === 'rejected') return 'state'
      if (inForce !== undefined && inForce.details.type !== details.type) return 'type'
      const base = waits() ? review?.details : inForce?.details
      const logo = withLogo ? details.logo : (base?.logo ?? 'no logo')
      review = { revision: ++revisions, at: now, details: { ...details, logo } }
      return 'done'
    },

    approve(
      revision: number,
      scopes: readonly Scope[] | undefined,
      secret: number,
      now: number,
    ): ApplicationRefusal | 'done' {
      if (place === 'nowhere') return 'unknown'
      if (review === undefined || !waits()) return 'state'
      if (revision !== review.revision) return 'outdated'
      if (scopes !== undefined && !coversScopes(review.details.scopes, scopes, serviceScopes())) return 'scopes'
      if (place === 'pending') {
        place = 'approved'
        if (review.details.type === 'confidential') secrets.push({ secret, end: Number.POSITIVE_INFINITY })
      }
      const granted = scopes ?? review.details.scopes
      inForce = {
        details: { ...review.details, scopes: granted, reasons: reasonsOf(granted, review.details.reasons) },
        since: now,
      }
      review = undefined
      return 'done'
    },

    reject(revision: number, now: number): ApplicationRefusal | 'done' {
      if (place === 'nowhere') return 'unknown'
      if (review === undefined || !waits()) return 'state'
      if (revision !== review.revision) return 'outdated'
      review.refusedAt = now
      if (place === 'pending') place = 'rejected'
      return 'done'
    },

    move(to: 'approved' | 'suspended'): ApplicationRefusal | 'done' | 'unchanged' {
      if (place === 'nowhere') return 'unknown'
      if (!live()) return 'state'
      if (place === to) return 'unchanged'
      place = to
      return 'done'
    },

    rotate(secret: number, overlap: number, now: number): ApplicationRefusal | 'done' {
      if (place === 'nowhere') return 'unknown'
      if (!live() || inForce?.details.type === 'public') return 'state'
      const ends = secrets.map((each) => (now < each.end ? Math.min(each.end, now + overlap) : 0))
      if (ends.filter((end) => now < end).length > 7) return 'secrets'
      secrets.forEach((each, index) => {
        const end = ends[index] ?? 0
        each.end = now < end ? end : 0
      })
      secrets.push({ secret, end: Number.POSITIVE_INFINITY })
      return 'done'
    },

    /** What the record must say of it. */
    record(): unknown {
      if (place === 'nowhere') return undefined
      const head = { v: 1, id: 'web', state: place, applicant: 'ada', revision: revisions, createdAt }
      const reviewed = review !== undefined && {
        review: {
          revision: review.revision,
          submittedAt: review.at,
          details: review.details,
          ...(review.refusedAt === undefined
            ? { state: 'pending' }
            : { state: 'rejected', rejectedAt: review.refusedAt, reason: 'Too much' }),
        },
      }
      if (inForce === undefined) return { ...head, ...reviewed }
      return { ...head, clientId: 'web', approvedAt: inForce.since, ...inForce.details, ...reviewed }
    },
  }
}

/** In these histories there is a reason for `repo-code:rw` at most. */
function reasonsOf(scopes: readonly Scope[], asked: Readonly<Record<string, string>>): Record<string, string> {
  const why = asked['repo-code:rw']
  const scope = scopes.find((each) => each.startsWith('repo-code:'))
  return why === undefined || scope === undefined ? {} : { [scope]: why }
}

type Life = ReturnType<typeof applicationLife>

/** What was asked at a moment, what came of it, and what the model said to it. */
interface Moment {
  readonly step: Exclude<Step, { readonly do: 'wait' }>
  readonly now: number
  readonly before: Application | undefined
  readonly outcome: ApplicationOutcome
  readonly expected: ApplicationRefusal | 'done' | 'unchanged'
}

/** Plays a history on the transitions and on the model, and shows every moment of it. */
function play(
  steps: readonly Step[],
  look: (moment: Moment, life: Life, application: Application | undefined) => void,
): void {
  const life = applicationLife()
  let application: Application | undefined
  let now = NOW
  let secret = 0
  for (const step of steps) {
    if (step.do === 'wait') {
      now += step.seconds
      continue
    }
    const before = application
    secret++
    const [command, expected] = ((): [ApplicationCommand, Moment['expected']] => {
      switch (step.do) {
        case 'submit':
          return [submit(step.details), life.submit(step.details, now)]
        case 'change': {
          const { logo, ...details } = step.details
          const given = step.withLogo ? { ...details, logo } : details
          return [{ type: 'change', details: given }, life.change(step.details, step.withLogo, now)]
        }
        case 'approve': {
          const revision = life.revisions - step.back
          return [approve(revision, step.scopes, secret), life.approve(revision, step.scopes, secret, now)]
        }
        case 'reject': {
          const revision = life.revisions - step.back
          return [reject(revision), life.reject(revision, now)]
        }
        case 'suspend':
          return [suspend, life.move('suspended')]
        case 'reinstate':
          return [reinstate, life.move('approved')]
        case 'rotate':
          return [rotate(secret, step.overlap), life.rotate(secret, step.overlap, now)]
      }
    })()
    const outcome = ask(application, command, now)
    if (outcome.type === 'done') application = outcome.application
    look({ step, now, before, outcome, expected }, life, application)
  }
}

/** Names an outcome as the model does. */
function saidBy(outcome: ApplicationOutcome): string {
  if (outcome.type === 'refused') return outcome.refusal
  if (outcome.type === 'removed') return 'removed'
  return outcome.event === undefined ? 'unchanged' : 'done'
}

function withoutSecrets(application: Application | undefined): unknown {
  if (!isPublished(application)) return application
  const { secrets, ...record } = application
  return record
}

describe('any history', () => {
  it('goes as the model says: each answer, and the whole record after it', () => {
    const answers = new Set<string>()
    fc.assert(
      fc.property(someHistory, (steps) => {
        const unchanged: Record<'before' | 'application', Application | undefined>[] = []
        play(steps, ({ outcome, expected, before }, life, application) => {
          answers.add(expected)
          expect(saidBy(outcome)).toBe(expected)
          if (expected === 'unchanged') unchanged.push({ before, application })
          expect(withoutSecrets(application)).toStrictEqual(life.record())
        })
        for (const { before, application } of unchanged) expect(application).toEqual(before)
      }),
      { numRuns: 500 },
    )
    expect([...answers].sort()).toEqual(
      ['done', 'exists', 'outdated', 'scopes', 'secrets', 'state', 'type', 'unchanged', 'unknown'].sort(),
    )
  })

  it('leads along the arrows of the diagram alone', () => {
    const arrows = new Set<string>()
    fc.assert(
      fc.property(someHistory, (steps) => {
        play(steps, ({ step, before }, _, application) => {
          if (before?.state !== application?.state) arrows.add(`${before?.state} -${step.do}-> ${application?.state}`)
        })
      }),
      { numRuns: 250 },
    )
    expect([...arrows].sort()).toEqual([
      'approved -suspend-> suspended',
      'pending -approve-> approved',
      'pending -reject-> rejected',
      'suspended -reinstate-> approved',
      'undefined -submit-> pending',
    ])
  })

  it('changes what is in force by an approval alone, of the very revision that waits, and never beyond what was asked for', () => {
    const inForceOf = (application: Application | undefined) => {
      if (!isPublished(application)) return undefined
      const { review, state, secrets, revision, ...rest } = application
      return rest
    }
    fc.assert(
      fc.property(someHistory, (steps) => {
        play(steps, ({ step, before }, _, application) => {
          if (step.do !== 'approve' || before === application) {
            expect(inForceOf(application)).toStrictEqual(inForceOf(before))
            return
          }
          if (!isPublished(application)) return expect.fail('approved, and not in force')
          expect(before?.review).toMatchObject({ state: 'pending', revision: before?.revision ?? 0 })
          expect(step.back).toBe(0)
          const { scopes = [], reasons: __, ...asked } = before?.review?.details ?? {}
          expect(coversScopes(scopes, application.scopes, serviceScopes())).toBe(true)
          expect(application).toMatchObject(asked)
        })
      }),
      { numRuns: 250 },
    )
  })

  it('is JSON at every moment, and counts what was handed in', () => {
    fc.assert(
      fc.property(someHistory, (steps) => {
        let handedIn = 0
        play(steps, ({ step, outcome }, _, application) => {
          if (outcome.type === 'done' && (step.do === 'submit' || step.do === 'change')) handedIn++
          expect(application?.revision ?? 0).toBe(handedIn)
          expect(JSON.parse(JSON.stringify({ application }))).toStrictEqual(
            application === undefined ? {} : { application },
          )
        })
      }),
      { numRuns: 200 },
    )
  })

  it('[22] at every moment and second, the secrets of the model are believed, and no others; never more than 8', () => {
    let most = 0
    fc.assert(
      fc.property(someHistory, (steps) => {
        play(steps, ({ now }, life, application) => {
          const count = isPublished(application) ? application.secrets.length : 0
          expect(count).toBeLessThanOrEqual(8)
          most = Math.max(most, count)
          const ends = life.secrets.map(({ end }) => end).filter(Number.isFinite)
          const moments = [now, now + 1, ...ends.flatMap((end) => [end - 1, end, end + 1])]
          for (const at of moments.filter((each) => each >= now)) {
            for (const { secret, end } of life.secrets)
              expect([secret, at - now, hasSecret(application, digest(secret), at)]).toEqual([
                secret,
                at - now,
                at < end,
              ])
          }
          expect(hasSecret(application, digest('nobody’s'), now)).toBe(false)
        })
      }),
      { numRuns: 300 },
    )
    expect(most).toBe(8)
  })
})

describe('secrets that are rotated', () => {
  const fresh = published(submit(), approve())

  /** Rotates one after the other, each at its time. */
  function rotated(
    ...turns: readonly (readonly [secret: number, overlap: number, at: number])[]
  ): PublishedApplication {
    let application = fresh
    for (const [secret, overlap, at] of turns) {
      const outcome = ask(application, rotate(secret, overlap), NOW + at)
      if (outcome.type !== 'done' || !isPublished(outcome.application)) return expect.fail('not rotated')
      application = outcome.application
    }
    return application
  }

  const working = (application: Application, at: number, secrets: readonly number[] = [1, 2, 3, 4]) =>
    secrets.filter((secret) => hasSecret(application, digest(secret), NOW + at))

  it('[22] old and new work together for the overlap, to the second', () => {
    const application = rotated([2, 100, 10])
    expect(application.secrets).toStrictEqual([{ digest: digest(2) }, { digest: digest(1), expiresAt: NOW + 110 }])
    expect(working(application, 10)).toEqual([1, 2])
    expect(working(application, 109)).toEqual([1, 2])
    expect(working(application, 110)).toEqual([2])
    expect(working(application, 1e9)).toEqual([2])
  })

  it('[22] an overlap of 0 ends every older one at once, and for good where a clock steps back', () => {
    const application = rotated([2, 100, 0], [3, 100, 1], [4, 0, 2])
    expect(application.secrets).toStrictEqual([{ digest: digest(4) }])
    for (const at of [2, 1, 0, -1000]) expect(working(application, at)).toEqual([4])
  })

  it('[22] an overlap of 1 second is one second', () => {
    const application = rotated([2, 1, 0])
    expect([working(application, 0), working(application, 1)]).toEqual([[1, 2], [2]])
  })

  it('[22] an older one keeps what it had left where the new overlap is longer, and no more than the new one where it is shorter', () => {
    const longer = rotated([2, 100, 0], [3, 1000, 50])
    expect([99, 100, 1049, 1050].map((at) => working(longer, at))).toEqual([[1, 2, 3], [2, 3], [2, 3], [3]])
    const shorter = rotated([2, 1000, 0], [3, 10, 50])
    expect([59, 60].map((at) => working(shorter, at))).toEqual([[1, 2, 3], [3]])
  })

  it('the same secret twice changes nothing, and a wish that comes late brings no older one back', () => {
    const before = rotated([2, 100, 0], [3, 50, 1])
    for (const [secret, at] of [
      [3, 2],
      [2, 2],
      [1, 2],
      [2, 1000],
    ] as const) {
      const outcome = ask(before, rotate(secret, 500), NOW + at)
      expect(outcome.type === 'done' && outcome.application).toBe(before)
    }
  })

  it('[22] as many as 8 work at once; one more has to wait until the second in which one ends', () => {
    expect(SECRETS_KEPT).toBe(8)
    const eight = rotated(...[2, 3, 4, 5, 6, 7, 8].map((secret, index) => [secret, 100, index] as const))
    const all = [1, 2, 3, 4, 5, 6, 7, 8]
    expect(working(eight, 7, all)).toEqual(all)
    expect(eight.secrets).toHaveLength(8)
    expect(ask(eight, rotate(9, 100), NOW + 99)).toStrictEqual({ type: 'refused', refusal: 'secrets' })
    const ninth = ask(eight, rotate(9, 100), NOW + 100)
    if (ninth.type !== 'done') expect.fail(ninth.type)
    expect(working(ninth.application, 100, [...all, 9])).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    const without = ask(eight, rotate(9, 0), NOW + 7)
    expect(without.type === 'done' && working(without.application, 7, [...all, 9])).toEqual([9])
  })

  it('[22] of a suspended application they are rotated too, and a change that waits stays', () => {
    for (const more of [[suspend], [change()], [suspend, change()]]) {
      const before = published(submit(), approve(), ...more)
      const outcome = ask(before, rotate(2, 10))
      const secrets = [{ digest: digest(2) }, { digest: digest(1), expiresAt: NOW + 10 }]
      expect(outcome.type === 'done' && outcome.application).toStrictEqual({ ...before, secrets })
    }
  })
})

describe('whose secret it is', () => {
  const confidential = published(submit(), approve())
  const rotating = published(submit(), approve(), rotate(2, 100), rotate(3, 50))
  const open = published(submit({ type: 'public' }), approve())
  const nobody: readonly (Application | undefined)[] = [undefined, SITUATIONS.pending, SITUATIONS.rejected, open]

  it('[22] the right secret is believed, no other one, and none where there is no application in force or no secret', () => {
    expect(hasSecret(confidential, digest(1), NOW)).toBe(true)
    expect(hasSecret({ ...confidential, state: 'suspended' }, digest(1), NOW)).toBe(true)
    expect([1, 2, 3].map((secret) => hasSecret(rotating, digest(secret), NOW))).toEqual([true, true, true])
    fc.assert(
      fc.property(anyText(), (text) => {
        const presented = digestOf(portableDigests, text)
        expect(hasSecret(confidential, presented, NOW)).toBe(text === 'secret 1')
        for (const application of nobody) expect(hasSecret(application, presented, NOW)).toBe(false)
      }),
    )
    for (const application of nobody) expect(hasSecret(application, digest(1), NOW)).toBe(false)
  })

  it('[22] nothing that stands in for a missing secret is ever believed', () => {
    const stands = ['-'.repeat(43), '', '\0'.repeat(43), 'undefined'] as Digest[] // not even what no digest function gives
    for (const stand of stands) {
      for (const application of [...nobody, confidential, rotating]) {
        for (const now of [NOW, 0]) expect(hasSecret(application, stand, now)).toBe(false)
      }
    }
  })

  it('[22] every character of every secret is compared exactly once, the same for a wrong one, a right one, an expired one, no secret and no application', () => {
    const everyPlace = Array.from({ length: 43 }, (_, index) => index)
    const right = digest(1)
    const wrongAt = everyPlace.map((at) => right.slice(0, at) + (right[at] === 'A' ? 'B' : 'A') + right.slice(at + 1))
    for (const application of [confidential, rotating, ...nobody]) {
      for (const presented of [right, digest(2), digest(3), digest('wrong'), ...wrongAt]) {
        for (const now of [NOW, NOW + 50, NOW + 100]) {
          const counted = new Counted(presented)
          const until = application === rotating ? [50, 50, undefined] : [undefined]
          const known = application === rotating || application === confidential
          const place = [digest(1), digest(2), digest(3)].indexOf(presented as Digest) // one of them, or none
          const expected = known && place >= 0 && place < until.length && now - NOW < (until[place] ?? 1e9)
          expect(hasSecret(application, counted.text as Digest, now)).toBe(expected) // stands in for one
          expect(counted.visited).toEqual(
            application === rotating ? [...everyPlace, ...everyPlace, ...everyPlace] : everyPlace,
          )
        }
      }
    }
  })
})

describe('2.1 the resource scope of a grant, once its application has another', () => {
  const granted: readonly Resources[] = [
    { kind: 'all' },
    { kind: 'public' },
    { kind: 'specified', ids: ['a', 'b'] },
    { kind: 'specified', ids: [] },
  ]
  const NOTHING: Resources = { kind: 'specified', ids: [] }

  it.each([
    ['all', granted],
    ['public', [{ kind: 'public' }, { kind: 'public' }, granted[2], granted[3]]],
    ['specified', [NOTHING, NOTHING, granted[2], granted[3]]],
  ] as const)(
    'registered for %s, it is the narrower of both; of all and of public ones, nobody specified any',
    (registered, ends) => {
      expect(granted.map((resources) => limitResources(frozen(resources), registered))).toStrictEqual(ends)
    },
  )

  it('limiting twice, and by what is wider than a limit before, is limiting once', () => {
    const width: { readonly [Scope in ResourceScope]: number } = { specified: 0, public: 1, all: 2 }
    for (const resources of granted) {
      for (const one of ['all', 'public', 'specified'] as const) {
        const limited = limitResources(resources, one)
        expect(width[limited.kind]).toBeLessThanOrEqual(Math.min(width[one], width[resources.kind]))
        const wider = (['all', 'public', 'specified'] as const).filter((other) => width[other] >= width[one])
        for (const other of wider) expect(limitResources(limited, other)).toStrictEqual(limited)
      }
    }
  })
})

describe('RFC 7662, 2.1 an API that may ask', () => {
  const api: Partial<ApplicationDetails> = { redirectUris: [], logo: '', resourceServer: true }
  const registered = published(submit(api), approve())

  it('[42] is what was registered as one, approved or suspended, and nothing else', () => {
    expect(registered).toMatchObject({ state: 'approved', resourceServer: true, secrets: [{ digest: digest(1) }] })
    expect(isResourceServer(registered)).toBe(true)
    expect(isResourceServer(made(submit(api), approve(), suspend))).toBe(true)
    expect(isResourceServer(made(submit(api), approve(), suspend, reinstate))).toBe(true)
    expect(isResourceServer(made(submit(api), approve(), rotate(2, 60)))).toBe(true)
    const others = Object.values(SITUATIONS).filter((application) => application !== undefined)
    for (const application of others) expect(isResourceServer(application)).toBe(false)
    // Nobody has approved it, or somebody has said no.
    expect(isResourceServer(made(submit(api)))).toBe(false)
    expect(isResourceServer(made(submit(api), reject()))).toBe(false)
  })

  it('[42] no application becomes one by a change, nor by what a polluted prototype has', () => {
    const changed = published(submit(), approve(), change(), approve(2))
    const polluted = { value: true, configurable: true, enumerable: true, writable: true }
    for (const application of [changed, SITUATIONS.approved]) {
      const inherits: Application = Object.assign(Object.create({ resourceServer: true }), application)
      Object.defineProperty(Object.prototype, 'resourceServer', polluted)
      const again = transitionApplication(SITUATIONS['approved, change pending'], approve(2), NOW)
      const found = [inherits, application, again.type === 'done' ? again.application : undefined].map(
        (each) => each !== undefined && isResourceServer(each),
      )
      Reflect.deleteProperty(Object.prototype, 'resourceServer')
      expect([again.type, found]).toEqual(['done', [false, false, false]])
    }
  })

  it('[42] is not changed, approved again, refused or given away: nobody handed it in', () => {
    for (const application of [registered, made(submit(api), approve(), suspend)]) {
      for (const details of [{}, api, { scopes: ['repo-delete:rw'] }] as const)
        expect(ask(application, change(details))).toStrictEqual({ type: 'refused', refusal: 'state' })
      const given: ApplicationCommand[] = [
        { type: 'transfer', applicant: 'grace' },
        { type: 'set_terms', terms: { accessTokenLifetime: 60 } },
      ]
      for (const command of [approve(1), approve(2), reject(1), ...given])
        expect(ask(application, command)).toStrictEqual({ type: 'refused', refusal: 'state' })
    }
  })

  it('[22] has its secrets rotated, is suspended and reinstated as an application is', () => {
    const rotated = ask(registered, rotate(2, 60), NOW + 1)
    expect(rotated).toMatchObject({
      type: 'done',
      application: { ...registered, secrets: [{ digest: digest(2) }, { digest: digest(1), expiresAt: NOW + 61 }] },
      event: { change: 'secret_rotated' },
    })
    expect(ask(registered, suspend)).toMatchObject({ application: { ...registered, state: 'suspended' } })
    expect(ask(registered, reinstate)).toStrictEqual({ type: 'done', application: registered })
    expect(ask(registered, submit(api))).toStrictEqual({ type: 'refused', refusal: 'exists' })
    expect(applicationLabels(registered)).toEqual(['applications:approved', 'applicant:ada'])
  })
})

describe('5.2 the token type of an application', () => {
  it('is in force from its approval on, and a change that does not say it takes it back', () => {
    expect(published(submit({ tokenType: 'mac' }), approve()).tokenType).toBe('mac')
    const waiting = published(submit(), approve(), change({ tokenType: 'mac' }))
    expect([waiting.tokenType, waiting.review?.details.tokenType]).toEqual([undefined, 'mac'])
    expect(published(submit(), approve(), change({ tokenType: 'mac' }), approve(2)).tokenType).toBe('mac')
    const back = published(submit({ tokenType: 'mac' }), approve(), change(), approve(2))
    expect(back).not.toHaveProperty('tokenType')
  })
})
