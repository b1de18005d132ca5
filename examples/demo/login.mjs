/**
 * A command-line tool that logs in at the demo by the device flow (RFC 8628), and stays logged in.
 * @module
 */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'

/** Exit codes, so that a script can tell what happened. */
const EXIT = { failed: 1, usage: 2, unreachable: 3, server: 4, denied: 5, expired: 6, file: 7, interrupted: 130 }

const HELP = `Usage: npm run demo:login -- [options]

Logs in at the demo, which npm start has started, and keeps the tokens in a file that only you can read. Where you are
logged in already, it says as whom.

  --again         log in anew all the same; once that is done, the login before ends
  --logout        log out: the tokens end, and the file is removed
  --issuer URL    address of the service, as it calls itself; http://127.0.0.1:4000 by default
  --client-id ID  who asks, demo-cli by default
  --scope SCOPES  what to log in for, separated by spaces; everything that the client may have by default
  --file PATH     where to keep the tokens, grantwell-demo/tokens.json in your configuration folder by default
  --no-qr         print no QR code
  --help          print this

Exit codes: 0 done, ${EXIT.usage} wrong options, ${EXIT.unreachable} nobody answers, ${EXIT.server} the answer is not of such a service,
${EXIT.denied} refused, ${EXIT.expired} too late, ${EXIT.file} the file cannot be used, ${EXIT.interrupted} interrupted, ${EXIT.failed} anything else.
`

/** Seconds that somebody at a terminal is kept waiting for an answer of the API, or for tokens to be refreshed. */
const PATIENCE = 10

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => fail('interrupted', 'Interrupted.'))

const options = readOptions()
if (options.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
await build().catch((error) => fail('failed', error.message))
const { authorizedFetch, createTokenSource, discover, login, revokeTokens } = await import('grantwell/client')
const { fileTokenStore } = await import('grantwell/client/node')
const { renderUnicodeCompact } = await import('uqr')

/** The exit code for each code of the library's errors, and a sentence where there is a better one here. */
const FAILURES = {
  ERR_CONFIGURATION: ['usage'],
  ERR_UNREACHABLE: ['unreachable', `Nobody answers at ${options.issuer}: start the demo with npm start.`],
  ERR_RESPONSE: ['server'],
  ERR_TOKEN_TYPE: ['server'],
  ERR_ACCESS_DENIED: ['denied', 'You refused, so nothing was stored.'],
  ERR_LOGIN_EXPIRED: ['expired', 'The code expired before you decided: start again.'],
  ERR_TOKEN_STORE: ['file'],
}

await run().catch((error) => explain(error))

async function run() {
  const store = fileTokenStore(options.file)
  const client = await discover({ issuer: options.issuer, clientId: options['client-id'] })
  const onError = (error) => process.stderr.write(`${sentenceOf(error)}\n`)
  const source = createTokenSource({ client, store, retryFor: PATIENCE, onError })

  if (options.logout) {
    await logOut(source)
  } else if (options.again || !(await greet(source))) {
    await logIn(client, source, store)
    if (!(await greet(source))) fail('failed', 'The service has taken back what it just gave.')
  }
}

async function logIn(client, source, store) {
  // Fails where tokens could not be kept, so that nobody is asked to log in in vain.
  const before = await store.exclusively(async () => store.read())
  const tokens = await login(client, { scope: options.scope, show: showCode })
  try {
    await source.save(tokens)
  } catch (error) {
    // Nobody has them now, so nobody may use them.
    await revokeTokens(client, tokens).catch(() => {})
    throw error
  }
  // The file has those no more. Where it does not succeed, as with tokens of another service, they work until they expire.
  if (before !== undefined) await revokeTokens(client, before).catch(() => {})
}

async function logOut(source) {
  try {
    await source.revoke()
  } catch (error) {
    if (error.code === 'ERR_TOKEN_STORE') throw error
    explain(error, 'The tokens are removed, but the service did not end them: they work until they expire.')
  }
  process.stdout.write(`\n  You are not logged in at ${plain(source.issuer)} any more.\n\n`)
}

function showCode({ userCode, verificationUri, verificationUriComplete, expiresIn }) {
  const minutes = Math.ceil(expiresIn / 60)
  process.stdout.write(`
  Open this address:    ${plain(verificationUri)}
  and enter this code:  ${plain(userCode)}
  within ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.
`)
  if (verificationUriComplete === undefined || options['no-qr']) return
  process.stdout.write(`
  Or scan this, and compare the code:

${qrCode(verificationUriComplete)}
`)
}

/** Dark on light whatever the colours of the terminal are; without colours where the output is no terminal. */
function qrCode(text) {
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n')
  // In these characters light is the foreground.
  const colours = process.stdout.isTTY ? ['\x1b[38;5;231;48;5;16m', '\x1b[0m'] : ['', '']
  return lines.map((line) => `  ${colours[0]}${line}${colours[1]}\n`).join('')
}

/**
 * Says who is logged in, as the API of the demo knows.
 * @returns false where nobody is, or not any more
 */
async function greet(source) {
  const user = await callApi(source)
  if (user === undefined) return false
  const { scope } = await source.get()
  process.stdout.write(`
  You are logged in${user}${scope === undefined ? '' : `, for ${plain(scope)}`}.
  The tokens are in ${options.file}
  --logout logs out, --again logs in anew.

`)
  return true
}

/** As whom somebody is logged in, in words; undefined where nobody is. */
async function callApi(source) {
  try {
    const response = await authorizedFetch(source, { fetch: fetchInTime })(`${source.issuer}/api/user`)
    const text = await response.text()
    if (response.status === 403) return ' (as whom was not asked for: account-profile:r)'
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    const { name, username } = JSON.parse(text)
    return ` as ${plain(name)} (${plain(username)})`
  } catch (error) {
    if (error.code === 'ERR_AUTHORIZATION_REQUIRED') return undefined
    if (error.code in FAILURES) throw error
    return fail('failed', `The API of the demo did not take the tokens in ${options.file}: ${plain(error.message)}.`)
  }
}

/** Each request has its own time: the source has some to refresh the tokens in between. */
function fetchInTime(url, init) {
  return fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE * 1000) })
}

