/** The command-line tool of the demo where somebody has logged in before: who stays, who is asked again, who leaves. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, deviceService, type Reply, refusal, TOKENS, tokens } from './device-service.js'
import { type Demo, startDemo } from './start.js'
import { bench, decide, filesIn, modeOf, ownersMode, tokensIn } from './tool.js'
import { callApi } from './walk.js'

const { clone, folder, file, start, failure, afterwards } = bench()

/** Writes the file as the tool would have. */
function keep(kept: object): void {
  mkdirSync(dirname(file()), { recursive: true })
  writeFileSync(file(), JSON.stringify(kept), { mode: 0o600 })
}

describe('at the demo', () => {
  let demo: Demo

  beforeAll(async () => {
    demo = await startDemo(clone())
  })

  afterAll(() => demo?.end())

  /** Somebody logged in before. As the tool does it, and without the pause before the first poll. */
  async function loggedIn(): Promise<ReturnType<typeof tokensIn>> {
    const client_id = 'demo-cli'
    const codes = await post('device_authorization', { client_id })
    await decide(demo, codes['user_code'] ?? '', 'agree')
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const answer = await post('token', { client_id, grant_type, device_code: codes['device_code'] ?? '' })
    const { access_token: accessToken, refresh_token: refreshToken, scope } = answer
    const issuedAt = Math.floor(Date.now() / 1000)
    const of = { v: 1, issuer: demo.issuer, clientId: client_id }
    const kept = {
      ...of,
      tokenType: 'bearer',
      accessToken,
      refreshToken,
      scope,
      issuedAt,
      expiresAt: issuedAt + 28_800,
    }
    keep(kept)
    return tokensIn(file())
  }

  async function post(endpoint: string, form: Record<string, string>): Promise<Record<string, string>> {
    const response = await fetch(`${demo.issuer}/oauth2/${endpoint}`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    expect(response.status).toBe(200)
    return (await response.json()) as Record<string, string> // what is read of it is text
  }

  /** Runs the tool, which asks; the user agrees. What was kept afterwards. */
  async function logIn(options: readonly string[] = []): Promise<ReturnType<typeof tokensIn>> {
    const tool = start(['--issuer', demo.issuer, '--no-qr', ...options])
    await decide(demo, await tool.code(), 'agree')
    expect(await tool.end()).toMatchObject({ code: 0, stderr: '' })
    return tokensIn(file())
  }

  const run = (...options: string[]) => start(['--issuer', demo.issuer, ...options]).end()
  const statusOf = async ({ accessToken }: ReturnType<typeof tokensIn>) =>
    (await callApi(demo.api, String(accessToken))).status

  it('says who is logged in and for what, and asks nobody', async () => {
    await loggedIn()
    const before = readFileSync(file(), 'utf8')
    const { code, stdout, stderr } = await run('--scope', 'repo-code:r')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`
  You are logged in as Ada Lovelace (ada), for repo-code:r account-profile:r.
  The tokens are in ${file()}
  --logout logs out, --again logs in anew.

`)
    expect(readFileSync(file(), 'utf8')).toBe(before)
  })

  it('refreshes tokens that have expired', async () => {
    const before = await loggedIn()
    keep({ ...before, issuedAt: Number(before['issuedAt']) - 30_000, expiresAt: Number(before['expiresAt']) - 30_000 })
    const { code, stdout, stderr } = await run()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('as Ada Lovelace')
    const after = tokensIn(file())
    expect(after['accessToken']).not.toBe(before['accessToken'])
    expect(await statusOf(after)).toBe(200)
    expect(modeOf(file())).toEqual(ownersMode(0o600))
  })

  it('logs in again where what was permitted has ended at the service', async () => {
    const before = await loggedIn()
    const form = new URLSearchParams({ client_id: 'demo-cli', token: String(before['refreshToken']) })
    expect((await fetch(`${demo.issuer}/oauth2/revoke`, { method: 'POST', body: form })).status).toBe(200)
    const after = await logIn()
    expect(after['accessToken']).not.toBe(before['accessToken'])
    expect(await statusOf(after)).toBe(200)
  })

  it('logs in anew with --again, and the login before ends', async () => {
    const before = await loggedIn()
    const after = await logIn(['--again', '--scope', 'repo-code:r'])
    expect(after).toMatchObject({ scope: 'repo-code:r' })
    expect(await Promise.all([before, after].map(statusOf))).toEqual([401, 200])
  })

  it('leaves what was there where the user refuses', async () => {
    const before = await loggedIn()
    const tool = start(['--issuer', demo.issuer, '--again'])
    await decide(demo, await tool.code(), 'refuse')
    expect(await failure([], tool)).toMatchObject({ code: 5, stderr: 'You refused, so nothing was stored.\n' })
    expect(tokensIn(file())).toEqual(before)
    expect(await statusOf(before)).toBe(200)
  })

  it('logs out with --logout, also where nobody is logged in', async () => {
    const before = await loggedIn()
    for (const _ of ['at once', 'once more']) {
      const stdout = `\n  You are not logged in at ${demo.issuer} any more.\n\n`
      expect(await run('--logout')).toEqual({ code: 0, stdout, stderr: '' })
      expect(filesIn(dirname(file()))).toEqual([])
      expect(await statusOf(before)).toBe(401)
    }
  })
})

