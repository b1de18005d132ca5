/**
 * The code of the page "Erase a user".
 * @module
 */
// #region erase
import type { AuthorizationServer } from 'grantwell'

/** Erases a user who was signed out. Applications that others use go to a colleague. */
async function eraseUser(server: AuthorizationServer, subject: string, colleague: string, actor: string) {
  const mine = await server.applications.list({ applicant: subject }, { limit: 1000 })
  for (const { id, state } of mine.applications) {
    const { users } = await server.grants.countGrants(id)
    if (state === 'approved' && users > 0) await server.applications.transfer(id, { applicant: colleague, actor })
    else await server.applications.erase(id, { actor })
  }
  return server.grants.erase(subject, { actor })
}
// #endregion erase
import { expect, it } from 'vitest'
import { authorize, registration, testServer, tokens, works } from '../../test/support.js'

it('erases a user, keeps an application that others use, and lets nothing come back', async () => {
  const test = await testServer()
  const { server, session } = test
  const submission = { ...registration(), scopes: [{ scope: 'repo-code:rw', reason: 'To push' }] }
  const used = await server.applications.submit(submission, { applicant: 'ada' })
  await server.applications.submit({ ...submission, name: 'Unused' }, { applicant: 'ada' })
  await server.applications.approve(used.id, { revision: 1 })
  const pair = await tokens(test)
  session.user = { subject: 'grace' }
  await authorize(test, { client_id: used.id })
  const other = await tokens(test)

  expect(await eraseUser(server, 'ada', 'carol', 'root')).toBe(1)
  expect(await works(test, pair.access_token)).toBe(false)
  expect(await works(test, other.access_token)).toBe(true)
  expect((await server.applications.list({ applicant: 'ada' })).applications).toEqual([])
  const kept = (await server.applications.list({ applicant: 'carol' })).applications
  expect(kept).toMatchObject([{ id: used.id, applicant: 'carol' }])
  expect((await server.grants.listGrants('ada')).grants).toEqual([])
  expect(await eraseUser(server, 'ada', 'carol', 'root')).toBe(0)
})
