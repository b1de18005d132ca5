/**
 * Grants that are for some protected resources (RFC 8707), through each transition.
 * @module
 */
import { describe, expect, it } from 'vitest'
import type { Setup } from './histories.js'
import {
  approval,
  commandOf,
  errorOf,
  exchangedWorld,
  exchangeOf,
  issuedBy,
  RESOURCES,
  RULES,
  refreshOf,
  revokeOf,
  SETUP,
  world,
} from './histories.js'

const AUDIENCE = RESOURCES.slice(0, 2)
const FOR_TWO: Setup = { ...SETUP, audience: AUDIENCE }

/** The reason of an error, which the client does not get. */
function reasonOf({ reply }: { readonly reply: object }): string | undefined {
  return 'reason' in reply ? String(reply.reason) : undefined
}

describe('the audience of a grant', () => {
  it('is in its record, and in the event of its approval', () => {
    const here = world(FOR_TWO)
    expect(here.grant?.audience).toEqual(AUDIENCE)
    expect(here.moments[0]?.outcome.events).toMatchObject([{ type: 'issued', audience: AUDIENCE }])
  })

  it('is absent from both where the request named no resource', () => {
    const here = world()
    expect(here.grant).not.toHaveProperty('audience')
    expect(here.moments[0]?.outcome.events[0]).not.toHaveProperty('audience')
  })

  it('is a part of the decision: the form with another one gets no code', () => {
    const here = world(FOR_TWO)
    const other = commandOf(here, { do: 'approve', form: 'for another audience' }) ?? expect.fail('no command')
    expect(here.ask(approval(FOR_TWO)).reply).toEqual({ type: 'code', code: here.code })
    expect(reasonOf(here.ask(other))).toBe('consent_invalid')
    expect(reasonOf(here.ask(approval(SETUP)))).toBe('consent_invalid')
  })

  it('stays after the grant was revoked', () => {
    const here = exchangedWorld(FOR_TWO)
    here.send(revokeOf(here, 'refresh'))
    expect(here.grant).toMatchObject({ revokedAt: here.now, audience: AUDIENCE })
  })

  it('is that of each of its tokens, or a part of it', () => {
    const here = world(FOR_TWO)
    here.send({ ...exchangeOf(here), audience: RESOURCES.slice(1, 2) })
    here.send(refreshOf(here))
    expect(here.grant?.pairs.map(({ access }) => access.audience)).toEqual([RESOURCES.slice(1, 2), AUDIENCE])
    expect(reasonOf(here.ask({ ...refreshOf(here), audience: RESOURCES }))).toBe('audience_mismatch')
  })
})

describe('a refresh that is repeated', () => {
  it('gets the same pair where it asks for the resource of that pair, or for more', () => {
    const here = exchangedWorld(FOR_TWO)
    const first = issuedBy(here.send({ ...refreshOf(here), audience: AUDIENCE.slice(1) }))
    const again = { ...refreshOf(here, 0), audience: AUDIENCE }
    expect(issuedBy(here.ask(again)).accessToken).toBe(first.accessToken)
  })

  it('is refused for any other resource', () => {
    const here = exchangedWorld(FOR_TWO)
    here.send({ ...refreshOf(here), audience: AUDIENCE.slice(0, 1) })
    const outcome = here.ask({ ...refreshOf(here, 0), audience: AUDIENCE.slice(1) })
    expect([errorOf(outcome), reasonOf(outcome)]).toEqual(['invalid_target', 'audience_mismatch'])
  })
})

describe('a token without a scope', () => {
  it('is refused as a grant of nothing where the application is registered for none of its scopes', () => {
    const here = world(FOR_TWO)
    const outcome = here.ask({ ...exchangeOf(here), registered: ['repo-delete:rw'] })
    expect([errorOf(outcome), reasonOf(outcome)]).toEqual(['invalid_grant', 'scope_not_registered'])
  })

  it('is refused as a scope where its resource knows none of them', () => {
    const here = world({ ...FOR_TWO, rules: { ...RULES, audiences: new Map() } })
    const outcome = here.ask(exchangeOf(here))
    expect([errorOf(outcome), reasonOf(outcome)]).toEqual(['invalid_scope', 'scope_insufficient'])
  })
})
