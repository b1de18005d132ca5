/**
 * The device flow as a state machine: every command in every state, a model of RFC 8628 beside it, and what holds in
 * whatever order things come.
 * @module
 * @see Specification, section 4.5; RFC 8628, sections 3.1 to 3.5
 */

import * as fc from 'fast-check'
import type { Scope } from 'grantwell'
import { portableDigests } from 'grantwell'
import type {
  Credential,
  CredentialKind,
  GrantCommand,
  GrantOutcome,
  GrantRecord,
  GrantReplies,
  GrantRules,
  IssuedDeviceCode,
  IssuedTokens,
} from 'grantwell/core'
import { clientKeyOf, inspect, isGrant, parseCredential, retention, transition } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { describe, expect, it } from 'vitest'
import { macKeyOf } from '../../src/core/credentials/mac.js'
import { serviceScopes } from '../../src/core/scopes/service-scopes.js'
import { clientIdOf, entropyOf, GRANT_ID, secretWith, strangeSecret } from './histories.js'

const START = 1_800_000_000
const LIFETIME = 600
const INTERVAL = 5
/** For so long a poll that comes too late is told so. */
const LATE = 300

const RULES: GrantRules = {
  catalogue: serviceScopes(),
  codeLifetime: 600,
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  refreshReplay: 'revoke',
  deviceCodeLifetime: LIFETIME,
  devicePollingInterval: INTERVAL,
  digests: nodeDigests,
}

const TV = clientIdOf('tv')
const ANOTHER = clientIdOf('another')
const ASKED: readonly Scope[] = ['repo-code:rw', 'account-profile:r']
const REDIRECT_URI = 'https://tv.example/callback'

const REQUEST: GrantCommand & { readonly type: 'request_device' } = {
  type: 'request_device',
  grantId: GRANT_ID,
  clientId: TV,
  clientKey: clientKeyOf(nodeDigests, TV),
  scopes: ASKED,
}

const decision = (
  what: 'agree' | 'refuse',
  subject = 'ada',
  scopes = ASKED,
): GrantCommand & { readonly type: 'decide' } => ({
  type: 'decide',
  decision: what,
  subject,
  scopes,
  resources: what === 'agree' ? { kind: 'all' } : { kind: 'specified', ids: [] },
})

const APPROVAL: GrantCommand = {
  type: 'approve',
  grantId: GRANT_ID,
  clientId: TV,
  clientKey: clientKeyOf(nodeDigests, TV),
  subject: 'ada',
  scopes: ASKED,
  resources: { kind: 'all' },
  redirectUri: REDIRECT_URI,
  formExpiresAt: START + 600,
  formSecret: new Uint8Array(32),
}

type Answer<Asked extends GrantCommand> = GrantOutcome<GrantReplies[Asked['type']], GrantRecord>

/** One record, the clock beside it, and what everybody got. */
class Device {
  now = START
  record: GrantRecord | undefined
  /** What the device code is; one of the browser flow where there is none. */
  code: Credential = credential('device_code', strangeSecret(-9))
  readonly pairs: IssuedTokens[] = []
  readonly events: string[] = []
  private sent = 0

  constructor(readonly rules: GrantRules = RULES) {}

  send<Asked extends GrantCommand>(command: Asked): Answer<Asked> {
    const outcome: Answer<Asked> = transition(this.record, command, this.now, entropyOf(this.sent++), this.rules)
    if (outcome.grant !== undefined) this.record = outcome.grant
    const { reply } = outcome
    if (reply.type === 'device_code') this.code = read(reply.deviceCode)
    if (reply.type === 'code') this.code = read(reply.code)
    if (reply.type === 'tokens') this.pairs.push(reply)
    for (const { type } of outcome.events) this.events.push(type)
    return outcome
  }

  /** Shows the device code, perhaps as another kind of credential than it is. */
  shown(kind: CredentialKind = this.code.kind): Credential {
    return { ...this.code, kind }
  }

  poll(clientId = TV): Answer<GrantCommand & { readonly type: 'poll' }> {
    return this.send({ type: 'poll', credential: this.shown(), clientId, registered: ASKED })
  }

  pass(seconds: number): this {
    this.now += seconds
    return this
  }
}

function credential(kind: CredentialKind, secret: string): Credential {
  return { kind, clientKey: REQUEST.clientKey, grantId: GRANT_ID, secret }
}

function read(text: string): Credential {
  return parseCredential(text) ?? expect.fail(`no credential: ${text}`)
}

/** What an answer says, in a word: the wire's error and the audit trail's reason, or what was given. */
function said({ reply }: { readonly reply: { readonly type: string } }): string {
  const { code, reason } = reply as { readonly code?: string; readonly reason?: string } // where it has them
  return [reply.type === 'error' ? code : reply.type, reason].filter(Boolean).join(': ')
}

function requested(): Device {
  const device = new Device()
  device.send(REQUEST)
  return device
}

function decided(what: 'agree' | 'refuse'): Device {
  const device = requested()
  device.pass(30).send(decision(what))
  return device
}

function redeemed(): Device {
  const device = decided('agree')
  device.poll()
  return device
}

