/** The command-line tool of the demo, as a process: what it asks, what it prints, what it keeps and for whom. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encode } from 'uqr'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hiddenFields } from '../support.js'
import { type Demo, freshClone, startDemo } from './start.js'
import { Browser, callApi, signIn } from './walk.js'

const TOOL = fileURLToPath(new URL('../../examples/demo/login.mjs', import.meta.url))
const CREDENTIAL = /gw[a-z]_[\w-]{40}/

let folder: string
const ended: (() => void)[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'grantwell-login-'))
})

afterEach(() => {
  for (const end of ended.splice(0)) end()
  rmSync(folder, { recursive: true, force: true })
})

/** The tool as it runs, with its configuration folder here. */
function start(options: readonly string[]) {
  const env = { ...process.env, XDG_CONFIG_HOME: folder }
  const child: ChildProcess = spawn(process.execPath, [TOOL, ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  ended.push(() => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (part) => {
    stdout += part
  })
  child.stderr?.on('data', (part) => {
    stderr += part
  })
  const closed = once(child, 'close')
  return {
    child,
    /** The user code, once it is shown. */
    code: async () => {
      for (;;) {
        const code = /enter this code: +(\S+)/.exec(stdout)?.[1]
        if (code !== undefined) return code
        if (child.exitCode !== null) throw new Error(`the tool ended: ${stderr}`)
        await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), closed]) // it is piped
      }
    },
    end: async () => {
      const [code] = await closed
      return { code: code as number | null, stdout, stderr }
    },
  }
}

/** Runs it to an end that is a failure: one sentence, nothing secret, and nothing left behind. */
async function failure(options: readonly string[], running = start(options)) {
  const { code, stdout, stderr } = await running.end()
  expect(stderr).toMatch(/^[^\n]+\.\n$/)
  expect(stdout + stderr).not.toMatch(CREDENTIAL)
  return { code, stdout, stderr }
}

function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true }).map(String).sort() : []
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777
}

