/**
 * The code of the page "The console".
 * @module
 */
// #region imports
import { createServer, type IncomingMessage } from 'node:http'
import type { AuditEvent } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { createConsole } from 'grantwell/console'
import { createNodeHandler } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
// #endregion imports
import { afterAll, expect, it } from 'vitest'
import { Visitor } from '../../test/console/visitor.js'

const USERS = [
  { subject: 'user-1', name: 'Ada Lovelace', isAdministrator: false },
  { subject: 'user-2', name: 'Grace Hopper', isAdministrator: true },
]
const sessions = {
  userOf: ({ headers }: IncomingMessage) => USERS.find(({ subject }) => subject === headers['x-user']),
}
const events: AuditEvent[] = []

// #region console
const server = createAuthorizationServer<IncomingMessage>({
  issuer: 'https://git.example',
  store: memoryStore(),
  user: (request) => sessions.userOf(request.native),
  signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
  onEvent: (event) => events.push(event),
})
const console = createConsole(server, {
  administrator: (request) => {
    const user = sessions.userOf(request.native)
    return user?.isAdministrator ? user : undefined
  },
})

const answerOAuth = createNodeHandler(server)
const answerConsole = createNodeHandler(console)
const http = createServer((request, response) => answerOAuth(request, response, () => answerConsole(request, response)))
// #endregion console
http.listen(0, '127.0.0.1')
afterAll(() => http.close())

it('answers on the platform, for who may see it', async () => {
  const { port } = http.address() as { port: number } // it listens on TCP
  const statusOf = async (path: string, user: string) =>
    (await fetch(`http://127.0.0.1:${port}/oauth2/console${path}`, { headers: { 'x-user': user }, redirect: 'manual' }))
      .status
  expect(await statusOf('', 'user-1')).toBe(200)
  expect(await statusOf('', 'nobody')).toBe(302)
  expect(await statusOf('/administration', 'user-1')).toBe(403)
  expect(await statusOf('/administration', 'user-2')).toBe(200)
})

it('writes who did it', async () => {
  await server.applications.registerResourceServer(
    { name: 'Packages', website: 'https://packages.example', scopes: ['repo-code:r'] },
    { clientId: 'packages' },
  )
  const native = { headers: { 'x-user': 'user-2' } } as unknown as IncomingMessage // of which the session alone is read
  const grace = new Visitor({ console: { ...console, handle: (request) => console.handle({ ...request, native }) } })
  const page = await grace.open('/oauth2/console/administration/applications/packages')
  await grace.act(page, 'suspend')
  const [event] = events.slice(-1)
  expect(event).toEqual({
    // #region events
    type: 'application',
    at: expect.any(Number),
    applicationId: 'packages',
    change: 'suspended',
    revision: 1,
    actor: 'user-2',
    // #endregion events
  })
})