describe('a device’s request (RFC 8628, section 3.2)', () => {
  it('is answered with a code of 32 secret bytes, of which the record has the digest alone', () => {
    const device = new Device()
    const { reply, grant, events } = device.send(REQUEST)
    const secret = secretWith(entropyOf(0).subarray(0, 32))
    expect(reply).toStrictEqual({
      type: 'device_code',
      deviceCode: expect.stringMatching(/^gwd_[\w-]{81}$/),
      expiresIn: LIFETIME,
      interval: INTERVAL,
    } satisfies IssuedDeviceCode)
    expect(device.code).toStrictEqual({
      kind: 'device_code',
      clientKey: REQUEST.clientKey,
      grantId: GRANT_ID,
      secret,
    })
    expect(grant).toStrictEqual({
      v: 1,
      id: GRANT_ID,
      clientId: TV,
      scopes: ASKED,
      createdAt: START,
      keepUntil: START + LIFETIME + LATE,
      code: { digest: nodeDigests.sha256(secret), expiresAt: START + LIFETIME, interval: INTERVAL },
    })
    expect(events).toStrictEqual([
      { type: 'device_requested', at: START, grantId: GRANT_ID, clientId: TV, scopes: ASKED },
    ])
  })

  it('is the same with the portable digests', () => {
    const of = (digests: GrantRules['digests']) =>
      transition(undefined, REQUEST, START, entropyOf(0), { ...RULES, digests })
    expect(of(portableDigests)).toStrictEqual(of(nodeDigests))
  })

  it.each([1, 60, LIFETIME, 86_400])(
    'is kept for five minutes longer than the code lives, so that a late poll hears that it expired: %i s',
    (deviceCodeLifetime) => {
      const device = new Device({ ...RULES, deviceCodeLifetime })
      device.send(REQUEST)
      expect(isGrant(device.record)).toBe(false)
      expect(retention(device.record ?? expect.fail())).toBe(START + deviceCodeLifetime + LATE)
      expect(said(device.pass(deviceCodeLifetime + LATE - 1).poll())).toBe('expired_token: credential_expired')
    },
  )
})

describe('a user’s decision (RFC 8628, section 3.3)', () => {
  it('to agree makes the grant, with what the user was shown and chose; tokens follow at the next poll', () => {
    const device = requested().pass(20)
    const narrower: readonly Scope[] = ['account-profile:r']
    const resources = { kind: 'specified', ids: ['repo/1'] } as const
    const { reply, grant, events } = device.send({ ...decision('agree', 'ada', narrower), resources })
    expect(reply).toStrictEqual({ type: 'decided' })
    expect(grant).toStrictEqual({
      v: 1,
      id: GRANT_ID,
      clientId: TV,
      subject: 'ada',
      scopes: narrower,
      resources,
      createdAt: START + 20,
      keepUntil: START + LIFETIME + LATE,
      code: { digest: expect.any(String), expiresAt: START + LIFETIME, interval: INTERVAL },
      pairs: [],
      retired: [],
    })
    const who = { at: START + 20, grantId: GRANT_ID, clientId: TV, subject: 'ada' }
    expect(events).toStrictEqual([{ type: 'issued', scopes: narrower, resources, ...who }])
    const polled = device.pass(1).poll()
    expect(polled.reply).toStrictEqual({
      type: 'tokens',
      accessToken: expect.stringMatching(/^gwa_/),
      refreshToken: expect.stringMatching(/^gwr_/),
      expiresIn: 28_800,
      scopes: narrower,
    })
    expect(polled.events).toStrictEqual([{ type: 'exchanged', scopes: narrower, ...who, at: START + 21 }])
    expect(polled.grant).toMatchObject({ code: { usedAt: START + 21 }, lastUsedAt: START + 21 })
  })

  it('to refuse ends it: the device hears access_denied, as often as it asks, and nothing is written any more', () => {
    const device = requested().pass(20)
    const { grant, events } = device.send(decision('refuse'))
    expect(grant).toMatchObject({ revokedAt: START + 20, pairs: [] })
    expect(events).toStrictEqual([
      { type: 'device_refused', at: START + 20, grantId: GRANT_ID, clientId: TV, subject: 'ada' },
    ])
    for (const seconds of [0, 0, 1, 10]) {
      const polled = device.pass(seconds).poll()
      expect(said(polled)).toBe('access_denied: consent_refused')
      expect([polled.grant, polled.events]).toStrictEqual([undefined, []])
    }
  })

  it('counts in the last second of the code and not in the one behind it', () => {
    expect(
      said(
        requested()
          .pass(LIFETIME - 1)
          .send(decision('agree')),
      ),
    ).toBe('decided')
    expect(said(requested().pass(LIFETIME).send(decision('agree')))).toBe('invalid_request: user_code_unknown')
  })

  it('is taken once: whoever comes second, and whatever they want, is told what an unknown code is', () => {
    for (const first of ['agree', 'refuse'] as const) {
      const device = requested()
      device.send(decision(first))
      for (const second of ['agree', 'refuse'] as const) {
        const { grant, events, reply } = device.send(decision(second, 'eve'))
        expect([grant, events]).toStrictEqual([undefined, []])
        expect(reply).toStrictEqual(new Device().send(decision('agree')).reply)
      }
    }
  })
})

