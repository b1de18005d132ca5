/**
 * The service: users who sign in, a small API, and grantwell's authorization server mounted beside them, with the console
 * in which applications are handed in and approved.
 * @module
 */
import { randomBytes, scrypt as scryptWithCallback, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { createAuthorizationServer } from 'grantwell'
import { createConsole } from 'grantwell/console'
import { createNodeHandler, nodeDigests, sendResponse } from 'grantwell/node'
import { html } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
import { cookieOf, readForm, redirect, sendJson, sendNotFound, sendPage, setCookie, site } from './page.mjs'

const scrypt = promisify(scryptWithCallback)

/** The users. A subject is what grants are kept under, so it must never change and never be given to another. */
const ADA = { subject: 'user-1', username: 'ada', name: 'Ada Lovelace' }
const GRACE = { subject: 'user-2', username: 'grace', name: 'Grace Hopper', administrator: true }

const REPOSITORIES = [
  { id: '1', owner: 'user-1', name: 'ada/analytical-engine', public: true },
  { id: '2', owner: 'user-1', name: 'ada/bernoulli-numbers', public: true },
  { id: '3', owner: 'user-1', name: 'ada/letters', public: false },
]

/** The command-line tool of `npm run demo:login`, which has to know its name. */
const COMMAND_LINE = 'demo-cli'

/**
 * Makes the service, with two applications registered.
 * @param issuer - where it will be reached
 * @param website - of the sample application
 */
export async function createHost({ issuer, website }) {
  const accounts = await Promise.all([ADA, GRACE].map(newAccount))
  const [ada, grace] = accounts

  /** Who is signed in, by session. */
  const sessions = new Map()
  // Cookies know no ports: without it in the name, two demos at once would sign each other's users out.
  const sessionCookie = `session-${new URL(issuer).port}`
  const userOf = (request) => sessions.get(cookieOf(request, sessionCookie))

  const server = createAuthorizationServer({
    issuer,
    store: memoryStore(),
    digests: nodeDigests,
    user: (request) => userOf(request.native),
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    resources: (user) => repositoriesOf(user.subject).map(({ id, name }) => ({ id, name })),
  })
  const { clientId, clientSecret } = await registerApplications(server.applications, website)

  // Whoever is signed in may hand in applications; administrators decide on them.
  const console = createConsole(server, {
    administrator: (request) => {
      const user = userOf(request.native)
      return user?.administrator ? user : undefined
    },
  })

  const place = `The service, ${issuer}`
  const handleOAuth = createNodeHandler(server)
  const handleConsole = createNodeHandler(console)
  const handleSite = site(issuer, answer)
  const routes = {
    'GET /': showHome,
    'GET /sign-in': (request, response, url) => showSignIn(request, response, url.searchParams.get('return_to')),
    'POST /sign-in': signIn,
    'POST /sign-out': signOut,
    'GET /api/repositories': listRepositories,
    'GET /api/user': showUser,
  }

  return {
    issuer,
    api: `${issuer}/api/repositories`,
    clientId,
    clientSecret,
    username: ada.user.username,
    password: ada.password,
    administrator: { username: grace.user.username, password: grace.password },
    // grantwell answers on its own paths and hands on the rest.
    handle: (request, response) =>
      handleOAuth(request, response, () => handleConsole(request, response, () => handleSite(request, response))),
  }

  function answer(route, request, response, url) {
    const [, id] = /^POST \/api\/repositories\/([^/]+)\/commits$/.exec(route) ?? []
    if (id) return addCommit(request, response, id)
    // A route has a space in it, as no name that every object has.
    return routes[route] ? routes[route](request, response, url) : sendNotFound(response)
  }

  // The API: the guard `authenticate` first, then what the token opens.

  async function listRepositories(request, response) {
    const token = await server.authenticate(request, { scope: 'repo-code:r' })
    if (token.type !== 'authenticated') return sendResponse(response, token.response)
    sendJson(response, 200, {
      user: token.subject,
      client_id: token.clientId,
      scope: token.scopes.join(' '),
      resources: token.resources,
      repositories: repositoriesFor(token).map(({ id, name }) => ({ id, name })),
    })
  }

  async function addCommit(request, response, id) {
    const token = await server.authenticate(request, { scope: 'repo-code:rw' })
    if (token.type !== 'authenticated') return sendResponse(response, token.response)
    // A repository that the user did not open is as good as none: nobody learns that it exists.
    const repository = repositoriesFor(token).find((each) => each.id === id)
    if (repository === undefined) return sendJson(response, 404, { error: 'not_found' })
    sendJson(response, 201, { repository: repository.name, commit: randomBytes(20).toString('hex') })
  }

  async function showUser(request, response) {
    const token = await server.authenticate(request, { scope: 'account-profile:r' })
    if (token.type !== 'authenticated') return sendResponse(response, token.response)
    const { username, name } = accounts.find(({ user }) => user.subject === token.subject).user
    sendJson(response, 200, { user: token.subject, username, name })
  }

  // The sign-in. A real service has its own; grantwell only asks who is signed in.

  function showHome(request, response) {
    const user = userOf(request)
    const body = user
      ? html`<p>You are signed in as <b>${user.name}</b>.</p>
<ul class="links">
<li><a href="/oauth2/applications">Authorized applications</a></li>
<li><a href="/oauth2/device">Connect a device</a></li>
<li><a href="/oauth2/console">Your applications</a></li>
${user.administrator && html`<li><a href="/oauth2/console/administration">Administration</a></li>`}
</ul>
<form method="post" action="/sign-out"><button>Sign out</button></form>`
      : html`<p>You are not signed in.</p><p><a class="button" href="/sign-in">Sign in</a></p>`
    const more = html`<p>Third-party applications ask for permission here, such as the
<a href="${website}">sample application</a>.</p>`
    sendPage(response, 200, { title: 'The service', place, body: html`${body}${more}` })
  }

  function showSignIn(request, response, returnTo, failed) {
    if (userOf(request)) return redirect(response, ownUrl(returnTo))
    const fault = failed && html`<p class="fault" role="alert">This user name and password do not belong together.</p>`
    const body = html`${fault}
<p>This is the page of the service. An application never sees your password.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="return_to" value="${returnTo ?? ''}">
<label class="field">User name
<input name="username" value="${failed?.username}" autocomplete="username" autocapitalize="none" required></label>
<label class="field">Password
<input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
<p>The terminal in which the demo was started shows both.</p>`
    sendPage(response, failed ? 403 : 200, { title: 'Sign in', place, body })
  }

  async function signIn(request, response) {
    const form = await readForm(request, response)
    if (form === undefined) return
    const username = form.get('username') ?? ''
    // First the slow part, whatever the name, so that the time does not tell which names exist. A real service limits
    // the attempts as well.
    const account = accounts.find(({ user }) => user.username === username)
    const { salt, hash } = account ?? ada
    const given = await scrypt(form.get('password') ?? '', salt, 32)
    if (!timingSafeEqual(given, hash) || account === undefined) {
      return showSignIn(request, response, form.get('return_to'), { username })
    }
    // A new identifier at every sign-in: one that somebody slipped the browser before is worth nothing.
    const id = randomBytes(32).toString('base64url')
    sessions.set(id, account.user)
    redirect(response, ownUrl(form.get('return_to')), setCookie(sessionCookie, id))
  }

  async function signOut(request, response) {
    if ((await readForm(request, response)) === undefined) return
    sessions.delete(cookieOf(request, sessionCookie))
    redirect(response, '/', setCookie(sessionCookie, '', '; Max-Age=0'))
  }

  /**
   * Where to go after the sign-in: never to another site, whatever a link says. The whole URL rather than its path, since
   * a path may begin with two slashes, which a browser reads as another host.
   */
  function ownUrl(returnTo) {
    const url = URL.canParse(returnTo ?? '', issuer) ? new URL(returnTo ?? '', issuer) : undefined
    // Not by its origin, which a blob has too, and a URL with a user in front of the host.
    return url?.href.startsWith(`${issuer}/`) ? url.href : `${issuer}/`
  }
}

/** A user with a password of this run. */
async function newAccount(user) {
  const password = randomBytes(4).toString('hex')
  const salt = randomBytes(16)
  return { user, password, salt, hash: await scrypt(password, salt, 32) }
}

/** What an administrator does once for every application. The secret is shown this once and kept as a digest. */
async function registerApplications(applications, website) {
  const logo = await readFile(new URL('logo.png', import.meta.url))
  // On loopback any port is admitted (RFC 8252, section 7.3).
  const redirectUris = ['http://127.0.0.1/callback']
  const tool = {
    name: 'Demo command line',
    logo,
    description: 'Logs in from a terminal: npm run demo:login.',
    website,
    type: 'public',
    deviceFlow: true,
    redirectUris,
    scopes: ['repo-code:r', 'account-profile:r'],
    resourceScope: 'all',
  }
  await applications.register(tool, { clientId: COMMAND_LINE })
  return applications.register({
    name: 'Sample application',
    logo,
    description: 'Shows you every message of OAuth 2.0 while you use it.',
    website,
    type: 'confidential',
    redirectUris,
    scopes: ['repo-code:rw', 'repo-basic-info:r', 'account-profile:r'],
    resourceScope: 'all',
  })
}

function repositoriesOf(subject) {
  return REPOSITORIES.filter(({ owner }) => owner === subject)
}

/** The repositories that a token opens: what the user chose on the consent page. */
function repositoriesFor({ subject, resources }) {
  return repositoriesOf(subject).filter((repository) => {
    if (resources.kind === 'all') return true
    return resources.kind === 'public' ? repository.public : resources.ids.includes(repository.id)
  })
}
