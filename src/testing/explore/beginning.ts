/**
 * The beginning of a history: an approved application and its grant, made by the transitions of the core and not by the
 * servers that are tried.
 * @module
 */
import type { Application } from '../../core/application/application.js'
import { transitionApplication } from '../../core/application/transition.js'
import type { Audience, ResourceIdentifier } from '../../core/audiences/audience.js'
import { grantIdOf, parseCredential, SECRET_BYTES } from '../../core/credentials/credential.js'
import { clientKeyOf, digestOf } from '../../core/credentials/digests.js'
import type { Grant } from '../../core/grant/grant.js'
import type { IssuedTokens } from '../../core/grant/pair.js'
import type { GrantRules } from '../../core/grant/rules.js'
import { ENTROPY_BYTES } from '../../core/grant/rules.js'
import { transition } from '../../core/grant/transition.js'
import type { Scope } from '../../core/scopes.js'
import type { ClientId, ClientKey, Seconds } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { Entropy } from '../seeded-entropy.js'
import type { Operation } from './history.js'

/**
 * The state of a grant before the requests: the form of a consent that nobody has decided on, a code that nobody redeemed, a
 * pair that nobody refreshed, or a pair whose grace is over, and its successor.
 */
export type Beginning = 'consent' | 'code' | 'tokens' | 'grace over'

/** The client that sends the requests. */
export interface Client {
  readonly clientId: ClientId
  readonly clientKey: ClientKey
  readonly clientSecret: string
  readonly application: Application
  /** The protected resources that it asks the user for; undefined for none. */
  readonly audience: Audience | undefined
}

/** A grant before the requests. */
export interface StartedGrant {
  readonly grant: Grant
  readonly code: string
  /** Oldest first. */
  readonly pairs: readonly IssuedTokens[]
}

/** The scopes that the application may ask for, and the user permits. */
export const SCOPES: readonly Scope[] = ['repo-code:rw', 'account-profile:r']

/**
 * Makes an application and its client.
 * @param audience - the protected resources that it asks the user for
 * @param api - the protected resource that it stands for, where it is one that asks for nothing and introspects
 */
export function createClient(
  name: string,
  rules: GrantRules,
  now: Seconds,
  audience: Audience | undefined,
  api?: ResourceIdentifier,
): Client {
  const clientId = parseClientId(name)
  if (clientId === undefined) throw new TypeError(`not a client identifier: ${name}`)
  const clientSecret = `a-secret-of-${name}`
  const website = 'https://client.example'
  const details = {
    name,
    website,
    type: 'confidential',
    redirectUris: [`${website}/callback`],
    authorizedDomain: 'client.example',
    allowSubdomains: false,
    scopes: SCOPES,
    reasons: {},
    resourceScope: 'all',
    deviceFlow: false,
    logo: 'none',
    ...(api !== undefined && ({ resourceServer: true, audience: api } as const)),
  } as const
  const secretDigest = digestOf(rules.digests, clientSecret)
  const submitted = applied(undefined, { type: 'submit', id: clientId, details }, now)
  const application = applied(
    submitted,
    { type: 'approve', revision: 1, secretDigest, catalogue: rules.catalogue },
    now,
  )
  return { clientId, clientKey: clientKeyOf(rules.digests, clientId), clientSecret, application, audience }
}

/**
 * Makes a grant whose code and pairs were all made at `now`. Where a grace is to be over, the caller lets the grace period
 * pass.
 * @param id - 16 bytes
 */
export function startGrant(
  beginning: Exclude<Beginning, 'consent'>,
  client: Client,
  id: Uint8Array,
  now: Seconds,
  entropy: Entropy,
  rules: GrantRules,
): StartedGrant {
  const { clientId, clientKey, audience } = client
  const approve = {
    type: 'approve',
    grantId: grantIdOf(id),
    clientId,
    clientKey,
    subject: 'ada',
    scopes: SCOPES,
    resources: { kind: 'all' },
    redirectUri: 'https://client.example/callback',
    formSecret: entropy(SECRET_BYTES),
    ...(audience !== undefined && { audience }),
  } as const
  const issued = transition(undefined, approve, now, entropy(ENTROPY_BYTES), rules)
  if (issued.reply.type === 'error' || issued.grant === undefined) throw new Error('no code was issued')
  const { code } = issued.reply
  if (beginning === 'code') return { grant: issued.grant, code, pairs: [] }
  const exchange = { type: 'exchange', credential: credentialIn(code), clientId, registered: SCOPES } as const
  const first = transition(issued.grant, exchange, now, entropy(ENTROPY_BYTES), rules)
  if (first.reply.type === 'error' || first.grant === undefined) throw new Error('no code was redeemed')
  if (beginning === 'tokens') return { grant: first.grant, code, pairs: [first.reply] }
  const token = credentialIn(first.reply.refreshToken)
  const refresh = { type: 'refresh', credential: token, clientId, registered: SCOPES } as const
  const second = transition(first.grant, refresh, now, entropy(ENTROPY_BYTES), rules)
  if (second.reply.type === 'error' || second.grant === undefined) throw new Error('no pair was refreshed')
  return { grant: second.grant, code, pairs: [first.reply, second.reply] }
}

/** Returns the operations that made a grant before the requests. */
export function operationsBefore({ code, pairs }: StartedGrant, now: Seconds): Operation[] {
  return pairs.map(({ accessToken, refreshToken, expiresIn, scopes }, index) => ({
    by: 'before',
    does: index === 0 ? 'exchange' : 'refresh',
    shows: pairs[index - 1]?.refreshToken ?? code,
    resource: undefined,
    begin: 2 * index,
    end: 2 * index + 1,
    told: { says: 'tokens', accessToken, refreshToken, expiresIn, scope: scopes.join(' ') },
    nows: [now],
    faults: [],
    wrote: [],
  }))
}

function applied(
  application: Application | undefined,
  command: Parameters<typeof transitionApplication>[1],
  now: Seconds,
): Application {
  const outcome = transitionApplication(application, command, now)
  if (outcome.type !== 'done') throw new Error(`the application was not made: ${JSON.stringify(outcome)}`)
  return outcome.application
}

function credentialIn(text: string): NonNullable<ReturnType<typeof parseCredential>> {
  const credential = parseCredential(text)
  if (credential === undefined) throw new Error('not a credential')
  return credential
}