describe('at a service that answers as it is told', () => {
  const OLD = { accessToken: `gwa_${'o'.repeat(80)}`, refreshToken: `gwr_${'p'.repeat(80)}` }

  /** Starts it, with somebody logged in there. */
  async function service(
    polls: Answer[],
    others: Record<string, Reply> = {},
    kept: object = {},
  ): ReturnType<typeof deviceService> {
    const running = await deviceService(polls, {}, others)
    afterwards(running.end)
    keep({ v: 1, issuer: running.issuer, clientId: 'demo-cli', issuedAt: 0, tokenType: 'bearer', ...OLD, ...kept })
    return running
  }

  it.each([
    ['service', { issuer: 'https://other.example' }],
    ['client', { clientId: 'other' }],
  ])('does not use the tokens of another %s, and logs in', async (_, kept) => {
    const { issuer, asked } = await service([tokens], {}, kept)
    expect(await start(['--issuer', issuer]).end()).toMatchObject({ code: 0, stderr: '' })
    expect(tokensIn(file())).toMatchObject({ issuer, clientId: 'demo-cli', accessToken: TOKENS.access_token })
    const sent = JSON.stringify(asked.map(({ form, authorization }) => [String(form), authorization]))
    for (const token of Object.values(OLD)) expect(sent).not.toContain(token)
  })

  it('does not log out of another service', async () => {
    const { issuer, asked } = await service([], {}, { issuer: 'https://other.example' })
    expect(await start(['--issuer', issuer, '--logout']).end()).toMatchObject({ code: 0 })
    expect(asked.map(({ path }) => path)).toEqual(['/.well-known/oauth-authorization-server'])
    expect(tokensIn(file())).toMatchObject(OLD)
  })

  it('logs in with --again also where the service cannot end the login before', async () => {
    const { issuer, asked } = await service([tokens], { '/revoke': 'hang up' })
    expect(await start(['--issuer', issuer, '--again']).end()).toMatchObject({ code: 0, stderr: '' })
    expect(asked.find(({ path }) => path === '/revoke')?.form.get('token')).toBe(OLD.refreshToken)
    expect(tokensIn(file())).toMatchObject({ accessToken: TOKENS.access_token })
  })

  it.each([
    [3, 'hang up' as const],
    [4, refusal('unsupported_token_type')],
  ])('says with exit code %i that it forgot tokens which the service did not end', async (code, answer) => {
    const { issuer } = await service([], { '/revoke': answer })
    const stderr = 'The tokens are removed, but the service did not end them: they work until they expire.\n'
    expect(await failure(['--issuer', issuer, '--logout'])).toMatchObject({ code, stderr, stdout: '' })
    expect(filesIn(dirname(file()))).toEqual([])
  })

  it('says that nobody answers where the tokens cannot be refreshed, and keeps them', async () => {
    const { issuer, asked } = await service([], { refresh: { status: 503, body: {} } }, { expiresAt: 1 })
    const { code, stderr } = await failure(['--issuer', issuer])
    expect(code).toBe(3)
    expect(stderr).toContain('Nobody answers')
    expect(asked.some(({ path }) => path === '/api/user' || path === '/device')).toBe(false)
    expect(tokensIn(file())).toMatchObject(OLD)
  })

  it('says that it could not keep what was refreshed, and goes on with it', async () => {
    const refresh = (): Answer => {
      writeFileSync(file(), 'mine')
      return tokens
    }
    const { issuer, asked } = await service([], { refresh }, { expiresAt: 1 })
    const { code, stdout, stderr } = await start(['--issuer', issuer]).end()
    expect(code).toBe(0)
    expect(stdout).toContain('You are logged in')
    expect(stderr).toMatch(/^The file [^\n]+ cannot be written: [^\n]+\.\n$/)
    expect(readFileSync(file(), 'utf8')).toBe('mine')
    expect(asked.find(({ path }) => path === '/api/user')?.authorization).toBe(`Bearer ${TOKENS.access_token}`)
  })

  it('removes no file that it cannot read', async () => {
    const { issuer, asked } = await service([])
    writeFileSync(file(), 'mine', { mode: 0o600 })
    const { code, stderr } = await failure(['--issuer', issuer, '--logout'])
    expect(code).toBe(7)
    expect(stderr).toContain('it contains something other than tokens')
    expect(readFileSync(file(), 'utf8')).toBe('mine')
    expect(asked.some(({ path }) => path === '/revoke')).toBe(false)
    expect(filesIn(folder())).toHaveLength(2)
  })
})