describe('a poll (RFC 8628, sections 3.4 and 3.5)', () => {
  const PENDING = 'authorization_pending: decision_pending'
  const SLOW = 'slow_down: polled_too_soon'

  it('[43] before the user decides is authorization_pending, again and again, an interval apart', () => {
    const device = requested()
    for (let count = 0; count < 10; count++) {
      expect(said(device.poll())).toBe(PENDING)
      expect(device.record?.code).toMatchObject({ interval: INTERVAL, polledAt: device.now })
      device.pass(INTERVAL)
    }
  })

  it('[43] too soon is slow_down, and from then on five seconds more must lie between two polls, for good', () => {
    const device = requested()
    device.poll()
    expect(said(device.pass(INTERVAL - 1).poll())).toBe(SLOW)
    expect(device.record?.code).toMatchObject({
      interval: 10,
      polledAt: device.now,
      tooSoon: { waited: INTERVAL - 1, slower: 0 },
    })
    expect(said(device.pass(8).poll())).toBe(SLOW)
    expect(said(device.pass(15).poll())).toBe(PENDING)
    expect(said(device.pass(12).poll())).toBe(SLOW)
    expect(said(device.pass(20).poll())).toBe(PENDING)
    expect(device.record?.code).toMatchObject({ interval: 20 })
  })

  it('[43] without an end never stops the growth: one that does not grow slower is believed nothing', () => {
    for (const waits of [[0], [4], [4, 9], [0, 4, 8, 12], [1, 6, 2, 7]]) {
      const device = requested()
      device.poll()
      for (let count = 1; count <= 30; count++) {
        expect(said(device.pass(waits[(count - 1) % waits.length] ?? 0).poll())).toBe(SLOW)
        expect(intervalOf(device.record)).toBe(INTERVAL + 5 * count)
      }
    }
  })

  /** The intervals after polls that were so long after the one before, all of them too soon. */
  function intervalsAfter(waits: readonly number[]): readonly number[] {
    const device = requested()
    device.poll()
    return waits.map((seconds) => {
      expect(said(device.pass(seconds).poll())).toBe(SLOW)
      return intervalOf(device.record)
    })
  }

  it.each([
    ['twice in a row: it stays, as long as it goes on', [4, 9, 14], [10, 15, 15]],
    ['by more than that, as well', [0, 6, 14], [10, 15, 15]],
    ['by a second less than that at first: not yet', [4, 8, 13, 18], [10, 15, 20, 20]],
    ['by a second less than that at last: not', [4, 9, 13, 18, 23], [10, 15, 20, 25, 25]],
    ['and then not any more: it grows again', [4, 9, 14, 14, 19, 24], [10, 15, 15, 20, 25, 25]],
    ['and faster in between: from the beginning', [4, 9, 3, 8, 13], [10, 15, 20, 25, 25]],
  ])('[43] too soon by a device that has waited five seconds longer than before, %s', (_how, waits, intervals) => {
    expect(intervalsAfter(waits)).toEqual(intervals)
  })

  it('[43] in time in between changes nothing of that', () => {
    const device = requested()
    device.poll()
    for (const [seconds, answer, interval] of [
      [4, SLOW, 10],
      [10, PENDING, 10],
      [9, SLOW, 15],
      [15, PENDING, 15],
      [14, SLOW, 15],
      [15, PENDING, 15],
    ] as const) {
      expect(said(device.pass(seconds).poll())).toBe(answer)
      expect(intervalOf(device.record)).toBe(interval)
    }
  })

  it('[43] too soon yields no tokens either after the user agreed; the next one in time does', () => {
    const device = requested()
    device.poll()
    device.pass(1).send(decision('agree'))
    expect(said(device.pass(3).poll())).toBe(SLOW)
    expect(said(device.pass(9).poll())).toBe(SLOW)
    expect(said(device.pass(14).poll())).toBe(SLOW)
    expect(said(device.pass(14).poll())).toBe(SLOW)
    expect(said(device.pass(20).poll())).toBe('tokens')
    expect(device.pairs).toHaveLength(1)
  })

  it('[43] the first one may come at once', () => {
    const device = requested()
    device.send(decision('agree'))
    expect(said(device.poll())).toBe('tokens')
  })

  it('[43] after the tokens were given is refused, for ever and whenever, and takes nothing back', () => {
    const device = redeemed()
    const [pair] = device.pairs
    for (const seconds of [0, 1, 4, 10, LIFETIME, 10 * LIFETIME]) {
      const { grant, events, ...answer } = device.pass(seconds).poll()
      expect(said(answer)).toBe('invalid_grant: credential_replayed')
      expect([grant, events]).toStrictEqual([undefined, []])
    }
    const { accessToken = '' } = pair ?? {}
    expect(inspect(asGrant(device), read(accessToken), device.now, nodeDigests).type).toBe('active')
  })

  it('after the code expired is expired_token, decided or not, and in the second before not yet', () => {
    expect(
      said(
        requested()
          .pass(LIFETIME - 1)
          .poll(),
      ),
    ).toBe(PENDING)
    expect(said(requested().pass(LIFETIME).poll())).toBe('expired_token: credential_expired')
    const agreed = decided('agree')
    agreed.now = START + LIFETIME
    expect(said(agreed.poll())).toBe('expired_token: credential_expired')
    agreed.now--
    expect(said(agreed.poll())).toBe('tokens')
  })

  it('is always answered with a 400 where it has no tokens, as the token endpoint must (RFC 6749, section 5.2)', () => {
    const polls = [requested(), decided('refuse'), requested().pass(LIFETIME), redeemed(), new Device()]
    const slow = requested()
    slow.poll()
    for (const device of [...polls, slow]) expect(device.poll().reply).toMatchObject({ type: 'error', status: 400 })
  })

  it('[43] tells how long to wait where it comes too soon', () => {
    const device = requested()
    device.poll()
    expect(device.poll().reply).toMatchObject({
      description: 'Polled too soon: wait 10 seconds between two requests.',
    })
  })

  it('when a clock stepped back is too soon, never a way around the interval', () => {
    const device = requested()
    device.poll()
    device.send(decision('agree'))
    expect(said(device.pass(-100).poll())).toBe(SLOW)
    expect(device.record?.code).toMatchObject({ polledAt: START - 100, tooSoon: { waited: 0, slower: 0 } })
    expect(said(device.pass(4).poll())).toBe(SLOW)
    // A wait of less than nothing is none: four seconds are no five more.
    expect(device.record?.code).toMatchObject({ interval: 15, tooSoon: { waited: 4, slower: 0 } })
    expect(said(device.pass(15).poll())).toBe('tokens')
  })

  it('of a request that was refused says no more than that: nobody need have read it', () => {
    expect(decided('refuse').poll().reply).toMatchObject({ description: 'The request was refused.' })
  })

  it('[30] of one that expired and was withdrawn then has no tokens either when the clock steps back', () => {
    const device = decided('agree')
    device.now = START + LIFETIME
    expect(said(device.send({ type: 'withdraw', by: 'user' }))).toBe('unchanged: credential_expired')
    device.now = START + 40
    expect(said(device.poll())).toBe('access_denied: consent_refused')
    expect(device.pairs).toEqual([])
  })

  it('[45] of another client is refused as an unknown code is, and leaves the interval alone', () => {
    for (const device of [requested(), decided('agree'), decided('refuse'), redeemed()]) {
      const { grant, events, reply } = device.poll(ANOTHER)
      expect([grant, events]).toStrictEqual([undefined, []])
      expect(reply).toStrictEqual({ ...new Device().poll().reply, reason: 'credential_of_another_client' })
    }
  })
})

