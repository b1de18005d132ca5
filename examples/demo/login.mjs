/**
 * A command-line tool that logs in at the demo by the device flow (RFC 8628), with a stock client library.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import * as oauth from 'oauth4webapi'
import { renderUnicodeCompact } from 'uqr'
import { defaultFile, prepareFile } from './token-file.mjs'

/** Exit codes, so that a script can tell what happened. */
const EXIT = { failed: 1, usage: 2, unreachable: 3, server: 4, denied: 5, expired: 6, file: 7, interrupted: 130 }

const HELP = `Usage: npm run demo:login -- [options]

Logs in at the demo, which npm start has started, and keeps the tokens in a file that only you can read.

  --issuer URL    address of the service, http://127.0.0.1:4000 by default
  --client-id ID  who asks, demo-cli by default
  --scope SCOPES  what for, separated by spaces; everything that the client may have by default
  --file PATH     where to keep the tokens, grantwell-demo/tokens.json in your configuration folder by default
  --no-qr         print no QR code
  --help          print this

Exit codes: 0 logged in, ${EXIT.usage} wrong options, ${EXIT.unreachable} nobody answers, ${EXIT.server} the answer is not of such a service,
${EXIT.denied} refused, ${EXIT.expired} too late, ${EXIT.file} the file cannot be written, ${EXIT.interrupted} interrupted, ${EXIT.failed} anything else.
`

/** Seconds between two polls where the server does not say (RFC 8628, section 3.2), and what `slow_down` adds (3.5). */
const INTERVAL = 5
const SLOWER = 5

/** Seconds to wait for an answer, and at most between two tries where none comes. */
const ANSWER_TIMEOUT = 10
const BACKOFF_MAX = 60

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => fail('interrupted', 'Interrupted.'))

const options = readOptions()
if (options.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const issuer = readIssuer(options.issuer)
const client = { client_id: options['client-id'] }
const authentication = oauth.None() // a tool that everybody can read keeps no secret

const file = await prepareFile(options.file).catch((error) => fail('file', error.message))
const server = await discover()
const device = await requestCodes()
showCode(device)
const tokens = await waitForTokens(device)
await store(tokens)
await callApi(tokens)

async function discover() {
  try {
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...http() })
    return await oauth.processDiscoveryResponse(issuer, response)
  } catch (error) {
    if (isUnanswered(error)) fail('unreachable', `Nobody answers at ${options.issuer}: start the demo with npm start.`)
    if (error.code === oauth.JSON_ATTRIBUTE_COMPARISON) {
      const { issuer: other } = error.cause?.body ?? {}
      fail('server', `The service at ${options.issuer} calls itself ${plain(other)}: give that address with --issuer.`)
    }
    return fail('server', `There is no authorization server at ${options.issuer}.`)
  }
}

async function requestCodes() {
  try {
    const scope = options.scope === undefined ? {} : { scope: options.scope }
    const response = await oauth.deviceAuthorizationRequest(server, client, authentication, scope, http())
    return await oauth.processDeviceAuthorizationResponse(server, client, response)
  } catch (error) {
    if (isUnanswered(error)) fail('unreachable', `The service at ${options.issuer} does not answer any more.`)
    const usage = error instanceof oauth.ResponseBodyError && error.error === 'invalid_scope'
    return fail(usage ? 'usage' : 'server', `The service gave no code: ${problemOf(error)}.`)
  }
}

function showCode({ user_code, verification_uri, verification_uri_complete, expires_in }) {
  const minutes = Math.ceil(expires_in / 60)
  process.stdout.write(`
  Open this address:    ${plain(verification_uri)}
  and enter this code:  ${plain(user_code)}
  within ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.
`)
  if (verification_uri_complete === undefined || options['no-qr']) return
  process.stdout.write(`
  Or scan this, and compare the code:

${qrCode(verification_uri_complete)}
`)
}

/** Dark on light whatever the colours of the terminal are; without colours where the output is no terminal. */
function qrCode(text) {
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n')
  // In these characters light is the foreground.
  const colours = process.stdout.isTTY ? ['\x1b[38;5;231;48;5;16m', '\x1b[0m'] : ['', '']
  return lines.map((line) => `  ${colours[0]}${line}${colours[1]}\n`).join('')
}

