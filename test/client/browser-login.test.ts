/**
 * The login in the user's browser: with plain requests in its place, in a real one, and with what other programs of the
 * machine, or pages of other sites, could send to where it comes back to.
 * @module
 * @see RFC 8252; RFC 9207
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { build } from 'esbuild'
import { type Client, discover } from 'grantwell/client'
import { type BrowserLoginOptions, type CallbackOutcome, loginByBrowser } from 'grantwell/client/node'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, eventually, open as openSocket, raw, sender, wire } from '../adapters/http.js'
import { BROWSER_ARGUMENTS, browserOfTests, closePages, openPage } from '../browser/chromium.js'
import { NATIVE, START, works } from '../support.js'
import {
  always,
  breaks,
  consent,
  DESKTOP,
  hangs,
  madeUp,
  openService,
  requested,
  type Service,
  thrownBy,
  visit,
} from './service.js'

const ended: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

/** Checks whether a port of loopback is closed. */
function isClosed(port: number): Promise<boolean> {
  return sender(port)({ path: '/' }).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  )
}

/** A login whose browser is the test: the address that it was to open, and what becomes of it. */
async function begin(client: Client, options: BrowserLoginOptions = {}) {
  let opened = (_: string): void => {}
  const url = new Promise<string>((resolve) => {
    opened = resolve
  })
  const result = loginByBrowser(client, { openBrowser: (url) => opened(url), ...options })
  result.catch(() => {}) // looked at by the test, later
  return { url: await Promise.race([url, result.then(() => expect.fail('no browser was opened'))]), result }
}