function asGrant({ record }: Device) {
  return isGrant(record) ? record : expect.fail('nobody has agreed')
}

/** Every state, and how to get there. */
const STATES = {
  absent: () => new Device(),
  waiting: requested,
  'waiting, just polled': () => {
    const device = requested()
    device.poll()
    return device.pass(1)
  },
  agreed: () => decided('agree'),
  refused: () => decided('refuse'),
  redeemed,
  expired: () => requested().pass(LIFETIME),
  'agreed, then expired': () => decided('agree').pass(LIFETIME),
  'withdrawn before the tokens': () => {
    const device = decided('agree')
    device.send({ type: 'withdraw', by: 'user' })
    return device
  },
  'withdrawn after the tokens': () => {
    const device = redeemed()
    device.send({ type: 'withdraw', by: 'user' })
    return device
  },
  'revoked by the device': () => {
    const device = redeemed()
    device.send({ type: 'revoke', credential: read(device.pairs[0]?.refreshToken ?? ''), clientId: TV })
    return device
  },
  'of the browser flow': () => {
    const device = new Device()
    device.send(APPROVAL)
    return device
  },
} as const satisfies Record<string, () => Device>

type State = keyof typeof STATES

/** Every command, as a sound and as a hostile sender makes it. */
const COMMANDS = {
  request: () => REQUEST,
  agree: () => decision('agree'),
  refuse: () => decision('refuse'),
  poll: (device) => ({ type: 'poll', credential: device.shown('device_code'), clientId: TV, registered: ASKED }),
  'poll as another client': (device) => ({
    type: 'poll',
    credential: device.shown('device_code'),
    clientId: ANOTHER,
    registered: ASKED,
  }),
  'poll with another secret': () => ({
    type: 'poll',
    credential: credential('device_code', strangeSecret(-7)),
    clientId: TV,
    registered: ASKED,
  }),
  'poll with it as a code': (device) => ({
    type: 'poll',
    credential: device.shown('code'),
    clientId: TV,
    registered: ASKED,
  }),
  'poll with it as a refresh token': (device) => ({
    type: 'poll',
    credential: device.shown('refresh_token'),
    clientId: TV,
    registered: ASKED,
  }),
  approve: () => APPROVAL,
  'exchange it': (device) => ({
    type: 'exchange',
    credential: device.shown('device_code'),
    clientId: TV,
    registered: ASKED,
  }),
  'exchange it as a code': (device) => ({
    type: 'exchange',
    credential: device.shown('code'),
    clientId: TV,
    registered: ASKED,
    redirectUri: REDIRECT_URI,
  }),
  'refresh with it': (device) => ({
    type: 'refresh',
    credential: device.shown('refresh_token'),
    clientId: TV,
    registered: ASKED,
  }),
  'revoke it': (device) => ({ type: 'revoke', credential: device.shown('device_code'), clientId: TV }),
  'revoke it as a refresh token': (device) => ({
    type: 'revoke',
    credential: device.shown('refresh_token'),
    clientId: TV,
  }),
  'revoke it as an access token': (device) => ({
    type: 'revoke',
    credential: device.shown('access_token'),
    clientId: TV,
  }),
  withdraw: () => ({ type: 'withdraw', by: 'user' }),
} as const satisfies Record<string, (device: Device) => GrantCommand>

type Row = Readonly<Record<keyof typeof COMMANDS, string>>

const UNKNOWN = 'invalid_grant: credential_unknown'
const NO_CODE = 'invalid_request: user_code_unknown'
const FOREIGN = 'invalid_grant: credential_of_another_client'

/** What the commands of other flows are told wherever there is a record of a device: nothing of them fits. */
const STRANGE = {
  request: UNKNOWN,
  approve: 'invalid_grant: consent_invalid',
  'poll with another secret': UNKNOWN,
  'poll with it as a code': UNKNOWN,
  'poll with it as a refresh token': UNKNOWN,
  'exchange it': UNKNOWN,
  'exchange it as a code': UNKNOWN,
  'refresh with it': UNKNOWN,
  'revoke it': 'unchanged: credential_unknown',
  'revoke it as a refresh token': 'unchanged: credential_unknown',
  'revoke it as an access token': 'unchanged: credential_unknown',
} as const

/** Where nobody can decide any more. */
const DECIDED = { ...STRANGE, agree: NO_CODE, refuse: NO_CODE, 'poll as another client': FOREIGN } as const

/** After a revocation a grant tells its own client of refreshes that it was revoked. */
const REVOKED = { ...DECIDED, 'refresh with it': 'invalid_grant: credential_revoked' } as const

