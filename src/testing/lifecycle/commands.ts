/**
 * The commands of the lifecycle test, for fast-check: each sends requests, and compares the answers, and then every token,
 * with the model.
 * @module
 */
import * as fc from 'fast-check'
import { usually } from '../arbitraries/usually.js'
import type { Sent, Shown } from '../model.js'
import { lifecycle as modelOf } from '../model.js'
import type { AudienceChoice, By, Real, World } from './answers.js'
import { audienceOf, credentialOf, errorIn, LIVE, REFUSED, scopeOf, scopesIn, senderOf, token } from './answers.js'
import { authorize, post, VERIFIER } from './client.js'
import type { Names } from './names.js'
import { atOnce, audienceNamed, BEFORE, senderNamed } from './names.js'
import type { Choice, LifecycleCommand } from './steps.js'
import { command, onGrant } from './steps.js'

/** Grants of one run. */
const GRANTS = 12

/** The parameters beside a code: the proper ones, wrong ones, or a verifier exactly where none belongs. */
type Beside = 'proper' | 'wrong' | 'swapped'

/**
 * Makes commands for a few grants, in proportions that let most of them live long.
 * @param scopes - how many of a client's lists of scopes are asked for
 */
export function lifecycleCommands(scopes: number): fc.Arbitrary<LifecycleCommand> {
  const grant = usually<Choice['grant']>(0, fc.constant(1), 5)
  const by = usually<By>('owner', fc.constantFrom('other', 'nobody'), 8)
  const times = usually(1, fc.constantFrom(2, 3), 3)
  const scope = fc.nat(scopes - 1)
  const wish = fc.option(scope, { freq: 2 })
  const permitted = usually<AudienceChoice>('none', fc.constantFrom('first', 'both', 'both'), 2)
  const wanted = usually<AudienceChoice>('none', fc.constantFrom('first', 'second'), 4)
  const pick = (
    what: fc.Arbitrary<Choice['what']>,
    back: fc.Arbitrary<number> = fc.constant(0),
  ): fc.Arbitrary<Choice> => fc.record({ what, back, grant })
  const code = pick(usually<Choice['what']>('code', fc.constantFrom('access', 'refresh', 'unknown'), 12))
  const newest = pick(usually<Choice['what']>('refresh', fc.constantFrom('unknown', 'unknown', 'access', 'code'), 8))
  const older = pick(fc.constant('refresh'), usually(1, fc.integer({ min: 2, max: 3 }), 2))
  const revoked = pick(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant<Choice['what']>('access') },
      { weight: 2, arbitrary: fc.constant<Choice['what']>('refresh') },
      { weight: 1, arbitrary: fc.constantFrom<Choice['what'][]>('code', 'unknown') },
    ),
    usually(0, fc.integer({ min: 1, max: 3 }), 4),
  )
  const redirectUri = usually<Sent>('right', fc.constantFrom('wrong', 'none'), 4)
  const beside = usually<Beside>('proper', fc.constantFrom('wrong', 'swapped'), 4)
  const made = <Args extends readonly unknown[]>(
    args: fc.Arbitrary<Args>,
    make: (...args: Args) => LifecycleCommand,
  ): fc.Arbitrary<LifecycleCommand> => args.map((each) => make(...each))

  return fc.oneof(
    { weight: 8, arbitrary: made(fc.tuple(fc.boolean(), scope, permitted), issue) },
    { weight: 24, arbitrary: made(fc.tuple(fc.constant(false), code, by, redirectUri, beside, wanted, times), redeem) },
    {
      weight: 1,
      arbitrary: made(
        fc.tuple(fc.constant(true), code, by, redirectUri, beside, fc.constant('none'), fc.constant(1)),
        redeem,
      ),
    },
    { weight: 14, arbitrary: made(fc.tuple(newest, by, wish, wanted, times), refresh) },
    { weight: 10, arbitrary: made(fc.tuple(older, by, wish, wanted, times), refresh) },
    {
      weight: 6,
      arbitrary: made(fc.tuple(revoked, usually<By>('owner', fc.constantFrom('other', 'other', 'nobody'), 2)), revoke),
    },
    { weight: 1, arbitrary: made(fc.tuple(grant, fc.constantFrom(4, 31, 34)), refreshOften) },
    { weight: 2, arbitrary: made(fc.tuple(fc.constantFrom(1, 10, 100)), wait) },
    {
      weight: 10,
      arbitrary: made(fc.tuple(usually(0, fc.integer({ min: 1, max: 4 }), 4), fc.constantFrom(-1, 0, 1)), waitUntil),
    },
  )
}

