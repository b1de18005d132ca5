/** The demo, from outside: what it prints, what it serves, how it ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../engines/process.js'
import { hiddenFields } from '../support.js'
import { type Announcement, type Demo, freshClone, runDemo, spawnDemo, startDemo } from './start.js'
import {
  asAdministrator,
  ask,
  authorizationUrl,
  Browser,
  callApi,
  decide,
  locationOf,
  signIn,
  type Tokens,
  tokensFor,
} from './walk.js'

let clone: ReturnType<typeof freshClone>
let demo: Demo
let second: Demo

beforeAll(async () => {
  clone = freshClone()
  // Both at once, where nothing is built yet: neither may see the other's half of a build.
  ;[demo, second] = await Promise.all([startDemo(clone.path), startDemo(clone.path)])
})

afterAll(async () => {
  await Promise.all([demo?.end(), second?.end()])
  clone?.remove()
})

describe('what it prints', () => {
  it('is one line of JSON, first and alone, that lets a script drive the server', () => {
    expect(demo.printed()).toMatch(/^\{.*\}\n$/)
    expect(JSON.parse(demo.printed())).toEqual({
      issuer: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      app: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api: `${demo.issuer}/api/repositories`,
      client_id: expect.stringMatching(/./),
      client_secret: expect.stringMatching(/^gws_[\w-]{43}$/),
      redirect_uri: `${demo.app}/callback`,
      username: 'ada',
      password: expect.stringMatching(/^[0-9a-f]{8}$/),
      admin_username: 'grace',
      admin_password: expect.stringMatching(/^[0-9a-f]{8}$/),
    })
  })

  it('has a secret and passwords that are fresh at every start, and of each user their own', () => {
    expect(second.client_secret).not.toBe(demo.client_secret)
    const passwords = [demo, second].flatMap(({ password, admin_password }) => [password, admin_password])
    expect(new Set(passwords).size).toBe(4)
  })

  it('is a few words for a person otherwise', async () => {
    const child = spawnDemo(clone.path, ['--port', '0'])
    let text = ''
    for await (const part of child.stdout ?? []) {
      text += part
      if (text.includes('Ctrl+C')) child.kill('SIGINT')
    }
    expect(text).toMatch(/Open the sample application: +http:\/\/127\.0\.0\.1:\d+\n/)
    expect(text).toMatch(/sign in as: +ada\n.*password: +[0-9a-f]{8}\n/)
    expect(text).toMatch(/approved by: +grace\n.*password: +[0-9a-f]{8}\n/)
    expect(text).toMatch(/npm run demo:login -- --issuer http:\/\/127\.0\.0\.1:\d+\n/)
  })

  it('is the list of options for --help', async () => {
    const { code, stdout, stderr } = await runDemo(clone.path, ['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const option of ['--port', '--json', '--help']) expect(stdout).toContain(option)
  })

  it.each([
    [['--prot', '1']],
    [['--port']],
    [['--port', 'x']],
    [['--port', '-1']],
    [['--port=-1']],
    [['--port', '65536']],
    [['--port', '']],
    [['--json=1']],
    [['something']],
  ])('is one sentence for the wrong options %j', async (options) => {
    const { code, stdout, stderr } = await runDemo(clone.path, options)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^[^\n]+\.\n$/)
  })
})

describe('the ports', () => {
  /** Starts the demo on a port, and looks at its application. @returns undefined where the port is not free */
  async function seenOn(port: number) {
    const started = await startDemo(clone.path, ['--port', String(port)]).catch(() => undefined)
    const seen = started && { issuer: started.issuer, app: started.app, status: (await fetch(started.app)).status }
    await started?.end()
    return seen
  }

  /** Starts the demo on the port before one that is taken, and then before the same one that is free. */
  async function seenBefore() {
    const { port, close } = await takePort()
    const beforeTaken = await seenOn(port - 1)
    close()
    const beforeFree = await seenOn(port - 1)
    return beforeTaken && beforeFree && { port, beforeTaken, beforeFree }
  }

  it('are two in a row, or any free one for the application where the next is taken', async () => {
    // The port before may be somebody else's; then another one is tried.
    let seen: Awaited<ReturnType<typeof seenBefore>>
    for (let tries = 0; tries < 10 && seen === undefined; tries++) seen = await seenBefore()
    const { port, beforeTaken, beforeFree } = seen ?? expect.fail('no port before another one is free')
    expect(beforeTaken).toMatchObject({ issuer: `http://127.0.0.1:${port - 1}`, status: 200 })
    expect(beforeTaken.app).not.toBe(`http://127.0.0.1:${port}`)
    expect(beforeFree.app).toBe(`http://127.0.0.1:${port}`)
  })

  it('are on loopback alone', async () => {
    const { port } = new URL(demo.issuer)
    const other = fetch(`http://127.0.0.2:${port}/`, { signal: AbortSignal.timeout(2000) })
    await expect(other).rejects.toThrow()
  })

  it('make one sentence when taken', async () => {
    const { port } = new URL(demo.issuer)
    for (const options of [[], ['--json']]) {
      const { code, stdout, stderr } = await runDemo(clone.path, ['--port', port, ...options])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toMatch(/^Port \d+ is in use;[^\n]+\.\n$/)
    }
  })
})