/** `answer` or, where the record changes, `answer -> the state that it is in then`. */
const TABLE: Readonly<Record<State, Row>> = {
  absent: {
    ...STRANGE,
    request: 'device_code -> waiting',
    agree: NO_CODE,
    refuse: NO_CODE,
    poll: UNKNOWN,
    'poll as another client': UNKNOWN,
    approve: 'code -> agreed',
    withdraw: 'unchanged: credential_unknown',
  },
  waiting: {
    ...DECIDED,
    agree: 'decided -> agreed',
    refuse: 'decided -> revoked',
    poll: 'authorization_pending: decision_pending -> waiting',
    withdraw: 'unchanged: credential_unknown',
  },
  'waiting, just polled': {
    ...DECIDED,
    agree: 'decided -> agreed',
    refuse: 'decided -> revoked',
    poll: 'slow_down: polled_too_soon -> waiting',
    withdraw: 'unchanged: credential_unknown',
  },
  agreed: { ...DECIDED, poll: 'tokens -> redeemed', withdraw: 'revoked -> revoked' },
  refused: {
    ...REVOKED,
    poll: 'access_denied: consent_refused',
    withdraw: 'unchanged: credential_revoked',
  },
  redeemed: { ...DECIDED, poll: 'invalid_grant: credential_replayed', withdraw: 'revoked -> revoked' },
  expired: {
    ...DECIDED,
    poll: 'expired_token: credential_expired',
    withdraw: 'unchanged: credential_unknown',
  },
  'agreed, then expired': {
    ...DECIDED,
    poll: 'expired_token: credential_expired',
    withdraw: 'unchanged: credential_expired -> revoked',
  },
  'withdrawn before the tokens': {
    ...REVOKED,
    poll: 'access_denied: consent_refused',
    withdraw: 'unchanged: credential_revoked',
  },
  'withdrawn after the tokens': {
    ...REVOKED,
    poll: 'invalid_grant: credential_replayed',
    withdraw: 'unchanged: credential_revoked',
  },
  'revoked by the device': {
    ...REVOKED,
    poll: 'invalid_grant: credential_replayed',
    withdraw: 'unchanged: credential_revoked',
  },
  // Its code is no device code under any name, nor has it anything for a user to decide.
  'of the browser flow': {
    ...DECIDED,
    // The form that made it, sent again.
    approve: 'code',
    poll: UNKNOWN,
    'poll as another client': UNKNOWN,
    'exchange it as a code': 'tokens -> redeemed',
    withdraw: 'revoked -> revoked',
  },
}

/** The states of the diagram, as a record shows them. */
function stateOf(record: GrantRecord | undefined): string {
  if (record === undefined) return 'absent'
  if (!isGrant(record)) return 'waiting'
  if (record.revokedAt !== undefined) return 'revoked'
  return record.code.usedAt === undefined ? 'agreed' : 'redeemed'
}

describe('every command in every state', () => {
  for (const state of Object.keys(STATES) as State[]) {
    it(`has its answer: ${state}`, () => {
      const answers = Object.fromEntries(
        Object.entries(COMMANDS).map(([name, command]) => {
          const device = STATES[state]()
          const outcome = device.send(command(device))
          return [name, said(outcome) + (outcome.grant === undefined ? '' : ` -> ${stateOf(outcome.grant)}`)]
        }),
      )
      expect(answers).toStrictEqual({ ...TABLE[state] })
    })
  }

  it('writes and tells nothing where the table has no arrow', () => {
    const outcomes: (Record<'hasArrow' | 'isSame', boolean> & { name: string; news: unknown; grant: unknown })[] = []
    for (const state of Object.keys(STATES) as State[]) {
      for (const [name, command] of Object.entries(COMMANDS)) {
        const device = STATES[state]()
        const before = JSON.stringify(device.record)
        const { grant, events } = device.send(command(device))
        const news = events.filter((event) => !('retry' in event))
        const hasArrow = TABLE[state][name as keyof Row].includes('->')
        outcomes.push({
          hasArrow,
          name: `${state}, ${name}`,
          news,
          grant,
          isSame: JSON.stringify(device.record) === before,
        })
      }
    }
    for (const { name, grant } of outcomes.filter(({ hasArrow }) => hasArrow)) expect(grant, name).toBeDefined()
    for (const { name, isSame, news } of outcomes.filter(({ hasArrow }) => !hasArrow))
      expect({ isSame, news }, name).toStrictEqual({ isSame: true, news: [] })
  })

  it('of a device that waits, no credential of any kind is an access token', () => {
    for (const state of Object.keys(STATES) as State[]) {
      const device = STATES[state]()
      const grant = isGrant(device.record) ? device.record : undefined
      for (const kind of ['access_token', 'device_code', 'code', 'refresh_token'] as const)
        expect(inspect(grant, device.shown(kind), device.now, nodeDigests).type).toBe('inactive')
    }
  })
})

/** One thing that happens. */
type Step =
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'request' | 'withdraw' | 'approve' }
  | { readonly do: 'decide'; readonly decision: 'agree' | 'refuse'; readonly subject: string }
  | { readonly do: 'poll'; readonly byOwner: boolean; readonly secret: 'right' | 'wrong'; readonly as: CredentialKind }
  | {
      readonly do: 'exchange' | 'refresh' | 'revoke'
      readonly byOwner: boolean
      readonly with: 'device code' | 'access token' | 'refresh token'
      readonly as: CredentialKind
    }

const often = <Value>(usual: Value, ...others: Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 2, arbitrary: fc.constantFrom(usual, ...others) })

const kinds: fc.Arbitrary<CredentialKind> = fc.constantFrom('code', 'access_token', 'refresh_token', 'device_code')

const wait: fc.Arbitrary<Step> = fc
  .oneof(
    { weight: 6, arbitrary: fc.nat(12) },
    { weight: 3, arbitrary: fc.constantFrom(4, 5, 6, 9, 10, 11, 14, 15, 16, 19, 20, 21, 60) },
    { weight: 1, arbitrary: fc.constantFrom(LIFETIME - 1, LIFETIME, -1, -7, -LIFETIME) },
  )
  .map((seconds) => ({ do: 'wait', seconds }))

