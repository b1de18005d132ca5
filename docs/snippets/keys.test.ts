/**
 * The code of the page "Keys that change": each step, beside servers of the step before.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { createAuthorizationServer } from 'grantwell'
import { ISSUER, refresh, testServer, tokens } from '../../test/support.js'

const oldKey = new Uint8Array(32).fill(1)
const newKey = new Uint8Array(32).fill(2)
const key = oldKey

// #region change
const CHANGE = [
  { derivationKey: oldKey },
  { derivationKey: [oldKey, newKey] }, // 1: known everywhere
  { derivationKey: [newKey, oldKey] }, // 2: derives
  { derivationKey: newKey }, // 3: the old one is forgotten
]
// #endregion change

// #region introduce
const INTRODUCE = [
  {},
  { derivationKey: ['none' as const, key] }, // 1: known everywhere
  { derivationKey: [key, 'none' as const] }, // 2: derives
  { derivationKey: key }, // 3: what was derived without a key is forgotten
]
// #endregion introduce

// #region retire
const RETIRE = [
  { derivationKey: key },
  { derivationKey: [key, 'none' as const] },
  { derivationKey: ['none' as const, key] },
  {},
]
// #endregion retire

describe.each([
  ['a change', CHANGE],
  ['an introduction', INTRODUCE],
  ['a retirement', RETIRE],
])('%s', (_, steps) => {
  it('fails no retry while servers of two steps run side by side', async () => {
    const test = await testServer()
    const servers = steps.map((keys) =>
      createAuthorizationServer({
        issuer: ISSUER,
        store: test.store,
        clock: () => test.clock.now,
        user: () => ({ subject: 'ada' }),
        signInUrl: () => '/sign-in',
        ...keys,
      }),
    )
    for (const [step, server] of servers.entries()) {
      const here = { ...test, server }
      const pair = await tokens(here)
      const { body } = await refresh(here, pair.refresh_token)
      for (const beside of [servers[step - 1], servers[step + 1]].filter((each) => each !== undefined)) {
        expect((await refresh({ ...test, server: beside }, pair.refresh_token)).body).toStrictEqual(body)
      }
    }
  })
})
