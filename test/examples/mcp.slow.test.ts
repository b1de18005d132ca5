/**
 * The MCP server of the examples, as its reader starts it; version 2 of the SDK's client; and the MCP Inspector in Chromium. Each prints
 * the steps of its flow. With `PICTURES=folder`, the Inspector's pages are kept there.
 * @module
 * @see The Model Context Protocol, version 2025-11-25, "Authorization"
 */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { AuthorizationServerOptions } from 'grantwell'
import type { Browser, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createGitHost } from '../../examples/mcp/server.mjs'
import { BROWSER_ARGUMENTS, browserOfTests, closePages } from '../browser/chromium.js'
import { freshClone } from '../demo/start.js'
import { freePort } from '../engines/process.js'
import { startExample } from './clone.js'
import { installInspector, sdkOfVersion2, startInspector, whyNoInspector } from './inspector.js'
import { createAgent } from './mcp-agent.js'

const PICTURES = process.env['PICTURES']
const NOTE = { repository: 'ada/notes', path: 'today.md', text: 'A note' }

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Starts the example, and notes what it is asked. */
async function start(options: Partial<AuthorizationServerOptions> = {}) {
  const steps: string[] = []
  const http = createServer().listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo // a port, for it listens on TCP
  const issuer = `http://127.0.0.1:${port}`
  http.on('request', ({ method, url = '' }, response) => {
    const [path] = url.split('?')
    const scope = new URLSearchParams(url.split('?')[1]).get('scope')
    response.on('finish', () => {
      const challenge = /\b(?:error|scope)="[^"]*"/.exec(`${response.getHeader('www-authenticate')}`)?.[0]
      const words = [`${method} ${path}`, ...(scope === null ? [] : [`scope=${scope}`]), '->', response.statusCode]
      steps.push([...words, ...(challenge === undefined ? [] : [challenge])].join(' '))
    })
  })
  http.on('request', createGitHost(issuer, options))
  closers.push(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `${issuer}/mcp`, steps }
}

/** Prints the steps of a flow. */
function print(title: string, steps: readonly string[]): void {
  console.log(`${title}:\n${steps.map((step) => `  ${step}`).join('\n')}`)
}