const polling = fc.record({
  do: fc.constant('poll' as const),
  byOwner: often(true, false),
  secret: often<'right' | 'wrong'>('right', 'wrong'),
  as: fc.oneof({ weight: 9, arbitrary: fc.constant<CredentialKind>('device_code') }, { weight: 1, arbitrary: kinds }),
})

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: polling },
    { weight: 9, arbitrary: wait },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('decide' as const),
        decision: fc.constantFrom('agree' as const, 'agree' as const, 'agree' as const, 'refuse' as const),
        subject: fc.constantFrom('ada', 'bob'),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'request' }, { do: 'withdraw' }, { do: 'approve' }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constantFrom('exchange' as const, 'refresh' as const, 'revoke' as const),
        byOwner: often(true, false),
        with: fc.constantFrom('device code' as const, 'access token' as const, 'refresh token' as const),
        as: kinds,
      }),
    },
  ),
  { maxLength: 40, size: 'max' },
)

/**
 * The model, from RFC 8628 alone: what a device may hear, and when. It knows no digests and no records.
 *
 * - 3.2: the code works until it expires.
 * - 3.3: the user approves or denies, once.
 * - 3.5: `authorization_pending` until then; `slow_down` where less than the interval has passed since the last poll that
 *   was told to go on, which also adds five seconds for good; `access_denied`; `expired_token`. What it adds to that: a
 *   device that was five seconds slower than before, and then five more, obeys, and is told to wait no longer than it was.
 * - 3.4 and 5.2 of RFC 6749: a code that is another client's, or was used, is an `invalid_grant`.
 */
class Model {
  phase: 'waiting' | 'agreed' | 'denied' | 'given' = 'waiting'
  interval = INTERVAL
  lastPoll = Number.NEGATIVE_INFINITY
  /** How long it was before each poll that came too soon. */
  readonly tooShort: number[] = []
  readonly expires: number

  constructor(issued: number) {
    this.expires = issued + LIFETIME
  }

  decide(now: number, what: 'agree' | 'refuse'): string {
    if (this.phase !== 'waiting' || now >= this.expires) return 'invalid_request'
    this.phase = what === 'agree' ? 'agreed' : 'denied'
    return 'decided'
  }

  poll(now: number): string {
    if (this.phase === 'given') return 'invalid_grant'
    if (this.phase === 'denied') return 'access_denied'
    if (now >= this.expires) return 'expired_token'
    const gap = now - this.lastPoll
    this.lastPoll = now
    if (gap < this.interval) {
      this.tooShort.push(Math.max(0, gap))
      const [first = 0, second = 0, third = 0] = this.tooShort.slice(-3)
      const obeys = this.tooShort.length > 2 && second - first >= 5 && third - second >= 5
      if (!obeys) this.interval += 5
      return 'slow_down'
    }
    if (this.phase === 'waiting') return 'authorization_pending'
    this.phase = 'given'
    return 'tokens'
  }

  /** The user takes back what they agreed to, and it stays so, whatever the clock says then. */
  withdraw(): void {
    if (this.phase === 'agreed') this.phase = 'denied'
  }
}

/** The command of a step; undefined where time passes, or where there is nothing yet to show. */
function commandOf(device: Device, step: Step): GrantCommand | undefined {
  switch (step.do) {
    case 'wait':
      return undefined
    case 'request':
      return REQUEST
    case 'withdraw':
      return { type: 'withdraw', by: 'user' }
    case 'approve':
      return APPROVAL
    case 'decide':
      return decision(step.decision, step.subject)
    case 'poll': {
      const secret = step.secret === 'right' ? device.code.secret : strangeSecret(-8)
      const clientId = step.byOwner ? TV : ANOTHER
      return { type: 'poll', credential: { ...device.code, kind: step.as, secret }, clientId, registered: ASKED }
    }
    default: {
      const [pair] = device.pairs
      const texts = { 'device code': undefined, 'access token': pair?.accessToken, 'refresh token': pair?.refreshToken }
      const text = texts[step.with]
      const shown = text === undefined ? device.code : read(text)
      const clientId = step.byOwner ? TV : ANOTHER
      return { type: step.do, credential: { ...shown, kind: step.as }, clientId, registered: ASKED }
    }
  }
}

/** Freezes a value all through. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  for (const part of Object.values(value)) freeze(part)
  return Object.freeze(value)
}

/** Plays steps on a fresh device; `look` sees each with what came of it. */
function play(
  all: readonly Step[],
  look: (device: Device, step: Step, outcome: Answer<GrantCommand>, before: GrantRecord | undefined) => void,
): Device {
  const device = requested()
  for (const step of all) {
    const command = commandOf(device, step)
    if (command === undefined) {
      if (step.do === 'wait') device.pass(step.seconds)
      continue
    }
    const before = device.record
    look(device, step, device.send(freeze(command)), before)
  }
  return device
}

/** How long a device must wait by now. */
function intervalOf(record: GrantRecord | undefined): number {
  const code = record?.code
  return code !== undefined && 'interval' in code ? code.interval : expect.fail('no device code')
}

/** The arrows of the diagram. A refusal is a grant that was revoked before it began. */
const ARROWS = new Set([
  'waiting -> waiting',
  'waiting -> agreed',
  'waiting -> revoked',
  'agreed -> agreed',
  'agreed -> redeemed',
  'agreed -> revoked',
  'redeemed -> redeemed',
  'redeemed -> revoked',
])

/** Lets the model take a step. @returns its answer, where it has one */
function answerOf(model: Model, step: Step, now: number): string | undefined {
  if (step.do === 'withdraw') model.withdraw()
  if (step.do === 'decide') return model.decide(now, step.decision)
  if (step.do !== 'poll') return undefined
  const sound = step.byOwner && step.secret === 'right' && step.as === 'device_code'
  return sound ? model.poll(now) : 'invalid_grant'
}