describe('at a real service', () => {
  let service: Service
  let client: Client

  beforeAll(async () => {
    service = await openService()
    client = await discover({ issuer: service.issuer, ...NATIVE, clock: () => service.test.clock.now })
  })
  afterAll(() => service.close())
  afterEach(() => {
    service.faults.length = 0
  })

  it('logs a native client in', async () => {
    const { url, result } = await begin(client, { scope: 'repo-code:r' })
    const page = await visit(await consent(url))
    const tokens = await result
    expect(tokens).toEqual({
      v: 1,
      issuer: service.issuer,
      clientId: 'native',
      accessToken: expect.stringMatching(/^gwa_/),
      refreshToken: expect.stringMatching(/^gwr_/),
      issuedAt: START,
      expiresAt: START + 28_800,
      scope: 'repo-code:r',
      tokenType: 'bearer',
    })
    expect(await works(service.test, tokens.accessToken)).toBe(true)
    expect(page.status).toBe(200)
    expect(page.body).toContain('<h1>You are logged in</h1>')
    expect(await isClosed(requested(url).port)).toBe(true)
  })

  it('logs a confidential client in, for all that it may have', async () => {
    const desktop = await discover({ issuer: service.issuer, ...DESKTOP })
    const { url, result } = await begin(desktop)
    await visit(await consent(url))
    expect(await result).toMatchObject({ clientId: 'desktop', scope: 'repo-code:rw account-profile:r' })
  })

  it('asks with PKCE, a fresh state and a free port of loopback', async () => {
    const both = [await begin(client, { scope: 'repo-code:r' }), await begin(client)]
    const [one, other] = both.map(({ url }) => Object.fromEntries(new URL(url).searchParams))
    expect(one).toEqual({
      response_type: 'code',
      client_id: 'native',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      scope: 'repo-code:r',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(other).not.toHaveProperty('scope')
    for (const name of ['state', 'code_challenge', 'redirect_uri'] as const) expect(one?.[name]).not.toBe(other?.[name])
    for (const { url, result } of both) {
      await visit(await consent(url, 'refuse'))
      await thrownBy(result)
    }
  })

  it('is reached from this machine alone, by one address', async () => {
    const { url, result } = await begin(client)
    const { port } = requested(url)
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? [])
    // All of 127.0.0.0/8 is this machine on Linux.
    const others = [...addresses, ...(process.platform === 'linux' ? ['127.0.0.2'] : [])].filter(
      (address) => address !== '127.0.0.1' && !address.startsWith('fe80'),
    )
    for (const host of others) {
      const socket = connect({ host, port })
      expect(
        await once(socket, 'connect').then(
          () => host,
          () => 'refused',
        ),
      ).toBe('refused')
      socket.destroy()
    }
    await visit(await consent(url, 'refuse'))
    await thrownBy(result)
  })

  it('gives the browser its whole page before it closes, however long that is', async () => {
    const text = 'x'.repeat(16 * 1024 * 1024)
    const { url, result } = await begin(client, { page: () => ({ title: 'Long', text }) })
    const page = await visit(await consent(url))
    await result
    expect(page.body).toContain(`${text}</p>`)
  })

  it('shows a page that has no code in it, and that nothing keeps or sends on', async () => {
    const { url, result } = await begin(client)
    const back = await consent(url)
    const page = await visit(back)
    await result
    expect(page.headers).toMatchObject({
      'content-type': 'text/html;charset=UTF-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'$/),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      connection: 'close',
    })
    const whole = page.body + JSON.stringify(page.headers)
    for (const name of ['code', 'state']) expect(whole).not.toContain(back.searchParams.get(name))
    expect(page.body).not.toMatch(/<(?:script|style|link|img|a)\b/)
  })

  it('shows the words of the application, as text', async () => {
    const outcomes: CallbackOutcome[] = []
    const { url, result } = await begin(client, {
      page: (outcome) => {
        outcomes.push(outcome)
        return { title: `<b>${outcome}</b>`, text: '"&\'', language: 'de"><script>' }
      },
    })
    const page = await visit(await consent(url, 'refuse'))
    await thrownBy(result)
    expect(outcomes).toEqual(['refused'])
    expect(page.body).toContain('<h1>&#60;b&#62;refused&#60;/b&#62;</h1>')
    expect(page.body).toContain('<p>&#34;&#38;&#39;</p>')
    expect(page.body).toContain('<html lang="de&#34;&#62;&#60;script&#62;">')
  })

  it.each<[string, () => unknown]>([
    [
      'throw',
      () => {
        throw new Error('no words')
      },
    ],
    ['are none', () => ({ title: 7 })],
    ['are missing', () => undefined],
    ['come later, and fail then', () => Promise.reject(new Error('no words'))],
  ])('has words of its own where those of the application %s', async (_, page) => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    const words = page as NonNullable<BrowserLoginOptions['page']> // that they are none is the test
    const { url, result } = await begin(client, { page: words })
    expect((await visit(await consent(url))).body).toContain('You are logged in')
    await result
    process.off('unhandledRejection', onUnhandled)
    expect(unhandled).toStrictEqual([])
  })

  it('says that the user refused, here and in the browser', async () => {
    const { url, result } = await begin(client)
    const page = await visit(await consent(url, 'refuse'))
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_ACCESS_DENIED', error: 'access_denied' })
    expect(page.body).toContain('<h1>Nothing was shared</h1>')
    expect(await isClosed(requested(url).port)).toBe(true)
  })

  it('says what the service does not permit, here and in the browser', async () => {
    const { url, result } = await begin(client, { scope: 'repo-delete:rw' })
    const answer = await fetch(url, { redirect: 'manual' })
    const page = await visit(new URL(answer.headers.get('location') ?? ''))
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_scope' })
    expect([page.status, page.body]).toEqual([400, expect.stringContaining('<h1>You are not logged in</h1>')])
  })

  it('says that the code is worth nothing, and tells nobody before that it was', async () => {
    const { url, result } = await begin(client)
    const back = await consent(url)
    back.searchParams.set('code', `${back.searchParams.get('code')?.slice(0, -4)}AAAA`)
    const page = await visit(back)
    const error = await thrownBy(result)
    expect(error).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_grant' })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(back.searchParams.get('code'))
    expect(page.body).toContain('<h1>You are not logged in</h1>')
  })

  it('takes a code for its own request alone: PKCE', async () => {
    const [{ url: mine, result }, other] = [await begin(client), await begin(client)]
    const stolen = await consent(other.url)
    const back = new URL(requested(mine).redirectUri)
    back.search = String(stolen.searchParams)
    back.searchParams.set('state', requested(mine).state)
    await visit(back)
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_grant' })
    await visit(await consent(other.url, 'refuse'))
    await thrownBy(other.result)
  })

  it('says that the service does not answer the request for tokens, and does not ask again with the code', async () => {
    service.faults.push({ path: '/oauth2/token', fault: breaks })
    const { url, result } = await begin(client)
    const back = await consent(url)
    service.paths.length = 0
    const page = await visit(back)
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_UNREACHABLE' })
    expect(page.body).toContain('You are not logged in')
    expect(service.paths).toEqual(['/oauth2/token'])
  })

  it('is not ended by what others send', async () => {
    const { url, result } = await begin(client)
    const { port, state, redirectUri } = requested(url)
    const host = `127.0.0.1:${port}`
    const forged = (query: string) => `/callback?${query}`
    const refusal = `error=access_denied&iss=${encodeURIComponent(service.issuer)}`
    const right = `${refusal}&state=${state}`
    const send = sender(port)
    const asks = [
      [400, { path: '/callback' }],
      [400, { path: forged(refusal) }],
      [400, { path: forged(`${refusal}&state=`) }],
      [400, { path: forged(`${refusal}&state=${state.slice(0, -1)}`) }],
      [400, { path: forged(`${refusal}&state=${state}x`) }],
      [400, { path: forged(`${refusal}&state=${'x'.repeat(state.length)}`) }],
      [400, { path: forged(`${right}&state=${state}`) }],
      [400, { path: forged(`${right}&state=x`) }],
      [404, { path: `/?${right}` }],
      [404, { path: `/callback/?${right}` }],
      [404, { path: `/Callback?${right}` }],
      [404, { path: `//callback?${right}` }],
      [404, { path: `/x/../callback?${right}` }],
      [404, { path: `http://${host}/callback?${right}` }],
      [404, { path: '/favicon.ico' }],
      [405, { path: forged(right), method: 'POST', body: right }],
      [405, { path: forged(right), method: 'HEAD' }],
      [405, { path: forged(right), method: 'OPTIONS' }],
      [400, { path: forged(right), headers: { host: `localhost:${port}` } }],
      [400, { path: forged(right), headers: { host: '127.0.0.1' } }],
      [400, { path: forged(right), headers: { host: `rebound.example:${port}` } }],
    ] as const
    for (const [status, ask] of asks) {
      const answer = await send({ headers: { host }, ...ask })
      expect([status, JSON.stringify(ask)]).toEqual([answer.status, JSON.stringify(ask)])
      const isPage = ask.path !== '/favicon.ico' && !('method' in ask)
      expect(isPage ? answer.body : 'This login is not known').toContain('This login is not known')
      expect(answer.body).not.toContain(state)
      expect(answer.headers['cache-control']).toBe('no-store')
    }
    for (const text of [
      wire(`GET ${forged(right)}`, [], ''),
      'nonsense\r\n\r\n',
      `GET ${forged(right)} HTTP/1.1\r\n\r\n`,
    ])
      expect(await raw(port, text)).toMatch(/^HTTP\/1\.1 400 /)

    expect((await visit(await consent(url))).status).toBe(200)
    expect(redirectUri).toContain(host)
    expect((await result).accessToken).toMatch(/^gwa_/)
  })

  it('hears the browser among ten thousand wrong answers and connections that say nothing', async () => {
    const { url, result } = await begin(client)
    const { port } = requested(url)
    const idle = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await Promise.all(idle.map((socket) => once(socket, 'connect')))
    const send = sender(port)
    const statuses = new Set<number>()
    let sent = 0
    const flood = async (): Promise<void> => {
      while (sent < 10_000) statuses.add((await send({ path: `/callback?code=a&state=${sent++}` })).status)
    }
    const floods = Promise.all(Array.from({ length: 50 }, flood)).catch(() => {}) // in the end nothing listens any more
    await eventually(() => sent > 5_000)
    expect((await visit(await consent(url))).status).toBe(200)
    expect(await result).toMatchObject({ clientId: 'native' })
    await floods
    expect([...statuses]).toEqual([400])
    for (const socket of idle) socket.destroy()
  })

  it('ends the oldest of more than a thousand connections, and hears the browser all the same', async () => {
    const { url, result } = await begin(client)
    const { port } = requested(url)
    const sockets: Socket[] = []
    let closed = 0
    for (let opened = 0; opened < 1300; opened++) {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      socket.on('close', () => closed++)
      sockets.push(socket)
      if (opened % 100 === 99) await once(socket, 'connect')
    }
    await eventually(() => closed >= 300)
    expect(closed).toBe(300)
    expect(sockets.slice(0, 300).every(({ destroyed }) => destroyed)).toBe(true)
    expect((await visit(await consent(url))).status).toBe(200)
    await result
    for (const socket of sockets) socket.destroy()
  })

  it.each<[string, (parameters: URLSearchParams) => void]>([
    ['another issuer', (parameters) => parameters.set('iss', 'https://evil.example')],
    ['no issuer', (parameters) => parameters.delete('iss')],
    ['two issuers', (parameters) => parameters.append('iss', 'https://evil.example')],
    ['no code', (parameters) => parameters.delete('code')],
    ['two codes', (parameters) => parameters.append('code', 'x')],
  ])('takes no answer with its state and %s', async (_, change) => {
    const { url, result } = await begin(client)
    const back = await consent(url)
    const code = back.searchParams.get('code') ?? ''
    change(back.searchParams)
    service.paths.length = 0
    const page = await visit(back)
    const error = await thrownBy(result)
    expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(code)
    expect(page.status).toBe(400)
    expect(service.paths).toEqual([])
  })

  it('tells a browser that comes twice the same', async () => {
    let answer: (() => void) | undefined
    service.faults.push({
      path: '/oauth2/token',
      fault: (_, response) => {
        const end = response.end.bind(response)
        response.end = (...parts: unknown[]) => {
          answer = () => void end(...(parts as Parameters<typeof end>)) // what it was called with
          return response
        }
        return false
      },
    })
    const { url, result } = await begin(client)
    const back = await consent(url)
    const first = visit(back)
    await eventually(() => answer !== undefined)
    const { socket, received, ended } = await openSocket(requested(url).port)
    socket.write(`GET ${back.pathname}${back.search} HTTP/1.1\r\nHost: ${back.host}\r\n\r\n`)
    // Whoever comes after it has been seen, so the second one is waiting.
    const { status } = await visit(new URL('/favicon.ico', back))
    expect([status, received()]).toEqual([404, ''])
    answer?.()
    await result
    await ended
    socket.destroy()
    expect((await first).body).toContain('You are logged in')
    expect(received()).toContain('You are logged in')
  })

  describe('ends, and nothing listens any more,', () => {
    /** That all is gone that a login had, with the connections that somebody holds. */
    async function isOver(port: number, sockets: readonly Awaited<ReturnType<typeof openSocket>>[]): Promise<void> {
      for (const { socket, ended } of sockets) {
        await ended
        socket.destroy()
      }
      expect(await isClosed(port)).toBe(true)
    }

    /** A connection that has asked nothing, one that was answered, and one in the middle of a request. */
    async function connections(port: number) {
      const [idle, used, half] = [await openSocket(port), await openSocket(port), await openSocket(port)]
      used.socket.write(`GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
      await used.until('not known')
      await used.ended
      expect(used.received()).toContain('\r\nConnection: close\r\n')
      half.socket.write('GET /callback?code=')
      return [idle, used, half]
    }

    it('when it is done', async () => {
      const { url, result } = await begin(client)
      const { port } = requested(url)
      const sockets = await connections(port)
      await visit(await consent(url))
      await result
      await isOver(port, sockets)
    })

    it('when the time is over', async () => {
      const { url, result } = await begin(client, { timeout: 1.5 })
      const { port } = requested(url)
      const sockets = await connections(port)
      expect(await thrownBy(result)).toMatchObject({ code: 'ERR_LOGIN_EXPIRED' })
      await isOver(port, sockets)
    })

    it('when the signal says so, while it waits for the user', async () => {
      const controller = new AbortController()
      const reason = new Error('enough')
      const { url, result } = await begin(client, { signal: controller.signal })
      const { port } = requested(url)
      const sockets = await connections(port)
      controller.abort(reason)
      expect(await thrownBy(result)).toBe(reason)
      await isOver(port, sockets)
    })

    it('when the signal says so, while it waits for the tokens', async () => {
      const controller = new AbortController()
      const reason = new Error('enough')
      service.faults.push({
        path: '/oauth2/token',
        fault: (...args) => {
          controller.abort(reason)
          return hangs(...args)
        },
      })
      const patient = await discover({ issuer: service.issuer, ...NATIVE, timeout: 1000 })
      const { url, result } = await begin(patient, { signal: controller.signal })
      const page = await visit(await consent(url))
      expect(await thrownBy(result)).toBe(reason)
      expect(page.body).toContain('You are not logged in')
      await isOver(requested(url).port, [])
    })

    it('when the browser leaves before it is told', async () => {
      const { url, result } = await begin(client)
      const back = await consent(url)
      const { socket } = await openSocket(requested(url).port)
      socket.write(`GET ${back.pathname}${back.search} HTTP/1.1\r\nHost: ${back.host}\r\n\r\n`, () => socket.destroy())
      expect((await result).accessToken).toMatch(/^gwa_/)
      await isOver(requested(url).port, [])
    })

    it.each<[string, () => void | Promise<void>]>([
      ['fails', () => Promise.reject(new Error('no browser'))],
      [
        'throws',
        () => {
          throw new Error('no browser')
        },
      ],
    ])('when the opener of the application %s', async (_, fail) => {
      let seen = ''
      const openBrowser = (url: string): void | Promise<void> => {
        seen = url
        return fail()
      }
      await expect(loginByBrowser(client, { openBrowser })).rejects.toThrow('no browser')
      await isOver(requested(seen).port, [])
    })

    it.each<[string, () => void | Promise<void>]>([
      [
        'at once',
        () => {
          throw new Error('no terminal')
        },
      ],
      [
        'later',
        async () => {
          await new Promise((resolve) => setTimeout(resolve, 20))
          throw new Error('no terminal')
        },
      ],
    ])('when nobody can be shown the address, which then no browser gets (%s)', async (_, fail) => {
      let seen = ''
      let opened = false
      const onUrl = (url: string): void | Promise<void> => {
        seen = url
        return fail()
      }
      const openBrowser = (): void => {
        opened = true
      }
      await expect(loginByBrowser(client, { onUrl, openBrowser })).rejects.toThrow('no terminal')
      expect(opened).toBe(false)
      await isOver(requested(seen).port, [])
    })

    it('while the address is being shown, and opens no browser then', async () => {
      const controller = new AbortController()
      let shown = (): void => {}
      const onUrl = (): Promise<void> =>
        new Promise((resolve) => {
          shown = resolve
          controller.abort(new Error('enough'))
        })
      const pages: string[] = []
      const openBrowser = (url: string): void => void pages.push(url)
      await expect(loginByBrowser(client, { onUrl, openBrowser, signal: controller.signal })).rejects.toThrow('enough')
      shown()
      await new Promise((resolve) => setTimeout(resolve))
      expect(pages).toEqual([])
    })

    it('before it begins, where the signal was aborted already', async () => {
      const reason = new Error('enough')
      const openBrowser = () => expect.fail('opened')
      expect(await thrownBy(loginByBrowser(client, { openBrowser, signal: AbortSignal.abort(reason) }))).toBe(reason)
    })
  })

  it('goes on where no browser can be opened but the user has the address', async () => {
    const shown: string[] = []
    const openBrowser = (url: string) => Promise.reject(new Error(`no browser for ${url}`))
    const { url, result } = await new Promise<Awaited<ReturnType<typeof begin>>>((resolve) => {
      const result = loginByBrowser(client, {
        openBrowser,
        onUrl: (url) => {
          shown.push(url)
          setTimeout(() => resolve({ url, result }), 20)
        },
      })
    })
    await visit(await consent(url))
    expect((await result).accessToken).toMatch(/^gwa_/)
    expect(shown).toEqual([url])
  })

  it('opens none where it is told to, and then somebody must get the address', async () => {
    await expect(loginByBrowser(client, { openBrowser: false })).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
    const pages: Promise<Answer>[] = []
    const onUrl = (url: string): void => void pages.push(consent(url).then((back) => visit(back)))
    const tokens = await loginByBrowser(client, { openBrowser: false, onUrl })
    expect(tokens.accessToken).toMatch(/^gwa_/)
    expect((await pages[0])?.status).toBe(200)
  })

  it.each([
    { openBrowser: true },
    { openBrowser: 'firefox' },
    { onUrl: 'x' },
    { scope: ' ' },
    { timeout: 0 },
    { timeout: Number.POSITIVE_INFINITY },
    { page: '<h1>' },
    { signal: {} },
    { port: 8080 },
  ])('refuses wrong options: %j', async (options) => {
    const given = options as unknown as BrowserLoginOptions // that it is none is the test
    await expect(loginByBrowser(client, given)).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
  })

  describe('in a process of its own', () => {
    let folder: string

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'grantwell-process-'))
      const contents = `
        import { discover } from './src/client/index.ts'
        import { loginByBrowser } from './src/client/node/index.ts'
        const [issuer, clientId, timeout, opener] = process.argv.slice(2)
        const client = await discover({ issuer, clientId })
        const onUrl = (url) => process.stdout.write(url + '\\n')
        const tokens = await loginByBrowser(client, { onUrl, timeout: Number(timeout), ...(opener === 'none' && { openBrowser: false }) }).catch(({ code }) => ({ code }))
        await new Promise(setImmediate) // handles are gone once the loop has come round
        await new Promise(setImmediate)
        const left = process.getActiveResourcesInfo().filter((name) => /server|timeout/i.test(name))
        process.stdout.write(JSON.stringify({ left, type: tokens.tokenType, code: tokens.code }))
      `
      const resolveDir = fileURLToPath(new URL('../..', import.meta.url))
      const outfile = join(folder, 'login.mjs')
      const stdin = { contents, resolveDir, loader: 'js' } as const
      await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' })
    })
    afterAll(() => rmSync(folder, { recursive: true }))

    it.each([
      ['done', '300', 'none', { type: 'bearer' }],
      ['over time', '2', 'none', { code: 'ERR_LOGIN_EXPIRED' }],
      ['done, though the opener goes on', '300', 'xdg-open', { type: 'bearer' }],
    ])('nothing keeps it alive once it is %s', async (_, timeout, opener, outcome) => {
      // The opener of other platforms is no file of ours; then this is the first case again.
      const noted = join(folder, 'noted')
      const script = `#!/bin/sh\necho $$ > '${noted}.part' && mv '${noted}.part' '${noted}'\nexec sleep 1000\n`
      const byPath = process.platform !== 'win32' && process.platform !== 'darwin'
      if (opener !== 'none') writeFileSync(join(folder, opener), script, { mode: 0o755 })

      const file = join(folder, 'login.mjs')
      const child = spawn(
        process.execPath,
        [file, service.issuer, NATIVE.clientId, timeout, byPath ? opener : 'none'],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` },
        },
      )
      ended.push(() => child.kill('SIGKILL'))
      const closed = once(child, 'close')
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
      await eventually(() => output.includes('\n'))
      const [url = ''] = output.split('\n')
      if (opener !== 'none' && byPath) {
        await eventually(() => existsSync(noted))
        ended.push(() => process.kill(Number(readFileSync(noted, 'utf8'))))
      }
      const { socket } = await openSocket(requested(url).port)
      ended.push(() => socket.destroy())
      if (timeout === '300') await visit(await consent(url))
      expect(await closed).toEqual([0, null])
      expect(JSON.parse(output.split('\n')[1] ?? '')).toEqual({ left: [], ...outcome })
    })
  })
})

describe('at a service that answers as it is told', () => {
  it.each(['temporarily_unavailable', 'server_error'])('says of %s that another try is worth it', async (error) => {
    const made = await madeUp()
    ended.push(made.close)
    const client = await discover({ issuer: made.issuer, clientId: 'tool' })
    const { url, result } = await begin(client)
    const { redirectUri, state } = requested(url)
    const page = await visit(new URL(`${redirectUri}?${new URLSearchParams({ error, state })}`))
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_UNREACHABLE', error })
    expect(page.body).toContain('You are not logged in')
  })

  it('keeps the parameters that its endpoint has, and not the text that it sends', async () => {
    const made = await madeUp({ '/token': [{ body: { access_token: 'x', token_type: 'Bearer' } }] })
    ended.push(made.close)
    made.replies['/.well-known/oauth-authorization-server'] = [
      {
        body: {
          issuer: made.issuer,
          authorization_endpoint: `${made.issuer}/authorize?tenant=a%20b`,
          token_endpoint: `${made.issuer}/token`,
        },
      },
    ]
    const client = await discover({ issuer: made.issuer, clientId: 'tool' })
    const { url, result } = await begin(client, { scope: 'a' })
    expect(new URL(url).searchParams.get('tenant')).toBe('a b')
    const { redirectUri, state } = requested(url)
    await visit(new URL(`${redirectUri}?code=a?code&state=${state}`))
    expect(await result).toMatchObject({ accessToken: 'x', scope: 'a' })
    expect(made.asked.at(-1)?.form).toEqual({
      grant_type: 'authorization_code',
      code: 'a?code',
      redirect_uri: redirectUri,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      client_id: 'tool',
    })

    const denied = await begin(client)
    const request = requested(denied.url)
    const refusal = { error: 'invalid_request', error_description: '<b>\u001b[2J', state: request.state }
    const page = await visit(new URL(`${request.redirectUri}?${new URLSearchParams(refusal)}`))
    const error = await thrownBy(denied.result)
    expect(String(error)).toContain('<b>[2J (invalid_request)')
    expect(page.body).not.toContain('[2J')
  })

  it('says that it offers no login by a browser', async () => {
    const made = await madeUp({}, { authorization_endpoint: undefined })
    ended.push(made.close)
    const client = await discover({ issuer: made.issuer, clientId: 'tool' })
    await expect(loginByBrowser(client)).rejects.toMatchObject({ code: 'ERR_RESPONSE' })
  })
})

const executablePath = browserOfTests()

describe.skipIf(executablePath === undefined)('in Chromium', () => {
  let browser: Browser
  let service: Service
  let client: Client

  beforeAll(async () => {
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: BROWSER_ARGUMENTS })
    service = await openService()
    // The icon of the service, which is its host's.
    always(service, '/favicon.ico', (_, response) => Boolean(response.writeHead(204).end()))
    client = await discover({ issuer: service.issuer, ...NATIVE })
  })
  afterEach(() => closePages(browser))
  afterAll(async () => {
    await browser?.close()
    await service.close()
  })

  it.each([
    ['Agree', 'You are logged in'],
    ['Refuse', 'Nothing was shared'],
  ])('the user presses %s and reads: %s', async (button, title) => {
    const { page, complaints } = await openPage(browser)
    const openBrowser = async (url: string): Promise<void> => {
      await page.goto(url)
      await page.getByRole('button', { name: button, exact: true }).click()
    }
    const result = loginByBrowser(client, { openBrowser, scope: 'repo-code:r' })
    if (button === 'Agree') {
      const tokens = await result
      expect(tokens.scope).toBe('repo-code:r')
      expect(await works(service.test, tokens.accessToken)).toBe(true)
    } else {
      expect(await thrownBy(result)).toMatchObject({ code: 'ERR_ACCESS_DENIED' })
    }
    await page.waitForLoadState()
    expect(await page.getByRole('heading').textContent()).toBe(title)
    expect(await page.title()).toBe(title)
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\?/)
    expect(complaints).toEqual([])
  })
})
