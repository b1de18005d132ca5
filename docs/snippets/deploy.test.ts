/**
 * The code of the page "Deployment": options from the environment, limits of Node's server, and an orderly end.
 * @module
 */

// #region imports
import http from 'node:http'
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { createNodeHandler, nodeDigests } from 'grantwell/node'
// #endregion imports
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { memoryStore } from 'grantwell/storage/memory'
import { expect, it } from 'vitest'

// #region options
type Environment = Readonly<Record<string, string | undefined>>

/** Reads what differs between machines from the environment. A wrong value ends the start. */
function optionsFrom(environment: Environment, store: RecordStore): AuthorizationServerOptions<http.IncomingMessage> {
  const { ISSUER, DERIVATION_KEY } = environment
  if (ISSUER === undefined || DERIVATION_KEY === undefined) throw new Error('set ISSUER and DERIVATION_KEY')
  return {
    issuer: ISSUER, // https://git.example
    store,
    digests: nodeDigests,
    derivationKey: Buffer.from(DERIVATION_KEY, 'base64'),
    remoteAddress: ({ native }) => forwardedFor(native),
    user: ({ native }) => sessionOf(native),
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    onEvent: (event) => console.log(JSON.stringify(event)),
    onError: (error) => console.error(error),
  }
}

/** The address that the proxy itself added: the last one. All before it can come from the client. */
function forwardedFor(request: http.IncomingMessage): string | undefined {
  const all = String(request.headers['x-forwarded-for'] ?? '')
  return all.split(',').at(-1)?.trim() || undefined
}
// #endregion options

function sessionOf(request: http.IncomingMessage) {
  return request.headers.cookie === undefined ? undefined : { subject: 'ada' }
}

// #region server
/** Starts the service. `close` of the result ends it in order. */
function start(options: AuthorizationServerOptions<http.IncomingMessage>, port: number, closeStore: () => unknown) {
  const oauth = createNodeHandler(createAuthorizationServer<http.IncomingMessage>(options))
  const web = http.createServer(oauth)
  web.headersTimeout = 10_000 // milliseconds until all headers must be there
  web.requestTimeout = 30_000 // and the whole request
  web.maxConnections = 2_000
  web.listen(port, '127.0.0.1') // the proxy reaches it; nobody else does

  let isClosing = false
  web.prependListener('request', (_, response) => {
    // A connection that is always busy would keep `close` waiting.
    if (isClosing) response.setHeader('Connection', 'close')
  })

  /** Takes no new connection, waits for the requests that run, and closes the store last. */
  const close = async () => {
    isClosing = true
    await new Promise((resolve) => web.close(resolve))
    await closeStore()
  }
  return { web, close }
}
// #endregion server

it('starts by its environment, and ends in order', async () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  const store = memoryStore()
  const ended: string[] = []
  const options = optionsFrom({ ISSUER: 'https://git.example', DERIVATION_KEY: key }, store)
  const { web, close } = start(options, 0, () => ended.push('store'))
  await new Promise((resolve) => web.once('listening', resolve))
  const { port } = web.address() as AddressInfo
  const answer = await fetch(`http://127.0.0.1:${port}/.well-known/oauth-authorization-server`)
  const metadata = (await answer.json()) as { readonly issuer: string; readonly token_endpoint: string }
  expect(metadata.issuer).toBe('https://git.example')
  expect(metadata.token_endpoint).toBe('https://git.example/oauth2/token')
  // A connection that is busy while the service ends: the request under way is answered, and the next one is the last.
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const send = (method: string, path: string) => http.request({ host: '127.0.0.1', port, method, path, agent })
  const answerTo = async (request: http.ClientRequest) => {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage] // Node's own event
    await once(response.resume(), 'end')
    return [response.statusCode, response.headers.connection]
  }
  const running = send('POST', '/oauth2/token').setHeader('Content-Type', 'application/x-www-form-urlencoded')
  const reached = once(web, 'request')
  running.write('grant_type=')
  await reached
  const closed = close()
  running.end('refresh_token')
  expect(await answerTo(running)).toEqual([401, 'keep-alive'])
  expect(await answerTo(send('GET', '/.well-known/oauth-authorization-server').end())).toEqual([200, 'close'])
  await closed
  expect(ended).toEqual(['store'])
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
})

it('refuses a wrong environment at start', () => {
  const store = memoryStore()
  expect(() => optionsFrom({}, store)).toThrow('set ISSUER and DERIVATION_KEY')
  const make = (ISSUER: string, DERIVATION_KEY: string) =>
    createAuthorizationServer(optionsFrom({ ISSUER, DERIVATION_KEY }, store))
  const key = Buffer.alloc(32, 7).toString('base64')
  expect(() => make('http://git.example', key)).toThrow(
    'createAuthorizationServer: the option issuer must be https, or http on loopback or with allowInsecureIssuer; got',
  )
  expect(() => make('https://git.example', 'short')).toThrow(
    'createAuthorizationServer: the option derivationKey must be a Uint8Array of 32 random bytes or more',
  )
})

it('takes the address that the proxy added', () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  const { remoteAddress } = optionsFrom({ ISSUER: 'https://git.example', DERIVATION_KEY: key }, memoryStore())
  const native = { headers: { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' } } as unknown as http.IncomingMessage
  expect(remoteAddress?.({ method: 'GET', url: '/', headers: {}, native })).toBe('192.0.2.1')
})