describe('in whatever order things come', () => {
  it('[43] the answers are those of RFC 8628', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const model = new Model(START)
        play(all, (device, step, outcome) => {
          const answer = said(outcome).replace(/:.*/, '')
          expect(answerOf(model, step, device.now) ?? answer).toBe(answer)
          expect(device.record?.code).toMatchObject(model.phase === 'given' ? {} : { interval: model.interval })
        })
      }),
      { numRuns: 300 },
    )
  })

  it('[43] a device code yields tokens at most once', () => {
    fc.assert(
      fc.property(steps, (all) => {
        let given = 0
        play(all, (_, { do: what }, { reply }) => {
          // A refresh is not of the device code, and an exchange of it must not be.
          if (what !== 'refresh' && reply.type === 'tokens') given++
        })
        expect(given).toBeLessThanOrEqual(1)
      }),
      { numRuns: 300 },
    )
  })

  it('[43] polling faster than the interval never yields tokens, and the interval never shrinks', () => {
    fc.assert(
      fc.property(steps, (all) => {
        let unfinished = Number.NEGATIVE_INFINITY
        let interval = INTERVAL
        play(all, (device, { do: what }, { reply, grant }) => {
          if (what === 'poll') {
            const going = reply.type === 'error' && ['authorization_pending', 'slow_down'].includes(reply.code)
            if (reply.type === 'tokens' && device.now - unfinished < interval) expect.fail('tokens too soon')
            if (going) unfinished = device.now
          }
          expect(device.record?.code.redirectUri).toBeUndefined()
          const now = intervalOf(device.record)
          expect(now).toBeGreaterThanOrEqual(interval)
          expect([0, 5]).toContain(grant === undefined ? 0 : now - interval)
          interval = now
        })
      }),
      { numRuns: 300 },
    )
  })

  it('no state outside the diagram is reachable', () => {
    fc.assert(
      fc.property(steps, (all) => {
        play(all, (device, _, { grant }, before) => {
          if (grant === undefined) return
          expect(ARROWS).toContain(`${stateOf(before)} -> ${stateOf(grant)}`)
          if (!isGrant(grant)) return
          // Nobody is known, and nothing is given, before somebody decided; what is revoked has nothing left.
          expect(['ada', 'bob']).toContain(grant.subject)
          expect(grant.pairs.length > 0).toBe(grant.revokedAt === undefined && grant.code.usedAt !== undefined)
          expect(isGrant(before) ? before.subject : grant.subject).toBe(grant.subject)
          expect(grant.clientId).toBe(TV)
          expect(device.record).toBe(grant)
        })
      }),
      { numRuns: 300 },
    )
  })

  it('the one decision that counts is the first in time', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const taken: string[] = []
        play(all, (device, step, { reply }) => {
          if (step.do !== 'decide' || reply.type !== 'decided') return
          taken.push(step.subject)
          expect(device.record).toMatchObject({ subject: step.subject, createdAt: device.now })
        })
        expect(taken.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 300 },
    )
  })

  it('no argument is changed, the outcome shares nothing with the bytes, and the same arguments give the same', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const device = requested()
        for (const step of all) {
          const command = commandOf(device, step)
          if (command === undefined) {
            if (step.do === 'wait') device.pass(step.seconds)
            continue
          }
          const record = freeze(device.record)
          const entropy = entropyOf(7)
          const outcome = transition(record, freeze(command), device.now, entropy, freeze({ ...RULES }))
          const then = JSON.stringify(outcome)
          expect(Buffer.from(entropy).equals(entropyOf(7))).toBe(true)
          entropy.fill(0)
          expect(JSON.stringify(outcome)).toBe(then)
          const copy = record === undefined ? undefined : JSON.parse(JSON.stringify(record))
          expect(copy).toStrictEqual(record)
          expect(
            transition(copy, command, device.now, entropyOf(7), { ...RULES, digests: portableDigests }),
          ).toStrictEqual(outcome)
          if (outcome.grant !== undefined) device.record = outcome.grant
          if (outcome.reply.type === 'tokens') device.pairs.push(outcome.reply)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('[28] no event and no error has a secret, a digest or a salt in it', () => {
    fc.assert(
      fc.property(steps, (all) => {
        play(all, (device, _, { reply, events }) => {
          const told = JSON.stringify([events, reply.type === 'error' ? reply : []])
          expect(told).not.toContain(device.record?.code.digest)
          expect(told.replaceAll(GRANT_ID, '')).not.toMatch(/[\w-]{40}/)
          for (const event of events) expect(event).toMatchObject({ at: device.now, grantId: GRANT_ID, clientId: TV })
        })
      }),
      { numRuns: 200 },
    )
  })

  it('is walked through far enough to say something', () => {
    const reached = new Set<string>()
    const arrows = new Set<string>()
    for (const all of fc.sample(steps, { seed: 1, numRuns: 300 }))
      play(all, (_, { do: what }, outcome, before) => {
        if (outcome.grant !== undefined) arrows.add(`${stateOf(before)} -> ${stateOf(outcome.grant)}`)
        if (['poll', 'decide', 'withdraw'].includes(what)) reached.add(`${what}: ${said(outcome)}`)
        if (said(outcome).startsWith('slow_down') && intervalOf(before) === intervalOf(outcome.grant))
          reached.add('poll: obeyed')
      })
    expect(arrows).toEqual(ARROWS)
    expect([...reached].sort()).toEqual(
      [
        'decide: decided',
        'decide: invalid_request: user_code_unknown',
        'poll: access_denied: consent_refused',
        'poll: authorization_pending: decision_pending',
        'poll: expired_token: credential_expired',
        'poll: invalid_grant: credential_of_another_client',
        'poll: invalid_grant: credential_replayed',
        'poll: invalid_grant: credential_unknown',
        'poll: obeyed',
        'poll: slow_down: polled_too_soon',
        'poll: tokens',
        'withdraw: revoked',
        'withdraw: unchanged: credential_expired',
        'withdraw: unchanged: credential_revoked',
        'withdraw: unchanged: credential_unknown',
      ].sort(),
    )
  })
})

/** All subsets of the first so many numbers that have so many at most. */
function subsetsOf(count: number, most: number): readonly ReadonlySet<number>[] {
  const all: ReadonlySet<number>[] = [new Set()]
  for (let number = 0; number < count; number++)
    all.push(...all.filter(({ size }) => size < most).map((some) => new Set([...some, number])))
  return all
}

