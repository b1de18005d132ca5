/**
 * The device flow in a real browser, and the authorized applications. The device is plain requests, as a device has no browser
 * (RFC 8628).
 */
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { builtClone, type Clone, type Demo, startDemo } from '../demo/start.js'
import { callApi, tokensFor } from '../demo/walk.js'
import { BROWSER_ARGUMENTS, browserOfTests, closePages, openPage } from './chromium.js'

const executablePath = browserOfTests()

describe.skipIf(executablePath === undefined)('the device flow in Chromium', () => {
  let clone: Clone
  let demo: Demo
  let browser: Browser

  beforeAll(async () => {
    clone = await builtClone()
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
  })

  // One for each test, since a user may type ten codes and no more than one a minute then.
  beforeEach(async () => {
    demo = await startDemo(clone.path)
  })

  afterEach(async () => {
    await Promise.all([closePages(browser), demo?.end()])
  })

  afterAll(async () => {
    await browser?.close()
    clone?.remove()
  })

  async function signIn(page: Page, as: Pick<Demo, 'username' | 'password'> = demo): Promise<void> {
    await page.getByLabel('User name').fill(as.username)
    await page.getByLabel('Password').fill(as.password)
    await press(page, 'Sign in')
  }

  /** A device asks for its codes (section 3.1). */
  async function ask(scope = 'repo-code:r account-profile:r'): Promise<Codes> {
    const answer = await fetch(`${demo.issuer}/oauth2/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'demo-cli', scope }),
    })
    expect(answer.status).toBe(200)
    return (await answer.json()) as Codes // 200 has codes
  }

  /** It polls once (section 3.4). */
  async function poll(codes: Codes): Promise<Polled> {
    const answer = await fetch(`${demo.issuer}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: codes.device_code,
        client_id: 'demo-cli',
      }),
    })
    return (await answer.json()) as Polled // an error or tokens
  }

  it('[3.3] takes the code as it is typed, shows what is asked for, and connects the device', async () => {
    const { page, complaints } = await openPage(browser)
    const codes = await ask()
    expect((await poll(codes)).error).toBe('authorization_pending')
    await page.goto(codes.verification_uri)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await signIn(page)
    expect(page.url()).toBe(codes.verification_uri)
    await page.getByLabel('Code on your device').fill(codes.user_code.toLowerCase().replace('-', ' '))
    await press(page, 'Continue')
    const text = await page.locator('main').textContent()
    for (const shown of ['Demo command line', codes.user_code, 'Repository code', 'User profile']) {
      expect(text).toContain(shown)
    }
    await page.getByLabel('Only the resources that you choose').check()
    await page.getByLabel('ada/letters').check()
    await press(page, 'Agree')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your device is connected')
    expect(complaints).toEqual([])
    const { access_token, scope } = await pollSlowly(codes)
    expect(scope).toBe('repo-code:r account-profile:r')
    const answer = await callApi(demo.api, access_token)
    expect(await answer.json()).toMatchObject({ user: 'user-1', repositories: [{ id: '3', name: 'ada/letters' }] })
  })

  it('[3.3.1] shows the code of the complete address to be compared, through the sign-in and without JavaScript', async () => {
    const { page } = await openPage(browser, { javaScriptEnabled: false })
    const codes = await ask()
    await page.goto(codes.verification_uri_complete)
    await signIn(page)
    expect(await page.locator('p.code').textContent()).toBe(codes.user_code)
    expect(await page.getByLabel('Code on your device').count()).toBe(0)
    expect((await ask()).user_code).not.toBe(codes.user_code)
    await press(page, 'Continue')
    await press(page, 'Agree')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Your device is connected')
    expect((await callApi(demo.api, (await poll(codes)).access_token)).status).toBe(200)
  })

  it('[3.3.1] the complete address alone decides nothing', async () => {
    const { page } = await openPage(browser)
    const codes = await ask()
    for (const more of ['', '&decision=agree&resource_scope=all']) {
      await page.goto(codes.verification_uri_complete + more)
      if (more === '') await signIn(page)
      expect(await page.locator('p.code').textContent()).toBe(codes.user_code)
    }
    await press(page, 'Continue')
    expect(await page.getByRole('button', { name: 'Agree' }).isVisible()).toBe(true)
    expect((await poll(codes)).error).toBe('authorization_pending')
  })

  it('[3.5] tells the device of a refusal, and gives it nothing', async () => {
    const { page, complaints } = await openPage(browser)
    const codes = await ask()
    await page.goto(codes.verification_uri_complete)
    await signIn(page)
    await press(page, 'Continue')
    await press(page, 'Refuse')
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Nothing was shared')
    const polled = await poll(codes)
    expect(polled.error).toBe('access_denied')
    expect(polled.access_token).toBeUndefined()
    expect(complaints).toEqual([])
  })

  it('[5.1] says that a code is wrong, keeps what was typed, and takes the right one then', async () => {
    const { page } = await openPage(browser)
    const codes = await ask()
    await page.goto(codes.verification_uri)
    await signIn(page)
    const field = page.getByLabel('Code on your device')
    for (const wrong of ['BBBB-BBBB', 'AEIO-UAEI', '"><script>document.title="ran"</script>']) {
      await field.fill(wrong)
      await press(page, 'Continue')
      expect(await page.getByRole('alert').isVisible()).toBe(true)
      expect(await field.inputValue()).toBe(wrong)
      expect(await field.getAttribute('aria-invalid')).toBe('true')
      expect(await page.title()).toMatch(/^Error: /)
    }
    await field.fill(codes.user_code)
    await press(page, 'Continue')
    await press(page, 'Agree')
    expect((await poll(codes)).access_token).toMatch(/^gwa_/)
  })

  it('[5.1] takes a code once', async () => {
    const { page } = await openPage(browser)
    const codes = await ask()
    await page.goto(codes.verification_uri_complete)
    await signIn(page)
    await press(page, 'Continue')
    await press(page, 'Agree')
    await page.goto(codes.verification_uri_complete)
    await press(page, 'Continue')
    expect(await page.getByRole('alert').isVisible()).toBe(true)
    expect(await page.getByRole('button', { name: 'Agree' }).count()).toBe(0)
  })

  it('lists what the user permitted, and takes it back: the tokens stop', async () => {
    const { page, complaints } = await openPage(browser)
    const codes = await ask()
    await page.goto(codes.verification_uri_complete)
    await signIn(page)
    await press(page, 'Continue')
    await press(page, 'Agree')
    const { access_token } = await poll(codes)
    const sample = await tokensFor(demo)
    await page.goto(demo.issuer)
    await page.getByRole('link', { name: 'Authorized applications' }).click()
    expect(new URL(page.url()).pathname).toBe('/oauth2/applications')
    const tool = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Demo command line' }) })
    const application = (name: string) => page.getByRole('heading', { name })
    expect(await application('Sample application').count()).toBe(1)
    await tool.getByRole('button').click()
    await page.waitForLoadState()
    expect(new URL(page.url()).pathname).toBe('/oauth2/applications')
    expect(await application('Demo command line').count()).toBe(0)
    expect(await application('Sample application').count()).toBe(1)
    expect((await callApi(demo.api, access_token)).status).toBe(401)
    expect((await callApi(demo.api, sample.access_token)).status).toBe(200)
    expect(complaints).toEqual([])
  })

  /** Polls until there are tokens, at the pace that the server asks for. */
  async function pollSlowly(codes: Codes): Promise<Polled> {
    for (let wait = codes.interval; ; wait += 5) {
      await new Promise((resolve) => setTimeout(resolve, wait * 1000))
      const polled = await poll(codes)
      if (polled.error !== 'slow_down') return polled
    }
  }
})

interface Codes {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly interval: number
}

interface Polled {
  readonly error?: string
  readonly access_token?: string
  readonly scope?: string
}

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click()
  await page.waitForLoadState()
}
