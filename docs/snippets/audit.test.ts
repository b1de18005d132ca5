/**
 * The code of the page "The audit trail", over a real PostgreSQL.
 * @module
 */

// #region imports
import type { AuditEvent, AuthorizationServer, HttpRequest, RequestLike } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { postgresStore } from 'grantwell/storage/postgres'
import { Pool } from 'pg'
// #endregion imports
import { describe, expect, it } from 'vitest'
import { describeWith, postgresql } from '../../test/engines/available.js'
import { startPostgres } from '../../test/engines/postgres.js'
import {
  authorizationUrl,
  openConsent,
  post,
  registration,
  START,
  send,
  testServer,
  tokens,
  WEB,
} from '../../test/support.js'
import { readPage } from './page-words.js'

// #region keep
/** Makes the table of the audit trail, and the function that writes an event into it. */
async function createAuditTable(pool: Pool) {
  await pool.query(`CREATE TABLE IF NOT EXISTS audit (
    at timestamptz NOT NULL,
    type text NOT NULL,
    subject text,
    client_id text,
    grant_id text,
    event jsonb NOT NULL
  )`)
  await pool.query('CREATE INDEX IF NOT EXISTS audit_grant ON audit (grant_id)')
  return async (event: AuditEvent): Promise<void> => {
    // What was not stored is about the grant or the application of its events.
    const [about] = event.type === 'not_stored' ? event.events : [event]
    const { subject, clientId, applicationId, grantId } = { ...COLUMNS, ...about }
    const values = [event.at, event.type, subject, clientId ?? applicationId, grantId, event]
    await pool.query('INSERT INTO audit VALUES (to_timestamp($1), $2, $3, $4, $5, $6)', values)
  }
}

/** The columns that not every event has. */
const COLUMNS = { subject: undefined, clientId: undefined, applicationId: undefined, grantId: undefined }
// #endregion keep

// #region server
async function createServer(records: Pool, trail: Pool) {
  return createAuthorizationServer({
    issuer: 'https://git.example',
    store: postgresStore(records),
    user: () => ({ subject: 'ada' }), // your session
    signInUrl: () => '/sign-in',
    onEvent: await createAuditTable(trail),
    audit: 'required', // leave it out if the trail only observes
    requestId,
  })
}

/** Returns the identifier that the proxy gave a request. */
function requestId({ headers }: HttpRequest): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' ? id : undefined
}
// #endregion server

// #region actor
async function suspend(server: AuthorizationServer, clientId: string, administrator: string, request: RequestLike) {
  await server.applications.suspend(clientId, { actor: administrator, request })
}

async function endAll(server: AuthorizationServer, user: string, request: RequestLike) {
  await server.grants.revokeAll(user, { request })
}
// #endregion actor

// #region forget
/** Takes a user out of the rows that are older than you may keep them. */
async function forget(trail: Pool, subject: string, days: number) {
  await trail.query(
    `UPDATE audit SET subject = NULL, event = event - 'subject' - 'request' || CASE WHEN event ? 'events'
       THEN jsonb_build_object('events', (SELECT jsonb_agg(e - 'subject' - 'request') FROM jsonb_array_elements(event -> 'events') e))
       ELSE '{}' END
     WHERE subject = $1 AND at < now() - make_interval(days => $2)`,
    [subject, days],
  )
}
// #endregion forget

const page = readPage('operations/audit')

describeWith(describe, postgresql, 'PostgreSQL', () => {
  it('writes every event in a row, does nothing that it cannot write, and forgets', async () => {
    const engine = await startPostgres()
    const pools = [new Pool(engine.connection), new Pool(engine.connection)] as const
    const [records, trail] = pools
    try {
      await postgresStore(records).migrate()
      const server = await createServer(records, trail)
      const rows = async () => (await trail.query('SELECT * FROM audit ORDER BY at')).rows
      await server.applications.register(registration(), WEB)
      const test = { server } as Awaited<ReturnType<typeof testServer>> // all that the helpers use here
      const { fields, headers } = await openConsent(test)
      const agree = { ...fields, decision: 'agree' }
      const sent = { ...headers, 'x-request-id': '7f3a', 'user-agent': 'Mozilla/5.0' }
      await post(server, '/oauth2/auth', agree, sent)
      const issued = (await rows()).find(({ type }) => type === 'issued')
      expect(issued).toMatchObject({
        subject: 'ada',
        client_id: 'web',
        grant_id: fields['grant'] ?? expect.any(String),
      })
      expect(issued?.event.request).toMatchObject({ userAgent: 'Mozilla/5.0', id: '7f3a' })

      await trail.query('ALTER TABLE audit RENAME TO gone')
      const request = { headers: { 'user-agent': 'admin' } }
      await expect(suspend(server, 'web', 'root', request)).rejects.toMatchObject({ code: 'ERR_STORE' })
      expect(await server.applications.get('web')).toMatchObject({ state: 'approved' })
      await trail.query('ALTER TABLE gone RENAME TO audit')
      await endAll(server, 'ada', request)
      await suspend(server, 'web', 'root', request)
      expect((await rows()).slice(-2)).toMatchObject([
        { type: 'revoked', subject: 'ada', event: { cause: 'user', request: { userAgent: 'admin' } } },
        { type: 'application', client_id: 'web', event: { change: 'suspended', actor: 'root' } },
      ])

      // Another request was first, so what was announced of this one does not count.
      const write = await createAuditTable(trail)
      const [revoked] = (await rows()).filter(({ type }) => type === 'revoked')
      await write({ type: 'not_stored', at: revoked?.event.at, cause: 'overtaken', events: [revoked?.event] })
      expect((await rows()).filter(({ type }) => type === 'not_stored')).toMatchObject([
        { subject: 'ada', client_id: 'web', grant_id: revoked?.grant_id },
      ])

      await trail.query("UPDATE audit SET at = at - interval '100 days'")
      await forget(trail, 'ada', 90)
      expect(JSON.stringify(await rows())).not.toMatch(/ada|7f3a/)
      expect((await rows()).filter(({ type }) => type === 'not_stored')).toMatchObject([
        { grant_id: revoked?.grant_id, event: { events: [{ type: 'revoked', cause: 'user' }] } },
      ])
    } finally {
      await Promise.all(pools.map((pool) => pool.end()))
      await engine.remove()
    }
  })
})

it('writes the samples of the page', async () => {
  const lines: string[] = []
  const test = await testServer({
    onEvent: (event) => void lines.push(JSON.stringify(event)),
    remoteAddress: () => '192.0.2.7',
    requestId,
  })
  const { access_token } = await tokens(test)
  lines.length = 0
  const browser = { 'user-agent': 'Mozilla/5.0', 'x-request-id': '7f3a' }
  await send(test.server, {
    url: authorizationUrl({ redirect_uri: 'https://app.example.test/callback' }),
    headers: browser,
  })
  const headers = { authorization: `Bearer ${access_token}`, 'user-agent': 'sync/2.1', 'x-request-id': '7f3b' }
  await test.server.authenticate(
    { method: 'DELETE', url: '/repositories/7?force=1', headers },
    { scope: 'repo-delete:rw' },
  )
  const sample = lines.join('\n').replace(/"grantId":"[^"]+"/, '"grantId":"nQzJ3tUwq1h0Vb6xkT8m2A"')
  expect(sample).toContain(`"at":${START}`)
  expect(page).toContain(`\`\`\`json\n${sample}\n\`\`\``)
})
