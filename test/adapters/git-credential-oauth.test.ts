/**
 * Git with git-credential-oauth, as Debian has them: a clone of a repository that `git http-backend` serves behind the guard. The program is a public client that
 * says who it is by HTTP Basic with an empty secret, and its verifier is padded base64.
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createNodeHandler } from 'grantwell/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consent } from '../client/service.js'
import { describeWith, gitCredentialOauth } from '../engines/available.js'
import { registration, type TestServer, testServer } from '../support.js'
import { listen } from './http.js'

const run = promisify(execFile)

/** Names under which the program, or the `xdg-open` that it starts, looks for a browser. */
const BROWSERS = ['xdg-open', 'x-www-browser', 'www-browser', 'browser']

/** Long enough for a clone on a busy machine; a program that waits for a browser that never comes ends here. */
const PATIENCE = { timeout: 240_000 }

describeWith(describe, gitCredentialOauth, 'git-credential-oauth', () => {
  let folder: string
  let origin: string
  let close: () => Promise<void>
  let test: TestServer
  let environment: Record<string, string>
  /** The token requests that came: their `Authorization`, and what they have as verifier. */
  const exchanges: { readonly authorization: string | undefined; readonly verifier: string | null }[] = []

  /** The addresses that the program opened in the browser. */
  const opened: URL[] = []

  const git = (...args: readonly string[]) => run('git', args, { ...PATIENCE, cwd: folder, env: environment })

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'grantwell-git-')))
    let handle: ReturnType<typeof createNodeHandler> = () => {}
    const listening = await listen((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', origin)
      // At once: the program listens for the answer only when its browser has started.
      if (pathname === '/open') response.end(() => openPage(searchParams.get('url') ?? ''))
      else if (pathname.startsWith('/notes.git/')) serveRepository(request, response)
      else watched(request, response)
    })
    origin = listening.origin
    close = listening.close
    test = await testServer({ issuer: origin })
    const program = registration({ type: 'public', name: 'Git', redirectUris: ['http://127.0.0.1/'] })
    await test.server.applications.register(program, { clientId: 'git' })
    handle = createNodeHandler(test.server)

    function watched(request: IncomingMessage, response: ServerResponse): void {
      const parts: Buffer[] = []
      if (request.url === '/oauth2/token') {
        request.on('data', (part) => parts.push(part))
        request.on('end', () => {
          const verifier = new URLSearchParams(Buffer.concat(parts).toString()).get('code_verifier')
          exchanges.push({ authorization: request.headers.authorization, verifier })
        })
      }
      handle(request, response)
    }

    const bin = join(folder, 'bin')
    mkdirSync(bin)
    for (const name of BROWSERS) {
      const visit = `fetch(${JSON.stringify(`${origin}/open?url=`)} + encodeURIComponent(process.argv[1]))`
      writeFileSync(join(bin, name), `#!/bin/sh\nexec '${process.execPath}' -e '${visit}' "$1"\n`)
      chmodSync(join(bin, name), 0o755)
    }
    environment = {
      HOME: folder,
      PATH: `${bin}:${process.env['PATH'] ?? ''}`,
      BROWSER: join(bin, 'browser'),
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@git.example',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@git.example',
    }
    await git('init', '--quiet', 'work')
    writeFileSync(join(folder, 'work', 'README'), 'notes\n')
    await git('-C', 'work', 'add', 'README')
    await git('-C', 'work', 'commit', '--quiet', '--message', 'Begin')
    await git('clone', '--quiet', '--bare', 'work', 'notes.git')

    const config = {
      'credential.helper': 'oauth',
      [`credential.${origin}.oauthClientId`]: 'git',
      [`credential.${origin}.oauthScopes`]: 'repo-code:r',
      [`credential.${origin}.oauthAuthURL`]: '/oauth2/auth',
      [`credential.${origin}.oauthTokenURL`]: '/oauth2/token',
    }
    for (const [name, value] of Object.entries(config)) await git('config', '--global', name, value)
  })

  afterAll(async () => {
    await close?.()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The user agrees, and the browser goes back to the program. */
  async function openPage(url: string): Promise<void> {
    opened.push(new URL(url))
    await fetch(await consent(url))
  }

  /** The guard of the repository; a password is an access token, as on other Git services. */
  async function serveRepository(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, encoded = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const [, password = ''] = Buffer.from(encoded, 'base64').toString().split(':')
    const authorization = `Bearer ${password}`
    const found = await test.server.authenticate({ headers: { authorization } }, { scope: 'repo-code:r' })
    if (found.type === 'refused') response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="notes"' }).end()
    else runBackend(request, response, found.subject)
  }

  /** Git's own server, by the interface that it has for web servers: variables and the body in, headers and the answer out. */
  function runBackend(request: IncomingMessage, response: ServerResponse, user: string): void {
    const { pathname, search } = new URL(request.url ?? '/', origin)
    const backend = spawn('git', ['http-backend'], {
      env: {
        ...environment,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_USER: user,
        REQUEST_METHOD: request.method ?? '',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    request.pipe(backend.stdin)
    const parts: Buffer[] = []
    backend.stdout.on('data', (part) => parts.push(part))
    backend.on('close', () => {
      const answer = Buffer.concat(parts)
      const end = answer.indexOf('\r\n\r\n')
      const headers = answer.subarray(0, end).toString().split('\r\n')
      for (const header of headers) {
        const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(header) ?? []
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
        else response.setHeader(name, value)
      }
      response.end(answer.subarray(end + 4))
    })
  }

  it('logs its user in and clones: an empty secret in HTTP Basic, a verifier of padded base64', async () => {
    await git('clone', '--quiet', `${origin}/notes.git`, 'clone')
    expect(readFileSync(join(folder, 'clone', 'README'), 'utf8')).toBe('notes\n')
    // At the first try: it would try again with the identifier in the body.
    expect(exchanges).toEqual([
      { authorization: `Basic ${btoa('git:')}`, verifier: expect.stringMatching(/^[\w+/]{43}=$/) },
    ])
    expect([...(opened[0]?.searchParams.keys() ?? [])]).toEqual(expect.arrayContaining(['state', 'code_challenge']))
    const { grants } = await test.server.grants.listGrants('ada')
    expect(grants).toMatchObject([{ clientId: 'git', scopes: ['repo-code:r'] }])
  })

  it('has to ask its user again for the next clone, which needs a token of its own', async () => {
    await test.server.grants.revokeAll('ada')
    const before = exchanges.length
    await git('clone', '--quiet', `${origin}/notes.git`, 'again')
    expect(exchanges.length).toBe(before + 1)
  })
})