function issue(challenged: boolean, choice: number, permitted: AudienceChoice): LifecycleCommand {
  const text = (names: Names): string =>
    [`authorize ${challenged ? 'with' : 'without'} PKCE`, names.scope(choice), ...audienceNamed(permitted)].join(', ')
  return command(
    text(BEFORE),
    ({ lives, clock }) =>
      lives.length < GRANTS && lives.filter(({ model }) => model.ends(clock()).length > 0).length < LIVE,
    async ({ lives }, { wiring, terms, requirePkce, told }) => {
      const number = lives.length + 1
      const scope = scopeOf(wiring, choice)
      told(text({ shown: '', scope: () => `scope ${scope}` }))
      const needed = challenged || requirePkce || wiring.client.clientSecret === undefined
      const audience = audienceOf(wiring, permitted)
      const state = `the state of grant ${number}`
      const code = await authorize(wiring, { scope, audience, challenged: needed, state })
      const granted = audience.length === 0 ? undefined : audience
      const model = modelOf(terms, scopesIn(scope), needed, wiring.clock(), undefined, granted)
      lives.push({ number, model, challenged: needed, code, pairs: [] })
      return `the code of grant ${number}`
    },
  )
}

/** @param again - true to wait until the code was redeemed before, which makes it a replay */
function redeem(
  again: boolean,
  pick: Choice,
  by: By,
  redirectUri: Sent,
  beside: Beside,
  wanted: AudienceChoice,
  times: number,
): LifecycleCommand {
  const text = ({ shown }: Names): string =>
    [
      `exchange ${shown}${again ? ' again' : ''}`,
      ...senderNamed(by),
      ...(redirectUri === 'right' ? [] : [redirectUri === 'none' ? 'no redirect URI' : 'another redirect URI']),
      ...(beside === 'proper'
        ? []
        : [beside === 'wrong' ? 'a wrong verifier' : 'with a verifier only if none belongs']),
      ...audienceNamed(wanted),
      ...atOnce(times),
    ].join(', ')
  return onGrant(
    text,
    pick,
    async (life, real, shown, credential) => {
      const { wiring } = real
      const right = life.challenged === (beside === 'proper')
      const verifier: Sent = beside === 'wrong' ? 'wrong' : right ? 'right' : 'none'
      const { redirectUri: own } = wiring.client
      const audience = wishFor(real, wanted)
      const form = {
        grant_type: 'authorization_code',
        code: credential,
        ...(redirectUri !== 'none' && { redirect_uri: redirectUri === 'wrong' ? `${own}/` : own }),
        ...(verifier !== 'none' && { code_verifier: verifier === 'right' ? VERIFIER : VERIFIER.toLowerCase() }),
        ...(audience !== undefined && { resource: audience[0] }),
      }
      return token(life, real, form, by, times, (now) =>
        life.model.exchange(now, shown, by === 'owner', redirectUri, verifier, audience),
      )
    },
    ({ pairs }) => again === pairs.length > 0,
  )
}

