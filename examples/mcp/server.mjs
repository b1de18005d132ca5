// @ts-check
/**
 * An MCP server in one file: a small git host as three tools, and the authorization server that guards them. A client
 * needs to know nothing but the URL of `/mcp`.
 * @module
 * @see The Model Context Protocol, version 2025-11-25, "Authorization"
 */
import { pathToFileURL } from 'node:url'
/** @import { Transport } from '@modelcontextprotocol/sdk/shared/transport.js' */
/** @import { AuthInfo, AuthorizationServer, AuthorizationServerOptions } from 'grantwell' */
/** @import { Authorized, NodeGuard } from 'grantwell/node' */
// #region imports
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import express from 'express'
import { createAuthorizationServer, opensResource } from 'grantwell'
import { createNodeGuard, createNodeHandler, fetchClientMetadata, nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { z } from 'zod'

// #endregion imports

// #region data
const session = crypto.randomUUID() // stands for your sessions: whoever has it in a cookie is Ada
/** Stands for your database: the repositories, and their files by path. */
const repositories = [
  { id: 'ada/engine', owner: 'ada', public: true, files: new Map([['README.md', '# The engine']]) },
  { id: 'ada/notes', owner: 'ada', public: false, files: new Map([['ideas.md', 'Bernoulli numbers']]) },
  { id: 'grace/compiler', owner: 'grace', public: true, files: new Map([['README.md', '# The compiler']]) },
]
/** Returns the repositories of a user: each with `id`, `public` and `accessible`, which grantwell reads. */
const ownedBy = (/** @type {{ subject: string }} */ { subject }) =>
  repositories.filter(({ owner }) => owner === subject).map((each) => ({ ...each, accessible: true }))
// #endregion data

// #region policy
/** Websites of agents. Codes go where a client says, so somebody looks first at a client that names another website. */
const WEBSITES = ['claude.ai', 'chatgpt.com', 'vscode.dev', 'insiders.vscode.dev']

/** @type {NonNullable<AuthorizationServerOptions['clientPolicy']>} */
const clientPolicy = ({ redirectUris, deviceFlow }) => {
  const isKnown = (/** @type {string} */ uri) => {
    const { protocol, host } = new URL(uri)
    return protocol === 'http:' || (protocol === 'https:' && WEBSITES.includes(host)) // http is the user's machine
  }
  // For every scope that a tool may need: a client registers for the first one alone, and asks its user for more later.
  return redirectUris.every(isKnown) && !deviceFlow ? { approve: ['repo-code:rw'] } : 'review'
}
// #endregion policy

// #region server
/**
 * Creates the authorization server.
 * @param {string} issuer - the address of this service, such as `http://127.0.0.1:8080`
 * @param {Partial<AuthorizationServerOptions>} options - in place of those below, such as the clock of a test
 */
const createServer = (issuer, options) =>
  createAuthorizationServer({
    issuer,
    store: memoryStore(),
    digests: nodeDigests,
    user: ({ headers }) => (`${headers['cookie']}`.includes(session) ? { subject: 'ada', name: 'Ada' } : undefined),
    signInUrl: (returnTo) => `/sign-in?return_to=${encodeURIComponent(returnTo)}`,
    resources: ownedBy,
    audiences: [{ resource: `${issuer}/mcp`, name: 'Git tools for agents', scopes: ['repo-code:rw'] }],
    clientPolicy,
    fetchClientMetadata,
    ...options,
  })
// #endregion server

// #region guard
const READERS = new Set(['list_repositories', 'read_file'])
/** True for a message, or a batch of them, that calls a tool which may do more than read. */
const callsWriter = (/** @type {any} */ body) =>
  [body].flat().some((each) => each?.method === 'tools/call' && !READERS.has(each.params?.name))

/**
 * Creates the route of the tools.
 * @param {AuthorizationServer} server
 * @param {string} resource - the URL of the tools, as `audiences` declares it
 */
function createToolRoute(server, resource) {
  /** @type {NodeGuard<express.Request, express.Response>} */
  const guard = createNodeGuard(server)
  const mayRead = guard({ audience: resource, scope: 'repo-code:r' })
  const mayWrite = guard({ audience: resource, scope: 'repo-code:rw' })

  // The guard comes first, so nothing is parsed for a stranger. Every body is parsed here, so the transport parses none.
  const parse = express.json({ type: () => true })
  const route = express.Router()
  route.post(
    '/mcp',
    mayRead,
    parse,
    (request, response, next) => (callsWriter(request.body) ? mayWrite(request, response, next) : next()),
    answerMcp,
  )
  route.all('/mcp', mayRead, (_request, response) => {
    response.status(405).set('Allow', 'POST').end() // no stream from here, and no session to end
  })
  return route
}
// #endregion guard

// #region tools
/** Answers one message: with a server of its own, whose tools act for the user of this token. */
async function answerMcp(/** @type {express.Request} */ request, /** @type {express.Response} */ response) {
  const { auth } = /** @type {Authorized<express.Request>} */ (request) // mayRead has set it
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true }) // no sessions
  response.on('close', () => transport.close())
  await createTools(auth).connect(/** @type {Transport} */ (transport))
  await transport.handleRequest(request, response, request.body)
}