describe('at the demo', () => {
  let clone: ReturnType<typeof freshClone>
  let demo: Demo

  beforeAll(async () => {
    clone = freshClone()
    demo = await startDemo(clone.path)
  })

  afterAll(async () => {
    await demo?.end()
    clone?.remove()
  })

  /** The user types the code and decides, through the forms of the pages. */
  async function decide(code: string, decision: 'agree' | 'refuse'): Promise<void> {
    const browser = new Browser()
    await signIn(browser, demo)
    const page = `${demo.issuer}/oauth2/device`
    const entry = hiddenFields(await (await browser.get(page)).text())
    const consent = hiddenFields(await (await browser.post(page, { ...entry, user_code: code })).text())
    const answer = await browser.post(page, { ...consent, resource_scope: 'all', decision })
    expect(answer.status).toBe(200)
  }

  it('logs in: shows code, address and QR code, keeps the tokens for the owner alone, and calls the API', async () => {
    // A file and a folder that others could read, as from a careless hand.
    const own = join(folder, 'grantwell-demo')
    const file = join(own, 'tokens.json')
    mkdirSync(own)
    writeFileSync(file, 'older')
    chmodSync(own, 0o755)
    chmodSync(file, 0o644)

    const tool = start(['--issuer', demo.issuer])
    const userCode = await tool.code()
    expect(userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
    await decide(userCode, 'agree')
    const { code, stdout, stderr } = await tool.end()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })

    expect(stdout).toContain(`${demo.issuer}/oauth2/device\n`)
    expect(matrixIn(stdout)).toEqual(encode(`${demo.issuer}/oauth2/device?user_code=${userCode}`, { border: 2 }).data)
    expect(stdout).toContain(`The tokens are in ${file}\n`)
    expect(stdout).toContain('You are logged in as Ada Lovelace (ada).')
    expect(stdout).not.toMatch(CREDENTIAL)

    expect(filesIn(own)).toEqual(['tokens.json'])
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string> // as checked here
    expect(kept).toEqual({
      issuer: demo.issuer,
      client_id: 'demo-cli',
      token_type: 'bearer',
      access_token: expect.stringMatching(/^gwa_/),
      refresh_token: expect.stringMatching(/^gwr_/),
      scope: 'repo-code:r account-profile:r',
      expires_at: expect.any(Number),
    })
    expect(Number(kept['expires_at']) - Date.now() / 1000).toBeCloseTo(28_800, -2)
    expect((await callApi(demo.api, kept['access_token'])).status).toBe(200)
    if (process.platform === 'win32') return
    expect(modeOf(file)).toBe(0o600)
    expect(modeOf(own)).toBe(0o700)
  })

  it('asks for the scopes that it is told, and makes the folders of the file for the owner alone', async () => {
    const file = join(folder, 'new', 'deep', 'kept.json')
    const tool = start(['--issuer', demo.issuer, '--file', file, '--scope', 'repo-code:r', '--no-qr'])
    await decide(await tool.code(), 'agree')
    const { code, stdout } = await tool.end()
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/[█▀▄]/)
    expect(stdout).toContain('You are logged in; who you are was not asked for')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ scope: 'repo-code:r' })
    if (process.platform === 'win32') return
    expect([file, join(folder, 'new'), join(folder, 'new', 'deep')].map(modeOf)).toEqual([0o600, 0o700, 0o700])
  })

  it('says that the user refused, and leaves what was there', async () => {
    const file = join(folder, 'tokens.json')
    writeFileSync(file, 'older')
    const tool = start(['--issuer', demo.issuer, '--file', file])
    await decide(await tool.code(), 'refuse')
    expect(await failure([], tool)).toMatchObject({ code: 5, stderr: 'You refused, so nothing was stored.\n' })
    expect(readFileSync(file, 'utf8')).toBe('older')
    expect(filesIn(folder)).toEqual(['tokens.json'])
  })

  it.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM'] as const)(
    'ends at once with %s, and leaves nothing behind',
    async (signal) => {
      const tool = start(['--issuer', demo.issuer])
      await tool.code()
      expect(filesIn(join(folder, 'grantwell-demo'))).toHaveLength(1)
      const began = performance.now()
      tool.child.kill(signal)
      expect(await failure([], tool)).toMatchObject({ code: 130, stderr: 'Interrupted.\n' })
      expect(performance.now() - began).toBeLessThan(1000)
      expect(filesIn(join(folder, 'grantwell-demo'))).toEqual([])
    },
  )

  it('says who the service says that it is, and what it refuses', async () => {
    const other = new URL(demo.issuer)
    other.hostname = 'localhost'
    const cases = [
      ['calls itself', 4, ['--issuer', other.origin]],
      ['There is no authorization server', 4, ['--issuer', demo.app]],
      ['knows no public client nobody', 4, ['--issuer', demo.issuer, '--client-id', 'nobody']],
      ['The scope is', 2, ['--issuer', demo.issuer, '--scope', 'repo-code:rw']],
    ] as const
    for (const [part, exit, options] of cases) {
      const { code, stdout, stderr } = await failure(options)
      expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
      expect(stderr).toContain(part)
    }
    expect(filesIn(join(folder, 'grantwell-demo'))).toEqual([])
  })
})

describe('without a service', () => {
  it('lists its options for --help', async () => {
    const { code, stdout, stderr } = await start(['--help']).end()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of ['issuer', 'client-id', 'scope', 'file', 'no-qr']) expect(stdout).toContain(`--${name} `)
    expect(filesIn(folder)).toEqual([])
  })

  it.each([
    [['--isuer', 'x']],
    [['--issuer']],
    [['--issuer', 'x']],
    [['--issuer', 'http://service.example']],
    [['--issuer', 'http://127.0.0.1.service.example']],
    [['--issuer', 'ftp://127.0.0.1']],
    [['something']],
  ])('says in a sentence what is wrong with the options %j', async (options) => {
    expect(await failure(options)).toMatchObject({ code: 2, stdout: '' })
    expect(filesIn(folder)).toEqual([])
  })

  it('says that nobody answers', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo // a port, for it listens on TCP
    server.close()
    const { code, stderr } = await failure(['--issuer', `http://127.0.0.1:${port}`])
    expect(code).toBe(3)
    expect(stderr).toContain('npm start')
    expect(filesIn(join(folder, 'grantwell-demo'))).toEqual([])
  })
})