function refresh(pick: Choice, by: By, choice: number | null, wanted: AudienceChoice, times: number): LifecycleCommand {
  const text = ({ shown, scope }: Names): string =>
    [
      `refresh with ${shown}`,
      ...senderNamed(by),
      ...(choice === null ? [] : [scope(choice)]),
      ...audienceNamed(wanted),
      ...atOnce(times),
    ].join(', ')
  return onGrant(text, pick, (life, real, shown, credential) => {
    const scope = choice === null ? undefined : scopeOf(real.wiring, choice)
    const audience = wishFor(real, wanted)
    const form = {
      grant_type: 'refresh_token',
      refresh_token: credential,
      ...(scope !== undefined && { scope }),
      ...(audience !== undefined && { resource: audience[0] }),
    }
    const wish = scope === undefined ? undefined : scopesIn(scope)
    return token(life, real, form, by, times, (now) => life.model.refresh(now, shown, by === 'owner', wish, audience))
  })
}

/** Returns the one protected resource that a token request names; undefined where it names none. */
function wishFor({ wiring }: Real, wanted: AudienceChoice): readonly [string] | undefined {
  const [resource] = audienceOf(wiring, wanted)
  return resource === undefined ? undefined : [resource]
}

/** Refreshes a grant until as many pairs are in grace as there may be. */
function refreshOften(grant: Choice['grant'], times: number): LifecycleCommand {
  const text = ({ shown }: Names): string => `refresh ${times} times on end, from ${shown} on`
  return onGrant(text, { what: 'refresh', back: 0, grant }, async (life, real) => {
    let last = ''
    for (let done = 0; done < times; done++) {
      const shown: Shown = { what: 'refresh', pair: life.pairs.length - 1 }
      const form = { grant_type: 'refresh_token', refresh_token: credentialOf(life, shown) }
      last = await token(life, real, form, 'owner', 1, (now) => life.model.refresh(now, shown, true, undefined))
    }
    return `at last ${last}`
  })
}

function revoke(pick: Choice, by: By): LifecycleCommand {
  const text = ({ shown }: Names): string => [`revoke ${shown}`, ...senderNamed(by)].join(', ')
  return onGrant(text, pick, async (life, { wiring }, shown, credential) => {
    const response = await post(wiring, '/oauth2/revoke', { token: credential }, senderOf(wiring, by))
    const ruling = by === 'nobody' ? REFUSED : life.model.revoke(wiring.clock(), shown, by === 'owner')
    ruling.change?.()
    // Whether there was anything to revoke is not told (specification, section 4.4).
    const { says } = ruling.answer
    const expected = says === 'invalid_client' ? `401 ${says}` : '200'
    const actual = response.body === '' ? `${response.status}` : `${response.status} ${errorIn(response)}`
    if (actual !== expected) throw new Error(`expected ${expected}; got ${actual}`)
    return `${expected}, ${says}`
  })
}

function wait(seconds: number): LifecycleCommand {
  return command(`wait ${seconds} s`, begun, async (_, { wiring }) => {
    wiring.clock.advance(seconds)
    return ''
  })
}

/** The moments at which something ends are where a server errs: waits to a second before, to it, or to a second after. */
function waitUntil(nth: number, offset: number): LifecycleCommand {
  const when = offset === 0 ? 'when' : offset < 0 ? 'a second before' : 'a second after'
  const text = `wait until ${when} the next thing ends${nth === 0 ? '' : ` but ${nth}`}`
  return command(text, begun, async ({ lives }, { wiring, told }) => {
    const now = wiring.clock()
    const ends = lives
      .flatMap(({ model, number }) => model.ends(now + Math.max(0, -offset)).map((end) => ({ ...end, number })))
      .sort((a, b) => a.at - b.at)
    const end = ends[Math.min(nth, ends.length - 1)]
    if (end === undefined) return 'nothing ends any more'
    const seconds = end.at + offset - now
    wiring.clock.advance(seconds)
    told(`wait ${seconds} s: ${offset === 0 ? '' : `${when} `}${end.what} (grant ${end.number})`)
    return ''
  })
}

function begun({ lives }: World): boolean {
  return lives.length > 0
}
