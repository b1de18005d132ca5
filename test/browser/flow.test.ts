/**
 * The flow in a real browser: the demo, as a user walks through it, and a service that is attacked.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page, type Response } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { builtClone, type Clone, type Demo, startDemo } from '../demo/start.js'
import { authorizationUrl } from '../demo/walk.js'
import { BROWSER_ARGUMENTS, browserOfTests, closePages, openPage } from './chromium.js'
import { HOSTILE, openService, type Service } from './service.js'

const executablePath = browserOfTests()

let browser: Browser

beforeAll(async () => {
  if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: BROWSER_ARGUMENTS })
})

afterEach(() => closePages(browser))

afterAll(async () => {
  await browser?.close()
})

describe.skipIf(executablePath === undefined)('the demo in Chromium', () => {
  let clone: Clone
  let demo: Demo

  beforeAll(async () => {
    clone = await builtClone()
    demo = await startDemo(clone.path)
  })

  afterAll(async () => {
    await demo?.end()
    clone?.remove()
  })

  /** Takes the first two steps in the application, and follows its link to the service. */
  async function toService(page: Page): Promise<void> {
    await page.goto(demo.app)
    for (const name of ['Start', 'Read the metadata', 'Write the link']) await press(page, name)
    await page.getByRole('link', { name: 'Go to the service' }).click()
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('User name').fill(demo.username)
    await page.getByLabel('Password').fill(demo.password)
    await press(page, 'Sign in')
  }

  /** The way to the consent page by plain requests with the browser's cookies, for what begins there. */
  async function toConsent(page: Page, form: Record<string, string> = {}): Promise<void> {
    const { request } = page.context()
    let answer = await request.post(`${demo.app}/flow`, { form })
    const id = new URL(answer.url()).searchParams.get('id') ?? ''
    for (const step of ['discover', 'request']) answer = await request.post(`${demo.app}/step`, { form: { id, step } })
    const { username, password } = demo
    await request.post(`${demo.issuer}/sign-in`, { form: { username, password } })
    const link = /href="([^"]+)">Go to the service/.exec(await answer.text())?.[1] ?? ''
    await page.goto(link.replaceAll('&amp;', '&'))
    expect(page.url()).toContain(`${demo.issuer}/oauth2/auth?`)
  }

  it('goes all the way: sign in, agree, exchange, call, refresh, revoke', async () => {
    const { page, complaints } = await openPage(browser)
    await toService(page)
    expect(page.url()).toContain(`${demo.issuer}/sign-in?`)
    await signIn(page)
    await press(page, 'Agree')
    await walkToTheEnd(page)
    // The one thing to complain about is nothing: no violation of a policy, no resource that does not load.
    expect(complaints).toEqual([])
  })

  it('works without JavaScript', async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false })
    await toService(page)
    await signIn(page)
    await page.getByLabel('Only the resources that you choose').check()
    await page.getByLabel('ada/letters').check()
    await press(page, 'Agree')
    for (const name of ['Get the tokens', 'List the repositories']) await press(page, name)
    const shown = await page.locator('#call').textContent()
    expect(shown).toContain('ada/letters')
    expect(shown).not.toContain('ada/analytical-engine')
  })

  it('works with the keyboard alone', async () => {
    const { page } = await openPage(browser)
    await page.goto(demo.app)
    for (const name of ['Start', 'Read the metadata', 'Write the link', 'Go to the service']) await enter(page, name)
    await tabTo(page, 'input[name=username]')
    await page.keyboard.type(demo.username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(demo.password)
    await Promise.all([page.waitForURL('**/oauth2/auth?**'), page.keyboard.press('Enter')])

    await tabTo(page, '[name=resource_scope]:checked')
    for (let step = 0; step < 2; step++) await page.keyboard.press('ArrowDown')
    await tabTo(page, '[name=resource][value="2"]')
    await page.keyboard.press('Space')
    await enter(page, 'Agree')
    for (const name of ['Get the tokens', 'List the repositories']) await enter(page, name)
    const shown = await page.locator('#call').textContent()
    expect(shown).toContain('ada/bernoulli-numbers')
    expect(shown).not.toContain('ada/letters')
  })

  it('tells the application of a refusal, and gives it nothing', async () => {
    const { page, complaints } = await openPage(browser)
    await toConsent(page)
    await press(page, 'Refuse')
    expect(page.url()).toContain(`${demo.app}/flow?`)
    const shown = (await page.locator('#callback').textContent()) ?? ''
    expect(shown).toContain('error=access_denied')
    expect(shown).not.toContain('code=')
    expect(await page.getByRole('button').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('asks again where resources were to be chosen and none was', async () => {
    const { page } = await openPage(browser)
    await toConsent(page)
    await page.getByLabel('Only the resources that you choose').check()
    await press(page, 'Agree')
    expect(await page.getByRole('alert').textContent()).toContain('Choose which resources')
    expect(await page.getByLabel('Only the resources that you choose').isChecked()).toBe(true)
    await page.getByLabel('ada/letters').check()
    await press(page, 'Agree')
    expect(page.url()).toContain(`${demo.app}/flow?`)
  })

  it('[6] the browser leaves the consent form and the sign-in with a GET that has nothing of the form', async () => {
    for (const decision of ['Agree', 'Refuse']) {
      const { page } = await openPage(browser)
      const answers: Response[] = []
      page.on('response', (response) => {
        if (response.request().method() === 'POST' && response.url().startsWith(demo.issuer)) answers.push(response)
      })
      await toService(page)
      await signIn(page)
      await press(page, decision)
      expect(answers.map((answer) => new URL(answer.url()).pathname)).toEqual(['/sign-in', '/oauth2/auth'])
      for (const answer of answers) {
        expect([302, 303]).toContain(answer.status())
        const next = answer.request().redirectedTo()
        expect(next?.method()).toBe('GET')
        expect(next?.postData()).toBeNull()
        expect(next?.url()).not.toContain(demo.password)
      }
    }
  })

  it('[13] the scopes and resources that the page shows are those that the application gets', async () => {
    for (const write of [false, true]) {
      const { page } = await openPage(browser)
      await toConsent(page, write ? { write: 'yes' } : {})
      const shown = await page.locator('data').evaluateAll((items) => items.map((item) => item.getAttribute('value')))
      expect(new Set(shown)).toEqual(new Set([write ? 'repo-code:rw' : 'repo-code:r', 'account-profile:r']))
      await page.getByLabel('All public resources of your account').check()
      await press(page, 'Agree')
      for (const name of ['Get the tokens', 'List the repositories', 'Add a commit']) await press(page, name)
      const granted = /"scope": "([^"]*)"/.exec((await page.locator('#exchange').textContent()) ?? '')?.[1]
      expect(new Set(granted?.split(' '))).toEqual(new Set(shown))
      const call = await page.locator('#call').textContent()
      expect(call).toContain('"kind": "public"')
      expect(call).not.toContain('ada/letters')
      expect(await page.locator('#write').textContent()).toContain(write ? '201 Created' : '403 Forbidden')
    }
  })

  it('[11] the Back button brings a fresh form; the used one gets the same code, and is refused with another decision', async () => {
    const { page, context, complaints } = await openPage(browser)
    await toConsent(page)
    const consentToken = () => page.locator('[name=consent]').inputValue()
    const used = await consentToken()
    await press(page, 'Agree')
    await page.goBack()
    await page.waitForURL(`${demo.issuer}/oauth2/auth?**`)
    expect(await consentToken()).not.toBe(used)

    // A form that opens its answer in another tab stays where it is, and can be sent twice.
    await page.evaluate(`document.querySelector('form').target = '_blank'`)
    const send = async (name = 'Agree'): Promise<Page> => {
      const [tab] = await Promise.all([context.waitForEvent('page'), page.getByRole('button', { name }).click()])
      await tab.waitForLoadState()
      return tab
    }
    // Its state was answered already, so the application leaves it alone; but the service made a code of it.
    const first = (await send()).url()
    expect(first).toContain(`${demo.app}/callback?code=`)
    expect((await send()).url()).toBe(first)
    const refused = await send('Refuse')
    expect(refused.url()).toBe(`${demo.issuer}/oauth2/auth`)
    expect(await refused.getByRole('main').textContent()).toContain('This form was sent before')
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([])
  })

  it('lets two tabs walk at once', async () => {
    const { page, context } = await openPage(browser)
    const other = await context.newPage()
    await toConsent(page)
    await toConsent(other)
    for (const tab of [page, other]) await press(tab, 'Agree')
    for (const tab of [other, page]) {
      for (const name of ['Get the tokens', 'List the repositories']) await press(tab, name)
      expect(await tab.locator('#call').textContent()).toContain('200 OK')
    }
  })

  it('keeps its cookies from scripts, from other sites and from the disk', async () => {
    const { page, context } = await openPage(browser)
    await toConsent(page)
    const cookies = await context.cookies()
    const port = (url: string): string => new URL(url).port
    const names = ['grantwell', `session-${port(demo.issuer)}`, `application-${port(demo.app)}`]
    expect(cookies.map(({ name }) => name).sort()).toEqual(names.sort())
    for (const { httpOnly, sameSite, expires, domain } of cookies) {
      expect({ httpOnly, sameSite, expires, domain }).toEqual({
        httpOnly: true,
        sameSite: 'Lax',
        expires: -1,
        domain: '127.0.0.1',
      })
    }
    expect(await page.evaluate('document.cookie')).toBe('')
  })

  it('[12] no page can be framed, by a page of the same site or of another', async () => {
    const { page, context } = await openPage(browser)
    await toConsent(page)
    const consent = page.url()
    const framer = await serve((url) => {
      if (url === '/harmless') return 'harmless'
      return `<iframe src="${decodeURIComponent(url.slice(2)).replaceAll('&', '&amp;')}"></iframe>`
    })
    try {
      for (const host of ['127.0.0.1', 'localhost']) {
        const outer = await context.newPage()
        const framed = async (url: string): Promise<string> => {
          await outer.goto(`http://${host}:${framer.port}/?${encodeURIComponent(url)}`)
          return (await outer.frames()[1]?.locator('body').textContent()) ?? ''
        }
        // So that one knows that a frame of this page can show something at all.
        expect(await framed('/harmless')).toBe('harmless')
        const flow = await startFlow(await context.newPage())
        for (const url of [consent, consent.replace(/client_id=[^&]*/, ''), `${demo.issuer}/sign-in`, demo.app, flow]) {
          expect(await framed(url)).toMatch(/refused to connect|^$/)
          expect(outer.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
        }
      }
    } finally {
      framer.server.close()
    }
  })

  async function startFlow(page: Page): Promise<string> {
    await page.goto(demo.app)
    await press(page, 'Start')
    return page.url()
  }

  it('shows the page "cannot be accessed" for a link that is wrong, and sends the browser nowhere', async () => {
    const { page } = await openPage(browser)
    for (const wrong of [{ client_id: 'unknown' }, { redirect_uri: 'https://evil.example/callback' }]) {
      const response = await page.goto(String(authorizationUrl(demo, wrong)))
      expect(response?.status()).toBe(400)
      expect(new URL(page.url()).origin).toBe(demo.issuer)
      expect(await page.getByRole('heading').textContent()).toBe('This link cannot be accessed')
    }
  })

  async function walkToTheEnd(page: Page): Promise<void> {
    expect(page.url()).toContain(`${demo.app}/flow?`)
    expect(await page.locator('#callback').textContent()).toContain('GET /callback')
    const steps = [
      ['Get the tokens', 'exchange', '200 OK'],
      ['List the repositories', 'call', '200 OK'],
      ['Add a commit', 'write', '403 Forbidden'],
      ['Get new tokens', 'refresh', '200 OK'],
      ['Call with the old token', 'old-token', '200 OK'],
      ['Revoke the refresh token', 'revoke', '200 OK'],
      ['Call with the revoked token', 'revoked-token', '401 Unauthorized'],
    ] as const
    for (const [button, step, status] of steps) {
      await press(page, button)
      expect(await page.locator(`#${step}`).textContent()).toContain(status)
    }
    expect(await page.locator('.failed').count()).toBe(0)
  }
})

describe.skipIf(executablePath === undefined)('a service in Chromium', () => {
  let service: Service

  beforeAll(async () => {
    service = await openService()
  })

  afterAll(() => service?.close())

  /** Changes a parameter of the request that a consent form has in it. */
  function alter(page: Page, name: string, value: string): Promise<unknown> {
    return page.evaluate(`{
      const field = document.querySelector('[name=request]')
      const parameters = new URLSearchParams(field.value)
      parameters.set(${JSON.stringify(name)}, ${JSON.stringify(value)})
      field.value = parameters
    }`)
  }

  async function isRefused(page: Page): Promise<void> {
    expect(page.url()).toBe(`${service.origin}/oauth2/auth`)
    expect(await page.getByRole('heading').textContent()).toBe('This link cannot be accessed')
    expect(await page.getByRole('main').textContent()).toContain('This form was sent before, is too old')
  }

  it('[11] a consent form is refused when anything of its request was altered', async () => {
    const { page } = await openPage(browser)
    const alterations = {
      client_id: 'another',
      redirect_uri: `${service.origin}/other`,
      scope: 'wiki:rw mail:r',
      state: 'x',
      code_challenge: 'A'.repeat(43),
    }
    for (const [name, value] of Object.entries(alterations)) {
      await page.goto(service.authorizationUrl())
      await alter(page, name, value)
      await press(page, 'Agree')
      await isRefused(page)
    }
    await page.goto(service.authorizationUrl())
    await page.evaluate(`document.querySelector('[name=consent]').value += 'A'`)
    await press(page, 'Agree')
    await isRefused(page)
  })

  it('[11] a consent form is refused for another user than the one who opened it', async () => {
    const { page } = await openPage(browser)
    const ada = service.session.user
    await page.goto(service.authorizationUrl())
    service.session.user = { subject: 'eve' }
    await press(page, 'Agree')
    await isRefused(page)

    await page.goto(service.authorizationUrl())
    service.session.user = undefined
    await press(page, 'Agree')
    await page.waitForURL('**/sign-in?**')
    expect(await page.textContent('body')).toMatch(/^GET /)
    service.session.user = ada
  })

  it('[11] a consent form is refused in another browser', async () => {
    const [{ page, context }, { page: other }] = [await openPage(browser), await openPage(browser)]
    await page.goto(service.authorizationUrl())
    await other.goto(service.authorizationUrl())
    const stolen = await page.locator('[name=consent]').inputValue()
    await other.evaluate(`document.querySelector('[name=consent]').value = ${JSON.stringify(stolen)}`)
    await press(other, 'Agree')
    await isRefused(other)
    await context.clearCookies()
    await press(page, 'Agree')
    await isRefused(page)
  })

  it('[11] a consent form is refused after its lifetime, to the second', async () => {
    const { page } = await openPage(browser)
    await page.goto(service.authorizationUrl())
    service.clock.now += 600
    await press(page, 'Agree')
    await isRefused(page)
    await page.goto(service.authorizationUrl())
    service.clock.now += 599
    await press(page, 'Agree')
    expect(page.url()).toContain(`${service.origin}/callback?code=`)
  })

  it('[11] consent needs a POST: an address that says "agree" only shows the page', async () => {
    const { page } = await openPage(browser)
    await page.goto(service.authorizationUrl())
    const consent = await page.locator('[name=consent]').inputValue()
    await page.goto(service.authorizationUrl({ consent, decision: 'agree', resource_scope: 'all' }))
    expect(new URL(page.url()).pathname).toBe('/oauth2/auth')
    expect(await page.getByRole('button', { name: 'Agree' }).isVisible()).toBe(true)
  })

  it('[11] a form of another site that has the right fields is refused', async () => {
    const { page } = await openPage(browser)
    await page.goto(service.authorizationUrl())
    // A copy of the page, with the token of this very browser, on another port: the same site, so its cookies go along.
    const copy = (await page.content()).replace('action="/', `action="${service.origin}/`)
    for (const policy of ['no-referrer', 'unsafe-url']) {
      const foreign = await serve(() => `<meta name="referrer" content="${policy}">${copy}`)
      await page.goto(`http://127.0.0.1:${foreign.port}/`)
      await press(page, 'Agree')
      await isRefused(page)
      foreign.server.close()
    }
  })

  it('[13] never more is granted than is registered', async () => {
    const { page } = await openPage(browser)
    await page.goto(service.authorizationUrl({ scope: 'wiki:r ruin:rw' }))
    expect(page.url()).toContain(`${service.origin}/callback?error=invalid_scope`)
    await page.goto(service.authorizationUrl())
    await alter(page, 'scope', 'wiki:r ruin:rw')
    await press(page, 'Agree')
    expect(page.url()).toContain(`${service.origin}/callback?error=invalid_scope`)
  })

  it('[12] every value on a page is text: names, descriptions, scopes, resources, state, errors', async () => {
    const { page, complaints } = await openPage(browser)
    const response = await page.goto(service.authorizationUrl())
    expect(response?.headers()).toMatchObject({
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(await page.title()).toBe(`Authorize ${HOSTILE}`)
    expect(await page.locator('script, style, b, [onerror], [style]').count()).toBe(0)
    expect(await page.locator('img').count()).toBe(1)
    const text = await page.locator('body').textContent()
    for (const start of ['Signed in as Ada ', 'Wiki ']) expect(text).toContain(start + HOSTILE)
    expect(await page.locator('h1 bdi').textContent()).toBe(HOSTILE)
    // A logo that is no picture beyond its first bytes is the test's own doing.
    expect(complaints).toEqual([])

    await page.getByLabel('Only the resources that you choose').check()
    await page.getByLabel('One').check()
    await press(page, 'Agree')
    expect(new URL(page.url()).searchParams.get('state')).toBe(HOSTILE)

    for (const wrong of [{ client_id: HOSTILE }, { redirect_uri: HOSTILE }]) {
      await page.goto(service.authorizationUrl(wrong))
      expect(await page.title()).toBe('This link cannot be accessed')
      expect(await page.locator('script').count()).toBe(0)
    }
  })

  it('[12] the policy holds: nothing that is put into the page runs, is shown or is sent elsewhere', async () => {
    const { page } = await openPage(browser)
    const elsewhere = await serve(() => 'window.ran = true')
    const origin = `http://127.0.0.1:${elsewhere.port}`
    let asked = 0
    elsewhere.server.on('request', () => {
      asked += 1
    })
    await page.goto(service.authorizationUrl())
    const scripts = ['script-src-elem', 'script-src-attr', 'style-src-elem', 'style-src-attr']
    const directives = [...scripts, 'img-src', 'frame-src', 'base-uri', 'connect-src', 'form-action']
    const violated = await page.evaluate(`(async () => {
      const violated = []
      document.addEventListener('securitypolicyviolation', (event) => violated.push(event.effectiveDirective))
      const put = (name, properties) => document.body.append(Object.assign(document.createElement(name), properties))
      put('script', { textContent: 'window.ran = true' })
      put('script', { src: '${origin}/x.js' })
      put('style', { textContent: 'h1 { display: none }' })
      put('link', { rel: 'stylesheet', href: '${origin}/x.css' })
      put('img', { src: '${origin}/x.png' })
      put('iframe', { src: '${origin}/' })
      put('base', { href: '${origin}/' })
      put('div', { innerHTML: '<p style="position: fixed">x</p><img src="data:," onerror="window.ran = true">' })
      const form = document.querySelector('form').cloneNode()
      form.action = '${origin.replace('http:', 'ftp:')}/'
      document.body.append(form)
      form.submit()
      await fetch('${origin}/').catch(() => {})
      const expected = ${JSON.stringify(directives)}
      // A browser tells of them when it has the time; the limit is against hanging alone.
      for (let turn = 0; turn < 6000 && !expected.every((each) => violated.includes(each)); turn++)
        await new Promise((resolve) => setTimeout(resolve, 10))
      return violated
    })()`)
    for (const directive of directives) expect(violated).toContain(directive)
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true)
    expect(asked).toBe(0)
    elsewhere.server.close()
  })

  it('[6] the answer to a form that was altered to be an error is a GET as well', async () => {
    const { page } = await openPage(browser)
    await page.goto(service.authorizationUrl())
    await alter(page, 'response_type', 'token')
    await press(page, 'Agree')
    expect(await page.textContent('body')).toMatch(/^GET \/callback\?error=unsupported_response_type/)
  })
})

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
  await page.waitForLoadState()
}

/** Presses Enter on the link or button of this name, having come there with the Tab key. */
async function enter(page: Page, name: string): Promise<void> {
  await tabTo(page, `:is(a, button)`, name)
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
}

async function tabTo(page: Page, selector: string, text = ''): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    const there = await page.evaluate(
      `document.activeElement.matches(${JSON.stringify(selector)}) && document.activeElement.textContent.includes(${JSON.stringify(text)})`,
    )
    if (there) return
  }
  throw new Error(`the Tab key does not lead to ${selector} ${text}`)
}

/** A site that answers with the same kind of text to everything. */
async function serve(answer: (url: string) => string): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(answer(request.url ?? '/'))
  }).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a port, for it listens on TCP
  return { server, port }
}