describe('at a service that answers as it is told', () => {
  type Answer = { readonly status: number; readonly body: object } | 'hang up'
  const refusal = (error: string): Answer => ({ status: 400, body: { error } })
  const TOKENS = { token_type: 'bearer', access_token: `gwa_${'a'.repeat(80)}`, refresh_token: `gwr_${'r'.repeat(80)}` }
  const tokens: Answer = { status: 200, body: TOKENS }

  /** A server of device codes: what it answers to each poll, and all that it was asked. */
  async function service(polls: Answer[], codes: object = {}) {
    const asked: { readonly path: string; readonly form: URLSearchParams; readonly at: number }[] = []
    const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    ended.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo // a port, for it listens on TCP
    const issuer = `http://127.0.0.1:${port}`
    const answers: Record<string, () => Answer> = {
      '/.well-known/oauth-authorization-server': () => ({
        status: 200,
        body: {
          issuer,
          token_endpoint: `${issuer}/token`,
          revocation_endpoint: `${issuer}/revoke`,
          device_authorization_endpoint: `${issuer}/device`,
        },
      }),
      '/device': () => ({
        status: 200,
        body: {
          device_code: `gwd_${'d'.repeat(80)}`,
          user_code: 'WDJB-MJHT',
          verification_uri: `${issuer}/go`,
          expires_in: 600,
          interval: 0.2,
          ...codes,
        },
      }),
      '/token': () => polls.shift() ?? refusal('authorization_pending'),
      '/api/user': () => ({ status: 200, body: { name: 'Ada\u001b[31m', username: 'ada' } }),
    }
    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      let text = ''
      for await (const part of request) text += part
      const path = request.url ?? ''
      asked.push({ path, form: new URLSearchParams(text), at: performance.now() })
      const reply = answers[path]?.() ?? { status: 200, body: {} }
      if (reply === 'hang up') response.destroy()
      else response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply.body))
    }
    const pauses = () => {
      const [first, ...rest] = asked.filter(({ path }) => path === '/device' || path === '/token').map(({ at }) => at)
      let before = first ?? 0
      return rest.map((at) => {
        const pause = (at - before) / 1000
        before = at
        return pause
      })
    }
    return { issuer, asked, pauses }
  }

  it('polls at the pace of the service, and slower by 5 seconds once it is told to', async () => {
    const pending = refusal('authorization_pending')
    const { issuer, asked, pauses } = await service([pending, refusal('slow_down'), tokens])
    const { code, stdout } = await start(['--issuer', issuer]).end()
    expect(code).toBe(0)
    expect(stdout).toContain('You are logged in as Ada[31m (ada).')
    const [first, second, third] = pauses()
    for (const pause of [first, second]) expect(pause).toBeGreaterThan(0.19)
    for (const pause of [first, second]) expect(pause).toBeLessThan(2)
    expect(third).toBeGreaterThan(5.19)
    const poll = asked.find(({ path }) => path === '/token')?.form
    expect(poll && Object.fromEntries(poll)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: `gwd_${'d'.repeat(80)}`,
      client_id: 'demo-cli',
    })
  })

  it('tries again, ever more slowly, where the connection fails or the service is busy', async () => {
    const busy: Answer = { status: 503, body: { error: 'temporarily_unavailable' } }
    const { issuer, pauses } = await service(['hang up', busy, 'hang up', refusal('authorization_pending'), tokens])
    expect(await start(['--issuer', issuer]).end()).toMatchObject({ code: 0, stderr: '' })
    const [, second, third, fourth, fifth] = pauses()
    expect(second).toBeGreaterThan(0.39)
    expect(third).toBeGreaterThan(0.79)
    expect(fourth).toBeGreaterThan(1.59)
    expect(fifth).toBeLessThan(1.5)
  })

  it('says that the code expired, by word of the service or by its own clock', async () => {
    const told = await service([refusal('expired_token')])
    const untold = await service([], { expires_in: 1 })
    for (const { issuer } of [told, untold]) {
      const { code, stderr } = await failure(['--issuer', issuer])
      expect(code).toBe(6)
      expect(stderr).toContain('expired')
    }
    expect(filesIn(join(folder, 'grantwell-demo'))).toEqual([])
  })

  it('says what else the service refuses, on one line', async () => {
    const body = { error: 'invalid_grant', error_description: 'No.\nMore\u001b[2J' }
    const { issuer } = await service([{ status: 400, body }])
    expect(await failure(['--issuer', issuer])).toMatchObject({ code: 4 })
    const broken = await service([{ status: 200, body: { access_token: TOKENS.access_token } }])
    expect(await failure(['--issuer', broken.issuer])).toMatchObject({ code: 4 })
  })

  it('prints nothing that a terminal would obey', async () => {
    const orders = '\u001b]0;x\u0007\u202e'
    const { issuer } = await service([refusal('access_denied')], {
      user_code: `WD${orders}JB`,
      verification_uri: `http://127.0.0.1/${orders}`,
      verification_uri_complete: 'http://127.0.0.1/',
    })
    const { code, stdout } = await start(['--issuer', issuer]).end()
    expect(code).toBe(5)
    expect(stdout).toContain('WD]0;xJB')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })

  it('refuses to write through a symbolic link, or where there is no file, before it asks anybody', async () => {
    const elsewhere = join(folder, 'elsewhere')
    writeFileSync(elsewhere, 'mine')
    symlinkSync(elsewhere, join(folder, 'link'))
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
    const { issuer, asked } = await service([tokens])
    for (const name of ['link', 'dangling', '.', join('elsewhere', 'x')]) {
      const { code, stderr } = await failure(['--issuer', issuer, '--file', join(folder, name)])
      expect(code).toBe(7)
      expect(stderr).toContain('cannot be written')
    }
    expect(asked).toEqual([])
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine')
    expect(filesIn(folder)).toEqual(['dangling', 'elsewhere', 'link'])
  })

  it('follows no link that is put there while the user decides, and revokes what it cannot keep', async () => {
    const elsewhere = join(folder, 'elsewhere')
    writeFileSync(elsewhere, 'mine')
    const file = join(folder, 'tokens.json')
    const { issuer, asked } = await service([tokens], { interval: 1 })
    const tool = start(['--issuer', issuer, '--file', file])
    await tool.code()
    symlinkSync(elsewhere, file)
    expect(await failure([], tool)).toMatchObject({ code: 7 })
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine')
    const revoked = asked.find(({ path }) => path === '/revoke')?.form
    expect(revoked?.get('token')).toBe(TOKENS.refresh_token)
    expect(filesIn(folder)).toEqual(['elsewhere', 'tokens.json'])
  })
})

/** The modules of the QR code in a text, dark ones true; each character stands for two, light is what is drawn. */
function matrixIn(text: string): boolean[][] {
  const lines = text
    .split('\n')
    .filter((line) => /[█▀▄]/.test(line))
    .map((line) => [...line.slice(2)])
  const rows = lines.flatMap((line) => [
    line.map((character) => !'█▀'.includes(character)),
    line.map((character) => !'█▄'.includes(character)),
  ])
  return rows.slice(0, rows[0]?.length) // an odd number of rows, so that the last half line is nothing
}