describe('the end', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('comes at once with %s, whatever connections are open', async (signal) => {
    const started = await startDemo(clone.path)
    // fetch keeps its connections open; and here is a request that never ends.
    await fetch(started.issuer)
    await fetch(started.app)
    const { hostname, port } = new URL(started.issuer)
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(`POST /sign-in HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 100\r\n\r\nusername`)
    await once(socket, 'connect')
    const began = performance.now()
    expect(await started.end(signal)).toBe(0)
    // At once is within 100 ms; the rest is for a machine with other things to do. Idle connections would take 5 s.
    expect(performance.now() - began).toBeLessThan(4_500)
    socket.destroy()
  })

  it.skipIf(process.platform === 'win32')('comes with the end of the shell that npm ran it in', async () => {
    const command = '"$0" examples/demo/start.mjs --port 0 --json; exit'
    const env = { ...process.env, npm_lifecycle_event: 'start' }
    const shell = spawn('sh', ['-c', command, process.execPath], {
      cwd: clone.path,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(shell.stdout, 'data')
    const { issuer } = JSON.parse(String(line)) as Announcement // as checked above
    expect((await fetch(issuer)).status).toBe(200)
    shell.kill('SIGTERM')
    // Its standard output ends with the last process that has it.
    await once(shell.stdout, 'close')
    await expect(fetch(issuer)).rejects.toThrow()
  })
})

describe('the service', () => {
  it('walks a script through the whole flow', async () => {
    const browser = new Browser()
    const url = authorizationUrl(demo, { scope: 'repo-code:r account-profile:r' })

    const toSignIn = await browser.get(url)
    expect(toSignIn.status).toBe(302)
    const signInUrl = locationOf(toSignIn, demo.issuer)
    expect(signInUrl.pathname).toBe('/sign-in')
    const { return_to = '' } = hiddenFields(await (await browser.get(signInUrl)).text())
    const wrong = await browser.post(signInUrl, { username: 'ada', password: 'wrong', return_to })
    expect(wrong.status).toBe(403)
    const back = await browser.post(signInUrl, { username: 'ada', password: demo.password, return_to })
    expect(back.status).toBe(303)

    const consent = await browser.get(locationOf(back))
    expect(consent.status).toBe(200)
    const fields = hiddenFields(await consent.text())
    const agreed = await browser.post(`${demo.issuer}/oauth2/auth`, {
      ...fields,
      decision: 'agree',
      resource_scope: 'all',
    })
    expect(agreed.status).toBe(302)
    const { origin, pathname, searchParams } = locationOf(agreed)
    expect(`${origin}${pathname}`).toBe(demo.redirect_uri)
    expect(searchParams.get('state')).toBe('a state')
    expect(searchParams.get('iss')).toBe(demo.issuer)

    const exchanged = await ask(demo, 'token', {
      grant_type: 'authorization_code',
      code: searchParams.get('code') ?? '',
      redirect_uri: demo.redirect_uri,
    })
    expect(exchanged.status).toBe(200)
    const first = (await exchanged.json()) as Tokens // 200 has tokens

    const called = await callApi(demo.api, first.access_token)
    expect(called.status).toBe(200)
    expect(await called.json()).toEqual({
      user: 'user-1',
      client_id: demo.client_id,
      scope: 'repo-code:r account-profile:r',
      resources: { kind: 'all' },
      repositories: [
        { id: '1', name: 'ada/analytical-engine' },
        { id: '2', name: 'ada/bernoulli-numbers' },
        { id: '3', name: 'ada/letters' },
      ],
    })

    const refreshed = await ask(demo, 'token', { grant_type: 'refresh_token', refresh_token: first.refresh_token })
    expect(refreshed.status).toBe(200)
    const next = (await refreshed.json()) as Tokens // as above
    expect(next.access_token).not.toBe(first.access_token)
    for (const { access_token } of [first, next]) expect((await callApi(demo.api, access_token)).status).toBe(200)

    const revoked = await ask(demo, 'revoke', { token: next.refresh_token })
    expect({ status: revoked.status, body: await revoked.text() }).toEqual({ status: 200, body: '' })
    for (const { access_token } of [first, next]) expect((await callApi(demo.api, access_token)).status).toBe(401)
  })

  it('answers no token and a bad one with a challenge', async () => {
    const none = await callApi(demo.api)
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe('Bearer realm="oauth2"')
    const { refresh_token } = await tokensFor(demo)
    for (const token of ['nonsense', refresh_token]) {
      const bad = await callApi(demo.api, token)
      expect(bad.status).toBe(401)
      expect(bad.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  })

  it('lets a token do what the user permitted, and names the scope that is missing otherwise', async () => {
    const commits = `${demo.api}/1/commits`
    const reader = await tokensFor(demo, {}, { scope: 'repo-code:r' })
    const refused = await callApi(commits, reader.access_token, 'POST')
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toMatch(/error="insufficient_scope".*scope="repo-code:rw"/)
    const writer = await tokensFor(demo, {}, { scope: 'repo-code:rw' })
    expect((await callApi(commits, writer.access_token, 'POST')).status).toBe(201)
    expect((await callApi(commits, undefined, 'POST')).status).toBe(401)
  })

  it('tells who the user is to an application that may know', async () => {
    const may = await tokensFor(demo, {}, { scope: 'account-profile:r' })
    // Names of private repositories are none of an account's profile.
    expect((await callApi(demo.api, may.access_token)).status).toBe(403)
    const answer = await callApi(`${demo.issuer}/api/user`, may.access_token)
    expect(await answer.json()).toEqual({ user: 'user-1', username: 'ada', name: 'Ada Lovelace' })
    const mayNot = await tokensFor(demo, {}, { scope: 'repo-code:r' })
    expect((await callApi(`${demo.issuer}/api/user`, mayNot.access_token)).status).toBe(403)
    expect((await callApi(`${demo.issuer}/api/user`)).status).toBe(401)
  })

  it('opens the resources that the user chose, and no others', async () => {
    const open = async (form: Record<string, string>): Promise<string[]> => {
      const { access_token } = await tokensFor(demo, form)
      const { repositories } = (await (await callApi(demo.api, access_token)).json()) as {
        repositories: { id: string }[]
      } // as above
      const ids = repositories.map(({ id }) => id)
      for (const id of ['1', '2', '3', '4']) {
        const { status } = await callApi(`${demo.api}/${id}/commits`, access_token, 'POST')
        expect(status).toBe(ids.includes(id) ? 201 : 404)
      }
      return ids
    }
    expect(await open({ resource_scope: 'all' })).toEqual(['1', '2', '3'])
    expect(await open({ resource_scope: 'public' })).toEqual(['1', '2'])
    expect(await open({ resource_scope: 'specified', resource: '3' })).toEqual(['3'])
  })

  it('answers on any port of loopback, and exchanges the code for that very one', async () => {
    const redirectUri = 'http://127.0.0.1:50123/callback'
    const location = await decide(demo, { decision: 'agree' }, { redirect_uri: redirectUri })
    expect(`${location.origin}${location.pathname}`).toBe(redirectUri)
    const exchange = (uri: string) =>
      ask(demo, 'token', {
        grant_type: 'authorization_code',
        code: location.searchParams.get('code') ?? '',
        redirect_uri: uri,
      })
    expect((await exchange(demo.redirect_uri)).status).toBe(400)
    expect((await exchange(redirectUri)).status).toBe(200)
  })

  it('tells the application of a refusal', async () => {
    const location = await decide(demo, { decision: 'refuse' })
    expect(location.searchParams.get('error')).toBe('access_denied')
    expect(location.searchParams.get('code')).toBeNull()
  })

  it('knows nothing of another demo that runs beside it', async () => {
    const tokens = await tokensFor(demo)
    expect((await callApi(second.api, tokens.access_token)).status).toBe(401)
    expect((await callApi(second.api, (await tokensFor(second)).access_token)).status).toBe(200)
    // One browser, signed in at both: cookies do not know ports.
    const browser = new Browser()
    for (const each of [demo, second]) await signIn(browser, each)
    for (const each of [demo, second]) {
      expect(await (await browser.get(each.issuer)).text()).toContain('signed in as <b>Ada Lovelace</b>')
    }
  })
})

describe('the sign-in', () => {
  it('leads to no other site, whatever the link says', async () => {
    const { host } = new URL(demo.issuer)
    const links = [
      ...['https://evil.example/', '//evil.example/', '/\\evil.example/', '\\\\evil.example', '/\t/evil.example/'],
      ...[`http://${host}@evil.example/`, `http://${host}.evil.example/`, `https://${host}/`, `ftp://${host}/`],
      ...[`http://${host}//evil.example/`, '/.//evil.example/', `blob:http://${host}/x`, 'javascript:alert(1)'],
      ...[
        'data:text/html,x',
        'http:evil.example',
        '',
        ' ',
        'http://[',
        `//${host}`,
        '/sign-in?return_to=//evil.example',
        `http://ada:secret@${host}/`,
        `//ada@${host}/`,
      ],
    ]
    const browser = await signedIn()
    for (const link of links) {
      const posted = await signIn(new Browser(), demo, link)
      const opened = await browser.get(`${demo.issuer}/sign-in?return_to=${encodeURIComponent(link)}`)
      for (const { status, headers } of [posted, opened]) {
        expect(status).toBe(303)
        // Read as a browser reads it, against the address of the page.
        const { href } = new URL(headers.get('location') ?? '', demo.issuer)
        expect([link, href.startsWith(`${demo.issuer}/`)]).toEqual([link, true])
      }
    }
  })

  it('sets a cookie that scripts and forms on other sites cannot use, new at every sign-in', async () => {
    const browser = await signedIn()
    const [first = ''] = browser.setCookies
    expect(first).toMatch(/^session-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
    await signIn(browser, demo)
    expect(browser.setCookies[1]).toMatch(/^session-\d+=/)
    expect(browser.setCookies[1]).not.toBe(first)
  })

  it('takes of each user the own password alone', async () => {
    const browser = new Browser()
    for (const [username, password] of [
      ['ada', demo.admin_password],
      ['grace', demo.password],
      ['nobody', demo.password],
    ]) {
      const response = await browser.post(`${demo.issuer}/sign-in`, {
        username: username ?? '',
        password: password ?? '',
      })
      expect(response.status).toBe(403)
      expect(browser.cookies.size).toBe(0)
    }
    expect((await signIn(browser, asAdministrator(demo))).status).toBe(303)
  })

  it('ends with the sign-out, in the service as well as in the browser', async () => {
    const browser = await signedIn()
    const stolen = new Map(browser.cookies)
    expect((await browser.get(authorizationUrl(demo))).status).toBe(200)
    expect((await browser.post(`${demo.issuer}/sign-out`, {})).status).toBe(303)
    expect(browser.cookies.has([...stolen.keys()][0] ?? '')).toBe(false)
    for (const [name, value] of stolen) browser.cookies.set(name, value)
    expect((await browser.get(authorizationUrl(demo))).status).toBe(302)
  })

  it('takes no form that comes from another site or is too long', async () => {
    const { username, password } = demo
    for (const path of ['/sign-in', '/sign-out']) {
      for (const site of ['cross-site', 'same-site', 'none']) {
        const browser = new Browser()
        const form = { username, password }
        const response = await browser.post(demo.issuer + path, form, { 'sec-fetch-site': site })
        expect(response.status).toBe(403)
        expect(browser.cookies.size).toBe(0)
      }
    }
    const response = await new Browser().post(`${demo.issuer}/sign-in`, { username, password: 'x'.repeat(20_000) })
    expect(response.status).toBe(413)
  })

  it('shows what was typed as text, and never the password', async () => {
    const username = '"><script>alert(1)</script>'
    const response = await new Browser().post(`${demo.issuer}/sign-in`, {
      username,
      password: 'geheim',
      return_to: username,
    })
    const page = await response.text()
    expect(page).not.toContain('<script>')
    expect(page).not.toContain('geheim')
    expect(hiddenFields(page)['return_to']).toBe(username)
  })

  async function signedIn(): Promise<Browser> {
    const browser = new Browser()
    await signIn(browser, demo)
    return browser
  }
})

describe('the application', () => {
  it('walks through the ten steps and shows every message', async () => {
    const browser = new Browser()
    let page = await begin(browser)
    page = await press(browser, page)
    expect(page).toContain('GET /.well-known/oauth-authorization-server')
    page = await press(browser, page)
    page = await authorize(browser, page)
    expect(page).toContain('GET /callback')
    for (const shown of [
      /POST \/oauth2\/token.*grant_type=authorization_code.*200 OK/s,
      /GET \/api\/repositories.*200 OK.*ada\/letters/s,
      /POST \/api\/repositories\/1\/commits.*403 Forbidden.*insufficient_scope/s,
      /grant_type=refresh_token.*200 OK/s,
      /GET \/api\/repositories.*200 OK/s,
      /POST \/oauth2\/revoke.*200 OK/s,
      /GET \/api\/repositories.*401 Unauthorized.*invalid_token/s,
    ]) {
      page = await press(browser, page)
      // Of the step that was taken last, which is the open one.
      expect(page.split('<details open>')[1]).toMatch(shown)
    }
    expect(page).toContain('Start again')
    expect(page).not.toContain('<button')
    // The call in the grace period is with the first access token, the one after the revocation with the second.
    const steps = page.split('<li id="').slice(1)
    const tokenOf = (name: string): string | undefined =>
      /data-name="(access token \d)"/.exec(steps.find((step) => step.startsWith(`${name}"`)) ?? '')?.[1]
    expect(['call', 'old-token', 'revoked-token'].map(tokenOf)).toEqual([
      'access token 1',
      'access token 1',
      'access token 2',
    ])
  })

  it('may change something where the user was asked for that', async () => {
    const browser = new Browser()
    let page = await begin(browser, { write: 'yes' })
    for (let step = 0; step < 2; step++) page = await press(browser, page)
    page = await authorize(browser, page)
    for (let step = 0; step < 3; step++) page = await press(browser, page)
    expect(page.split('<details open>')[1]).toMatch(/commits.*201 Created/s)
  })

  it('takes a step once, however often its button is pressed', async () => {
    const browser = new Browser()
    const page = await begin(browser)
    await Promise.all([press(browser, page), press(browser, page), press(browser, page)])
    const after = await press(browser, page)
    expect(after.split('<details').length - 1).toBe(1)
  })

  it('leaves an answer alone that this browser did not ask for, or that came before', async () => {
    const [browser, other] = [new Browser(), new Browser()]
    let page = await begin(browser)
    for (let step = 0; step < 2; step++) page = await press(browser, page)
    const callback = await answerTo(page)
    const forged = new URL(callback)
    forged.searchParams.set('state', 'x')
    const without = new URL(callback)
    without.searchParams.delete('state')
    await begin(other)
    expect((await other.get(callback)).status).toBe(400)
    expect((await browser.get(forged)).status).toBe(400)
    expect((await browser.get(without)).status).toBe(400)
    expect((await browser.get(callback)).status).toBe(303)
    expect((await browser.get(callback)).status).toBe(400)
  })

  it('leaves an answer of another issuer alone', async () => {
    const browser = new Browser()
    let page = await begin(browser)
    for (let step = 0; step < 2; step++) page = await press(browser, page)
    const callback = await answerTo(page)
    callback.searchParams.set('iss', 'https://evil.example')
    page = await follow(browser, await browser.get(callback))
    expect(page).toContain('class="failed"')
    expect(page).not.toContain('<button')
  })

  it('shows a browser the walks of that browser alone, and takes no form of another site', async () => {
    const browser = new Browser()
    const started = await browser.post(`${demo.app}/flow`, {})
    const url = locationOf(started, demo.app)
    expect((await browser.get(url)).status).toBe(200)
    expect((await new Browser().get(url)).status).toBe(404)
    const step = { id: url.searchParams.get('id') ?? '', step: 'discover' }
    expect((await new Browser().post(`${demo.app}/step`, step)).status).toBe(404)
    expect((await browser.post(`${demo.app}/step`, step, { 'sec-fetch-site': 'same-site' })).status).toBe(403)
    expect((await browser.post(`${demo.app}/flow`, {}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  })

  async function begin(browser: Browser, form: Record<string, string> = {}): Promise<string> {
    return follow(browser, await browser.post(`${demo.app}/flow`, form))
  }

  /** Presses the one button that there is. */
  async function press(browser: Browser, page: string): Promise<string> {
    const step = /<button name="step" value="([^"]+)">/.exec(page)?.[1] ?? ''
    return follow(browser, await browser.post(`${demo.app}/step`, { ...hiddenFields(page), step }))
  }

  async function follow(browser: Browser, response: Response): Promise<string> {
    expect(response.status).toBe(303)
    const page = await browser.get(locationOf(response, demo.app))
    expect(page.status).toBe(200)
    return page.text()
  }

  /** What the service answers to the request of a page, once the user has agreed. */
  async function answerTo(page: string): Promise<URL> {
    const link = /href="([^"]+)">Go to the service/.exec(page)?.[1] ?? ''
    const { searchParams } = new URL(link.replaceAll('&amp;', '&'))
    return decide(demo, { decision: 'agree' }, Object.fromEntries(searchParams))
  }

  async function authorize(browser: Browser, page: string): Promise<string> {
    return follow(browser, await browser.get(await answerTo(page)))
  }
})

describe('both sites', () => {
  it('send every page under a policy without scripts, inline styles and frames, and uncached', async () => {
    const [browser, administrator] = [new Browser(), new Browser()]
    await signIn(administrator, asAdministrator(demo))
    const flow = locationOf(await browser.post(`${demo.app}/flow`, {}), demo.app)
    const pages = [
      ...[demo.issuer, `${demo.issuer}/sign-in`, demo.app, flow, `${demo.app}/callback`],
      authorizationUrl(demo, { client_id: 'x' }),
      ...[`${demo.issuer}/none`, `${demo.app}/none`, `${demo.app}//`],
    ]
    const own = ['/', '/oauth2/console', '/oauth2/console/new', '/oauth2/console/administration'].map(
      (path) => demo.issuer + path,
    )
    for (const answer of [pages.map((url) => browser.get(url)), own.map((url) => administrator.get(url))].flat()) {
      const { headers } = await answer
      const policy = headers.get('content-security-policy') ?? ''
      expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'.*base-uri 'none'/)
      expect(policy).not.toContain('unsafe')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cache-control')).toBe('no-store')
    }
  })

  it('answer an address that is none, and HEAD', async () => {
    for (const origin of [demo.issuer, demo.app]) {
      expect((await fetch(`${origin}/none`)).status).toBe(404)
      expect((await fetch(`${origin}//`)).status).toBe(400)
      const head = await fetch(origin, { method: 'HEAD' })
      expect({ status: head.status, body: await head.text() }).toEqual({ status: 200, body: '' })
    }
  })
})

async function takePort(): Promise<{ readonly port: number; readonly close: () => void }> {
  const port = await freePort()
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return { port, close: () => server.close() }
}