/** Polls until the user has decided (RFC 8628, sections 3.4 and 3.5). */
async function waitForTokens({ device_code, expires_in, interval = INTERVAL }) {
  const deadline = performance.now() + expires_in * 1000
  let pause = interval
  let wait = pause // longer than the pause as long as no answer comes
  while (performance.now() < deadline) {
    await sleep(wait * 1000)
    try {
      const response = await oauth.deviceCodeGrantRequest(server, client, authentication, device_code, http())
      return await oauth.processDeviceCodeResponse(server, client, response)
    } catch (error) {
      if (isUnanswered(error)) {
        wait = Math.max(pause, Math.min(wait * 2, BACKOFF_MAX))
        continue
      }
      const code = error instanceof oauth.ResponseBodyError ? error.error : undefined
      if (code === 'access_denied') fail('denied', 'You refused, so nothing was stored.')
      if (code === 'expired_token') break
      if (code === 'slow_down') pause += SLOWER
      else if (code !== 'authorization_pending') fail('server', `The service gave no tokens: ${problemOf(error)}.`)
      wait = pause
    }
  }
  return fail('expired', 'The code expired before you decided: start again.')
}

async function store({ access_token, refresh_token, token_type, expires_in, scope }) {
  const content = {
    issuer: server.issuer,
    ...client,
    ...{ token_type, access_token, refresh_token, scope },
    ...(expires_in !== undefined && { expires_at: Math.floor(Date.now() / 1000) + expires_in }),
  }
  try {
    await file.write(`${JSON.stringify(content, null, 2)}\n`)
  } catch (error) {
    // Nobody has them now, so nobody may use them.
    await oauth.revocationRequest(server, client, authentication, refresh_token ?? access_token, http()).catch(() => {})
    fail('file', error.message)
  }
  process.stdout.write(`\n  The tokens are in ${options.file}\n`)
}

/** Shows who it is that has logged in. */
async function callApi({ access_token }) {
  try {
    const url = new URL(`${server.issuer}/api/user`)
    const response = await oauth.protectedResourceRequest(access_token, 'GET', url, undefined, undefined, http())
    const { name, username } = await response.json()
    process.stdout.write(`  You are logged in as ${plain(name)} (${plain(username)}).\n\n`)
  } catch (error) {
    if (error instanceof oauth.WWWAuthenticateChallengeError && error.status === 403) {
      process.stdout.write('  You are logged in; who you are was not asked for (account-profile:r).\n\n')
    } else fail('failed', 'The tokens are stored, but the API of the demo did not take them.')
  }
}

function http() {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT * 1000)
  return { signal, [oauth.allowInsecureRequests]: issuer.protocol === 'http:' } // on loopback: see readIssuer
}

/** No connection, no whole answer in time, or the answer of a server that is busy: worth another try. */
function isUnanswered(error) {
  if (error.name === 'TimeoutError' || (error instanceof TypeError && error.cause instanceof Error)) return true
  if (error.cause instanceof Response) return error.cause.status >= 500
  return error.cause instanceof Error && isUnanswered(error.cause)
}

/** What the server says is wrong. */
function problemOf(error) {
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return `it knows no public client ${plain(client.client_id)}`
  return error instanceof oauth.ResponseBodyError ? plain(error.error_description ?? error.error) : plain(error.message)
}

/** Text of the server for a terminal, which would obey control characters. */
function plain(text) {
  return String(text)
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .replace(/\.$/, '')
}

/** Without TLS everybody on the way could read the tokens: never but on loopback. */
function readIssuer(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url?.hostname)
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && loopback)) return url
  return fail('usage', 'The option --issuer needs an https address, or an http one on loopback.')
}

function readOptions() {
  const known = {
    issuer: { type: 'string', default: 'http://127.0.0.1:4000' },
    'client-id': { type: 'string', default: 'demo-cli' },
    scope: { type: 'string' },
    file: { type: 'string', default: defaultFile() },
    'no-qr': { type: 'boolean' },
    help: { type: 'boolean' },
  }
  try {
    return parseArgs({ options: known }).values
  } catch (error) {
    // Node explains at length; its first sentence says what is wrong.
    return fail('usage', `${error.message.split(/\.\s/)[0]}; --help lists the options.`)
  }
}

function fail(how, sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(EXIT[how])
}