/** Creates the tools of one user. An error that they throw is an answer for the model: no other token would help. */
function createTools(/** @type {AuthInfo} */ auth) {
  const tools = new McpServer({ name: 'git-host', version: '1.0.0' })
  const opened = ownedBy(auth).filter((each) => opensResource(auth.resources, each))
  const filesOf = (/** @type {string} */ id) => {
    const found = opened.find((each) => each.id === id)
    if (found === undefined) throw new Error('There is no such repository, or the user did not permit it.')
    return found.files
  }
  const answer = (/** @type {string} */ text) => ({ content: [{ type: /** @type {const} */ ('text'), text }] })
  const repository = z.string().describe('such as ada/engine')
  const path = z.string().describe('such as README.md')

  tools.registerTool(
    'list_repositories',
    { description: 'Lists the repositories that the user permitted.', annotations: { readOnlyHint: true } },
    () => answer(opened.map(({ id, files }) => `${id}: ${[...files.keys()].join(', ')}`).join('\n')),
  )
  tools.registerTool(
    'read_file',
    { description: 'Reads a file.', inputSchema: { repository, path }, annotations: { readOnlyHint: true } },
    (file) => answer(filesOf(file.repository).get(file.path) ?? 'There is no such file.'),
  )
  tools.registerTool(
    'write_file',
    { description: 'Writes a file.', inputSchema: { repository, path, text: z.string() } },
    ({ repository, path, text }) => {
      filesOf(repository).set(path, text)
      return answer(`${auth.subject} wrote ${path} in ${repository}`)
    },
  )
  return tools
}
// #endregion tools

// #region mount
/**
 * Creates the service.
 * @param {string} issuer - its address
 * @param {Partial<AuthorizationServerOptions>} [options] - of its authorization server
 */
export function createGitHost(issuer, options = {}) {
  const server = createServer(issuer, options)
  const app = express()
  app.use(createNodeHandler(server)) // answers /oauth2/... and /.well-known/...
  app.use(createToolRoute(server, `${issuer}/mcp`))

  // Stands for your sign-in page.
  app.get('/sign-in', (_request, response) => {
    response.send('<!doctype html><title>Sign in</title><form method="post"><button>Sign in as Ada</button></form>')
  })
  app.post('/sign-in', ({ query }, response) => {
    const returnTo = new URL(String(query['return_to']), issuer)
    if (returnTo.origin !== new URL(issuer).origin) {
      response.status(400).send('return_to leads to another site')
      return
    }
    response.cookie('session', session, { httpOnly: true, sameSite: 'lax', secure: issuer.startsWith('https:') })
    response.redirect(303, returnTo.href)
  })
  return app
}
// #endregion mount

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  // #region listen
  const { PORT = '8080', HOST = '127.0.0.1', ISSUER = `http://127.0.0.1:${PORT}` } = process.env
  createGitHost(ISSUER).listen(Number(PORT), HOST, () => console.log(`listening at ${ISSUER}/mcp`))
  // #endregion listen
}
