/**
 * Clients whose identifier is a URL, at a server that fetches their documents by the function of `grantwell/node`.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, "Server Side Request Forgery (SSRF) Attacks"
 */
import { fetchClientMetadata } from 'grantwell/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClientMetadataFetch } from '../../src/adapters/node/client-metadata.js'
import { describeWith, openssl } from '../engines/available.js'
import { openFor } from '../protocol/client-documents.js'
import { tokensOf } from '../protocol/registration.js'
import { testServer, works } from '../support.js'
import type { Certificate, Counting } from './https.js'
import { HOST, listenHttps, selfSigned } from './https.js'

const CALLBACK = 'https://tool.example/callback'

describeWith(describe, openssl, 'a client’s document that the server fetches', () => {
  let certificate: Certificate
  let server: Counting

  beforeAll(async () => {
    certificate = selfSigned()
    server = await listenHttps(certificate, ({ url, headers }, response) => {
      const document = { client_id: `https://${headers.host}${url}`, client_name: 'A tool', redirect_uris: [CALLBACK] }
      response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=600' })
      response.end(JSON.stringify(document))
    })
  })
  afterAll(() => server.close())

  it('lets the client through to tokens', async () => {
    const resolve = async () => ['127.0.0.1']
    const settings = { resolve, isAllowed: () => true, deadline: 100_000, ca: certificate.cert }
    const test = await testServer({
      clientPolicy: () => 'approve',
      fetchClientMetadata: createClientMetadataFetch(settings),
    })
    const clientId = `https://${HOST}:${server.port}/client.json`
    const pair = await tokensOf(test, clientId, CALLBACK)
    expect(await works(test, pair.access_token)).toBe(true)
    const application = await test.server.applications.get(clientId)
    expect(application?.selfRegistered?.document?.until).toBe(test.clock.now + 600)
    expect(server.connections()).toBe(1)
  })

  it('is not fetched from the machine itself, however its address is written', async () => {
    const test = await testServer({ clientPolicy: () => 'approve', fetchClientMetadata })
    const before = server.connections()
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]']) {
      const clientId = `https://${host}:${server.port}/client.json`
      const page = await openFor(test, clientId, CALLBACK)
      expect([page.status, page.body], host).toEqual([400, expect.stringContaining('This application cannot be read')])
      expect(test.events.at(-1)).toMatchObject({ reason: 'client_metadata_unavailable', rule: 'document: address' })
    }
    expect(server.connections()).toBe(before)
    expect((await test.server.applications.list({ state: 'approved' })).applications).toHaveLength(3)
  })
})
