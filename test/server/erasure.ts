/**
 * A life on the service that is erased: a user's grants of every kind, and an application with its applicant.
 * @module
 */
import type { AuthorizationServerOptions } from 'grantwell'
import { expect } from 'vitest'
import { codesOf, decide } from '../protocol/device-form.js'
import type { TestServer, Tokens } from '../support.js'
import {
  authorize,
  exchange,
  LOGO,
  openConsent,
  post,
  refresh,
  registration,
  revoke,
  testServer,
  tokens,
} from '../support.js'

/** The user who is erased. Nothing else has the words of these names in it. */
export const ADA = 'ada-b0f7c1e2'
/** A user who stays. */
export const GRACE = 'grace-5d2a9c40'
/** The applicant of the application that is erased. */
export const CAROL = 'carol-77e1d03b'
/** A repository that Ada named. */
export const REPOSITORY = 'repository-e4c8a913'
/** The name of the application that is erased. */
export const NOTES = 'Notes of 93ab10cd'

/** What was there before the erasure. */
export interface Life {
  readonly test: TestServer
  /** A code of Ada that was exchanged, and one that was not. */
  readonly codes: readonly string[]
  /** Ada's tokens that work. */
  readonly ada: readonly Tokens[]
  /** Grace's tokens, for an application that stays. */
  readonly grace: Tokens
  readonly erasedApplication: string
  /** The identifier of a form of Ada that was decided. */
  readonly repeatForm: () => Promise<number>
}

/** Lives it on a store. */
export async function live(options: Partial<AuthorizationServerOptions> = {}): Promise<Life> {
  const test = await testServer({ resources: () => [{ id: REPOSITORY }, { id: 'repository' }], ...options })
  const { server, session } = test
  const submission = {
    ...registration({ name: NOTES, redirectUris: ['https://notes-93ab10cd.example/callback'], deviceFlow: true }),
    scopes: [{ scope: 'repo-code:rw', reason: 'To keep notes' }],
  }
  const { id } = await server.applications.submit(submission, { applicant: CAROL })
  const { clientSecret = '' } = await server.applications.approve(id, { revision: 1 })
  await server.applications.change(id, { description: `Another one of ${CAROL}`, logo: LOGO })
  const notes = { clientId: id, clientSecret }

  session.user = { subject: ADA }
  const chosen = { resource_scope: 'specified', resource: REPOSITORY }
  const { code } = await authorize(test, {}, chosen)
  const exchanged = await exchange(test, code)
  const refreshed = await refresh(test, exchanged.body.refresh_token)
  const { code: unused } = await authorize(test)
  const revoked = await tokens(test)
  expect((await revoke(test, revoked.refresh_token)).status).toBe(200)
  const form = await openConsent(test)
  const send = (decision: string) => post(server, '/oauth2/auth', { ...form.fields, decision }, form.headers)
  expect((await send('refuse')).status).toBe(302)
  const device = await codesOf(test, {}, notes)
  await decide(test, device)
  await authorize(test, {
    client_id: id,
    redirect_uri: 'https://notes-93ab10cd.example/callback',
    scope: 'repo-code:r',
  })

  session.user = { subject: GRACE }
  const grace = await tokens(test)
  await authorize(test, {
    client_id: id,
    redirect_uri: 'https://notes-93ab10cd.example/callback',
    scope: 'repo-code:r',
  })
  return {
    test,
    codes: [code, unused],
    ada: [refreshed.body],
    grace,
    erasedApplication: id,
    repeatForm: async () => {
      session.user = { subject: ADA }
      return (await send('agree')).status
    },
  }
}

/** Erases both, as the documentation says. */
export async function eraseBoth({ test, erasedApplication }: Life): Promise<number> {
  await test.server.applications.erase(erasedApplication, { actor: 'root' })
  return test.server.grants.erase(ADA, { actor: 'root' })
}

/** What no record may have in it afterwards. */
export const ERASED = [ADA, CAROL, REPOSITORY, NOTES, 'notes-93ab10cd']
