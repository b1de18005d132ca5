/**
 * Random steps in the life of a grant, and the command of each.
 * @module
 */
import * as fc from 'fast-check'
import { parseCredential } from '../../core/credentials/credential.js'
import type { IssuedTokens } from '../../core/grant/pair.js'
import type { GrantCommand } from '../../core/grant/transition.js'
import type { Scope } from '../../core/scopes.js'
import type { ClientId, Seconds, Subject } from '../../core/values.js'
import { VERIFIER } from '../lifecycle/client.js'
import { usually } from './usually.js'

/** The terms of a grant: its client, its user, and the request that it answers. */
export interface Terms {
  readonly clientId: ClientId
  readonly subject: Subject
  readonly scopes: readonly Scope[]
  readonly redirectUri: string
  /** True if the request had a PKCE challenge. */
  readonly challenged: boolean
}

/** One event in the life of a grant. */
export type Step =
  | { readonly do: 'wait'; readonly seconds: Seconds }
  | { readonly do: 'exchange'; readonly soundly: boolean }
  | { readonly do: 'refresh'; readonly back: number; readonly narrow: boolean }
  | { readonly do: 'revoke'; readonly what: 'access' | 'refresh'; readonly back: number }
  | { readonly do: 'withdraw' }
  | { readonly do: 'decide'; readonly decision: 'agree' | 'refuse' }
  | { readonly do: 'poll' }

/** A pair, counted back from the newest. */
const back = usually(0, fc.nat(4), 2)

const seconds = usually<Seconds>(
  5,
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(1, 100, 299, 300) },
    { weight: 1, arbitrary: fc.constantFrom(600, 28_800, 15_552_000) },
  ),
  1,
)

const token = usually<'access' | 'refresh'>('access', fc.constant('refresh'), 6)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds }) },
  { weight: 14, arbitrary: fc.record({ do: fc.constant('refresh' as const), back, narrow: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revoke' as const), what: token, back }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('exchange' as const), soundly: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'withdraw' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'poll' } as const) },
)

/** The first steps: most lead to a first pair; a few lead nowhere, and these are the ones that shrinking prefers. */
const opening: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { withCrossShrink: true },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        fc.record({ do: fc.constant('decide' as const), decision: fc.constantFrom('agree', 'refuse') }),
        fc.record({ do: fc.constant('exchange' as const), soundly: fc.boolean() }),
        step,
      ),
      { maxLength: 4 },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constant<readonly Step[]>([
      { do: 'decide', decision: 'agree' },
      { do: 'poll' },
      { do: 'exchange', soundly: true },
    ]),
  },
)

/** Steps in the life of one grant. */
export const grantSteps: fc.Arbitrary<readonly Step[]> = fc
  // Short ones too, or few would be alive.
  .tuple(opening, fc.oneof(fc.array(step, { maxLength: 4 }), fc.array(step, { maxLength: 24, size: 'max' })))
  .map((parts) => parts.flat())

/**
 * Makes the command of a step.
 * @returns undefined for a step that only lets time pass, and where there is no token to show yet
 */
export function commandOf(
  asked: Step,
  terms: Terms,
  code: string,
  pairs: readonly IssuedTokens[],
): GrantCommand | undefined {
  const { clientId, subject, scopes } = terms
  switch (asked.do) {
    case 'wait':
      return undefined
    case 'withdraw':
      return { type: 'withdraw', by: 'user' }
    case 'decide':
      return { type: 'decide', decision: asked.decision, subject, scopes, resources: { kind: 'all' } }
    case 'poll': {
      const credential = parseCredential(code)
      return credential && { type: 'poll', credential, clientId, registered: scopes }
    }
    case 'exchange':
      return exchangeOf(asked.soundly, terms, code)
    case 'refresh':
    case 'revoke':
      return commandOnPair(asked, terms, pairs.at(-1 - asked.back))
  }
}

function exchangeOf(
  soundly: boolean,
  { clientId, scopes, redirectUri, challenged }: Terms,
  code: string,
): GrantCommand | undefined {
  const credential = parseCredential(code)
  return (
    credential && {
      type: 'exchange',
      credential,
      clientId,
      registered: scopes,
      redirectUri: soundly ? redirectUri : 'https://x',
      ...(challenged && { codeVerifier: VERIFIER }),
    }
  )
}

function commandOnPair(
  asked: Extract<Step, { do: 'refresh' | 'revoke' }>,
  { clientId, scopes }: Terms,
  pair: IssuedTokens | undefined,
): GrantCommand | undefined {
  const isAccess = asked.do === 'revoke' && asked.what === 'access'
  const credential = pair && parseCredential(isAccess ? pair.accessToken : pair.refreshToken)
  if (credential === undefined) return undefined
  if (asked.do === 'revoke') return { type: 'revoke', credential, clientId }
  return {
    type: 'refresh',
    credential,
    clientId,
    registered: scopes,
    ...(asked.narrow && { scopes: scopes.slice(0, 1) }),
  }
}
