/**
 * Starts the demo: a service with an authorization server, and a third-party application that uses it, on loopback.
 * @module
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { build } from './build.mjs'

const HELP = `Usage: npm start -- [options]

  --port N   port of the service, 4000 by default; 0 takes any free one.
             The application gets the next port, or any free one.
  --json     print one line of JSON first, for a script that drives the server
  --help     print this
`

for (const signal of ['SIGINT', 'SIGTERM']) {
  // Everything is in memory, so there is nothing to save, and open connections are not waited for.
  process.on(signal, () => process.exit(0))
}
if (process.env.npm_lifecycle_event === 'start') {
  // Told to end, npm ends the shell that it ran this in, and the shell tells nobody.
  const shell = process.ppid
  setInterval(() => process.ppid !== shell && process.exit(0), 50).unref()
}

const options = readOptions()
if (options.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
await build().catch((error) => fail(error.message, 1))
const { createHost } = await import('./host.mjs')
const { createApplication } = await import('./application.mjs')

const sites = openSites(options.port)
const { host, application } = await sites.catch((error) => fail(listenError(error), 1))
process.stdout.write(options.json ? `${JSON.stringify(forScripts())}\n` : forPeople())

/** Opens both sites. Each has to know the address of the other, so both listen before either is made. */
async function openSites(port) {
  const hostOrigin = await listen(port, async (...http) => (await sites).host.handle(...http))
  const toApplication = async (...http) => (await sites).application.handle(...http)
  const next = port === 0 ? 0 : port + 1
  const applicationOrigin = await listen(next, toApplication).catch(() => listen(0, toApplication))

  const host = await createHost({ issuer: hostOrigin, website: applicationOrigin })
  const application = createApplication({
    origin: applicationOrigin,
    issuer: hostOrigin,
    api: host.api,
    clientId: host.clientId,
    clientSecret: host.clientSecret,
  })
  return { host, application }
}

/** Listens on loopback alone, so that nobody else on the network can reach the demo. */
async function listen(port, handle) {
  const server = createServer(handle).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${server.address().port}`
}

function forScripts() {
  return {
    issuer: host.issuer,
    app: application.origin,
    api: host.api,
    client_id: host.clientId,
    client_secret: host.clientSecret,
    redirect_uri: application.redirectUri,
    username: host.username,
    password: host.password,
    admin_username: host.administrator.username,
    admin_password: host.administrator.password,
  }
}

function forPeople() {
  return `
  Open the sample application:  ${application.origin}

  It sends you to the service:  ${host.issuer}
  There you sign in as:         ${host.username}
  with the password:            ${host.password}

  Applications are approved by: ${host.administrator.username}
  with the password:            ${host.administrator.password}

  Log in from a terminal with:  ${loginCommand()}

  Ctrl+C ends the demo; it forgets everything.

`
}

function loginCommand() {
  return `npm run demo:login${options.port === 4000 ? '' : ` -- --issuer ${host.issuer}`}`
}

function readOptions() {
  const known = { port: { type: 'string', default: '4000' }, json: { type: 'boolean' }, help: { type: 'boolean' } }
  try {
    const { values } = parseArgs({ options: known })
    const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN
    return port <= 65_535 ? { ...values, port } : fail('The option --port needs a number from 0 to 65535.', 2)
  } catch (error) {
    // Node explains at length; its first sentence says what is wrong.
    return fail(`${error.message.split(/\.\s/)[0]}; --help lists the options.`, 2)
  }
}

function listenError(error) {
  if (error.code === 'EADDRINUSE') {
    return `Port ${options.port} is in use; take another one with --port N, or any free one with --port 0.`
  }
  if (error.code === 'EACCES') return `Port ${options.port} is not yours to use; take one above 1023 with --port N.`
  return `The demo could not start: ${error.message}.`
}

function fail(sentence, code) {
  process.stderr.write(`${sentence}\n`)
  process.exit(code)
}