/** Text of the service for a terminal, which would obey control characters. */
function plain(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
}

/** Tells the user of an error of the library: in these words, else in ours, else in its own. */
function explain(error, words) {
  const [how, ours] = FAILURES[error.code] ?? []
  if (how === undefined) throw error // a mistake in here
  fail(error.error === 'invalid_scope' ? 'usage' : how, words ?? ours ?? sentenceOf(error))
}

/** A message of the library, such as `grantwell: the user refused`, as a sentence. */
function sentenceOf({ message }) {
  const text = message.replace(/^grantwell: /, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function defaultFile() {
  const { XDG_CONFIG_HOME: given = '' } = process.env
  // XDG Base Directory Specification: a relative path is to be ignored.
  return join(isAbsolute(given) ? given : join(homedir(), '.config'), 'grantwell-demo', 'tokens.json')
}

function readOptions() {
  const known = {
    again: { type: 'boolean' },
    logout: { type: 'boolean' },
    issuer: { type: 'string', default: 'http://127.0.0.1:4000' },
    'client-id': { type: 'string', default: 'demo-cli' },
    scope: { type: 'string' },
    file: { type: 'string', default: defaultFile() },
    'no-qr': { type: 'boolean' },
    help: { type: 'boolean' },
  }
  try {
    const { values } = parseArgs({ options: known })
    return values.again && values.logout
      ? fail('usage', 'The options --again and --logout exclude each other.')
      : values
  } catch (error) {
    // Node explains at length; its first sentence says what is wrong.
    return fail('usage', `${error.message.split(/\.\s/)[0]}; --help lists the options.`)
  }
}

function fail(how, sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(EXIT[how])
}