describe('npm run demo:mcp', () => {
  it('starts in a fresh clone, and says the URL that a client needs', async () => {
    const clone = freshClone()
    closers.push(clone.remove)
    const port = await freePort()
    const example = startExample(clone, ['examples/mcp/start.mjs'], { PORT: `${port}` })
    closers.push(example.stop)
    if ((await example.settled) === 'ended') expect.fail((await example.ended).stderr)
    const url = /listening at (\S+)/.exec(example.stdout())?.[1] ?? ''
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`)
    const agent = createAgent(url, { forgetsToStepUp: true })
    closers.unshift(agent.close)
    await agent.connect()
    expect(await agent.callTool('write_file', NOTE)).toBe('ada wrote today.md in ada/notes')
    print('The SDK, version 1', await agent.takeSteps())
  })
})

describe('version 2 of the SDK', () => {
  beforeAll(installInspector)

  it('gets through from the bare URL, steps up without any help, and refreshes', async () => {
    let now = Math.floor(Date.now() / 1000)
    const { url } = await start({ clock: () => now })
    const agent = createAgent(url, { sdk: await sdkOfVersion2() })
    closers.unshift(agent.close)
    await agent.connect()
    expect(await agent.listTools()).toEqual(['list_repositories', 'read_file', 'write_file'])
    expect(await agent.callTool('write_file', NOTE)).toBe('ada wrote today.md in ada/notes')
    now += agent.tokens()?.expires_in ?? 0
    expect(await agent.callTool('read_file', NOTE)).toBe('A note')
    const steps = await agent.takeSteps()
    print('The SDK, version 2', steps)
    expect(steps).toContain('POST /oauth2/token grant_type=refresh_token resource=/mcp refresh_token -> 200')
    expect(steps).toContain('POST /mcp write_file -> 403 error=insufficient_scope scope=repo-code:rw resource_metadata')
    expect(steps.filter((step) => step.startsWith('browser:'))).toHaveLength(2)
    expect(agent.tokens()?.scope).toBe('repo-code:rw')
  })
})

/** The messages of an Inspector that has its token: initialize, notifications/initialized, tools/list. */
const CONNECTED = ['POST /mcp -> 200', 'POST /mcp -> 202', 'POST /mcp -> 200']

const executablePath = browserOfTests()
const missing = whyNoInspector()
if (missing !== undefined) it.skip(missing, () => {})

describe.skipIf(executablePath === undefined || missing !== undefined)('the MCP Inspector in Chromium', () => {
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    installInspector()
    browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
  })
  afterAll(() => browser?.close())

  /** Keeps a picture of the page. */
  async function picture(name: string): Promise<void> {
    if (PICTURES === undefined) return
    mkdirSync(PICTURES, { recursive: true })
    await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' })
  }
  const press = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()

  /** Calls the tool that needs more than the first consent gave. */
  async function writeNote(): Promise<void> {
    await page.getByText('write_file').first().click()
    for (const [name, value] of Object.entries(NOTE)) await page.getByRole('textbox', { name }).fill(value)
    await press('Execute Tool')
  }

  it('connects, lists the tools, calls one, and steps up for another', async () => {
    const { url, steps } = await start()
    const inspector = await startInspector(url)
    closers.unshift(() => closePages(browser), inspector.end)
    const context = await browser.newContext({ viewport: { width: 1280, height: 600 } })
    context.setDefaultTimeout(300_000)
    await context.route(/^https:/, (route) => route.abort()) // its fonts
    page = await context.newPage()

    await page.goto(inspector.url)
    // No mouse: its input is hidden behind a picture, and a click at a place misses it where the page still moves.
    await page.getByRole('switch').dispatchEvent('click')
    await press('Sign in as Ada')
    await press('Agree')
    await page.getByText('Connected', { exact: true }).waitFor()
    await page.getByText('Tools', { exact: true }).click()
    for (const name of ['list_repositories', 'read_file', 'write_file']) await page.getByText(name).first().waitFor()
    await page.getByText('Authentication succeeded.').waitFor({ state: 'hidden' })
    await picture('inspector-listed')

    await page.getByText('list_repositories').first().click()
    await press('Execute Tool')
    await page.getByText('ada/notes: ideas.md').waitFor()
    await picture('inspector-called')

    await writeNote()
    await page.getByText('Additional permissions required').waitFor()
    await picture('inspector-step-up')
    await press('Authorize')
    await press('Agree')
    await page.getByText('Step-up authorization succeeded.').waitFor()
    await writeNote() // its page tells the user to try again
    await page.getByText('ada wrote today.md in ada/notes').waitFor()

    print('The Inspector', steps)
    // The stream that it asks for may be refused before or after its next message.
    expect(steps.filter((step) => !/ \/(oauth2\/style\.css|favicon\.ico) |^GET \/mcp /.test(step))).toEqual([
      'POST /mcp -> 401 scope="repo-code:r"',
      'GET /.well-known/oauth-protected-resource/mcp -> 200',
      'GET /.well-known/oauth-authorization-server -> 200',
      'POST /oauth2/register -> 201',
      'GET /oauth2/auth scope=repo-code:r -> 302',
      'GET /sign-in -> 200',
      'POST /sign-in -> 303',
      'GET /oauth2/auth scope=repo-code:r -> 200',
      'POST /oauth2/auth -> 302',
      'POST /oauth2/token -> 200',
      ...CONNECTED,
      'POST /mcp -> 200', // list_repositories
      'POST /mcp -> 403 error="insufficient_scope"', // write_file
      'GET /oauth2/auth scope=repo-code:r repo-code:rw -> 200',
      'POST /oauth2/auth -> 302',
      'POST /oauth2/token -> 200',
      ...CONNECTED,
      'POST /mcp -> 200', // write_file
    ])
  })
})