/** What befalls a device that does all that RFC 8628 asks for. */
interface Fate {
  /** Seconds from its request to the user's agreement. */
  readonly agreesAt: number
  /** The poll that arrives sooner than it was sent, and by how many seconds: the one before it was held up. */
  readonly early?: { readonly poll: number; readonly seconds: number }
  /** The answers that never arrive, unless they have the tokens. */
  readonly lost?: ReadonlySet<number>
  /** How much the clock of the server that takes a poll is ahead. */
  readonly ahead?: (poll: number) => number
}

/** Polls at the interval that the device knows of, which grows by five seconds with each slow_down that it hears, until the code expires. */
function obediently({ agreesAt, early, lost, ahead = () => 0 }: Fate): {
  readonly got: string
  readonly after: number
} {
  const device = requested()
  let knows = INTERVAL
  let time = 0
  for (let count = 0; ; count++) {
    if (time >= agreesAt && !isGrant(device.record)) {
      device.now = START + agreesAt
      device.send(decision('agree'))
    }
    device.now = START + time + ahead(count)
    const [answer = ''] = said(device.poll()).split(':')
    if (answer !== 'authorization_pending' && answer !== 'slow_down') return { got: answer, after: time }
    if (answer === 'slow_down' && !lost?.has(count)) knows += 5
    time += knows - (early?.poll === count + 1 ? early.seconds : 0)
  }
}

describe('[43] a device that obeys gets its tokens', () => {
  it('[43] though any three of its first twelve answers are lost, and a poll came early', () => {
    let worst = 0
    for (const lost of subsetsOf(12, 3))
      for (const poll of [0, 1, 2, 4])
        for (const agreesAt of [0, 20, 60]) {
          const { got, after } = obediently({ agreesAt, lost, ...(poll > 0 && { early: { poll, seconds: 1 } }) })
          expect(got, `lost ${[...lost]}, early ${poll}, agreed after ${agreesAt}`).toBe('tokens')
          worst = Math.max(worst, after)
        }
    // That some of them were left behind is what it is about.
    expect(worst).toBeGreaterThan(120)
  })

  it('[43] though any three answers are lost, wherever, and a poll came early by up to five seconds', () => {
    const polls = fc.nat(20)
    fc.assert(
      fc.property(
        fc.uniqueArray(polls, { maxLength: 3 }),
        polls,
        fc.nat(5),
        fc.nat(120),
        (lost, poll, seconds, agreesAt) => {
          const { got } = obediently({ agreesAt, lost: new Set(lost), early: { poll, seconds } })
          expect(got).toBe('tokens')
        },
      ),
      { numRuns: 250 },
    )
  })

  it('[43] from two servers whose clocks differ by two seconds, whichever of them takes a poll', () => {
    const skews = fc.array(fc.constantFrom(0, 2), { minLength: 1, maxLength: 12 })
    fc.assert(
      fc.property(skews, fc.nat(60), fc.nat(4), (ahead, agreesAt, poll) => {
        const fate = { agreesAt, ahead: (count: number) => ahead[count % ahead.length] ?? 0 }
        const { got, after } = obediently({ ...fate, ...(poll > 0 && { early: { poll, seconds: 1 } }) })
        expect(got).toBe('tokens')
        // Each slow_down is heard, so the next poll but one is in time at the latest.
        expect(after).toBeLessThan(200)
      }),
      { numRuns: 250 },
    )
  })

  it('[43] at its very first poll, where its user was quick', () => {
    expect(obediently({ agreesAt: 0 })).toEqual({ got: 'tokens', after: 0 })
    expect(obediently({ agreesAt: 600 })).toEqual({ got: 'expired_token', after: 600 })
  })
})

describe('5.2 a device that is given tokens of the type mac', () => {
  const DERIVATION_KEY = entropyOf(-3).subarray(0, 32)
  const KEYED: GrantRules = { ...RULES, derivationKey: DERIVATION_KEY }

  function permitted(): Device {
    const device = new Device(KEYED)
    device.send(REQUEST)
    device.pass(30).send(decision('agree'))
    return device
  }
  const polling = (device: Device, tokenType: 'mac' | undefined): GrantCommand & { readonly type: 'poll' } => ({
    type: 'poll',
    credential: device.shown(),
    clientId: TV,
    registered: ASKED,
    tokenType,
  })

  it('gets them with their key where its poll asks for them, and bearer tokens else', () => {
    for (const tokenType of ['mac', undefined] as const) {
      const device = permitted()
      const { reply, grant } = device.send(polling(device, tokenType))
      if (reply.type === 'error') expect.fail(reply.reason)
      const key = macKeyOf(read(reply.accessToken).secret, KEYED)
      expect([reply.macKey, Object.hasOwn(reply, 'macKey')]).toEqual(
        tokenType === 'mac' ? [key, true] : [undefined, false],
      )
      const access = isGrant(grant) ? grant.pairs[0]?.access : expect.fail('no grant')
      expect([access?.type, Object.hasOwn(access ?? {}, 'type')]).toEqual([tokenType, tokenType === 'mac'])
      expect(JSON.stringify([grant, device.events])).not.toContain(key)
      expect(said(device.pass(60).send(polling(device, tokenType)))).toBe('invalid_grant: credential_replayed')
    }
  })

  it('hears the same as every other one until then', () => {
    const device = new Device(KEYED)
    device.send(REQUEST)
    expect(said(device.send(polling(device, 'mac')))).toBe('authorization_pending: decision_pending')
    expect(said(device.send(polling(device, 'mac')))).toBe('slow_down: polled_too_soon')
    device.send(decision('refuse'))
    expect(said(device.pass(60).send(polling(device, 'mac')))).toBe('access_denied: consent_refused')
  })
})
