/** The command-line tool of the demo, as a process: what it asks, what it prints, what it keeps and for whom. */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encode } from 'uqr'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../engines/process.js'
import { type Answer, deviceService, refusal, TOKENS, tokens } from './device-service.js'
import { type Demo, freshClone, startDemo } from './start.js'
import { bench, CREDENTIAL, decide, filesIn, modeOf, ownersMode, startTool, tokensIn } from './tool.js'
import { callApi } from './walk.js'

const { clone, folder, file, first, start, failure, afterwards } = bench()

describe('at the demo', () => {
  let demo: Demo

  beforeAll(async () => {
    demo = await startDemo(clone())
  })

  afterAll(() => demo?.end())

  it('logs in: shows code, address and QR code, keeps the tokens for the owner alone, and calls the API', async () => {
    const tool = start(['--issuer', demo.issuer])
    const userCode = await tool.code()
    expect(userCode).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
    await decide(demo, userCode, 'agree')
    const { code, stdout, stderr } = await tool.end()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })

    expect(stdout).toContain(`${demo.issuer}/oauth2/device\n`)
    expect(matrixIn(stdout)).toEqual(encode(`${demo.issuer}/oauth2/device?user_code=${userCode}`, { border: 2 }).data)
    expect(stdout).toContain('You are logged in as Ada Lovelace (ada), for repo-code:r account-profile:r.\n')
    expect(stdout).toContain(`The tokens are in ${file()}\n`)
    expect(stdout).not.toMatch(CREDENTIAL)

    expect(filesIn(folder())).toEqual(['grantwell-demo', 'grantwell-demo/tokens.json'].map((path) => join(path)))
    const kept = tokensIn(file())
    expect(kept).toEqual({
      v: 1,
      issuer: demo.issuer,
      clientId: 'demo-cli',
      tokenType: 'bearer',
      accessToken: expect.stringMatching(/^gwa_/),
      refreshToken: expect.stringMatching(/^gwr_/),
      scope: 'repo-code:r account-profile:r',
      issuedAt: expect.any(Number),
      expiresAt: expect.any(Number),
    })
    expect(Number(kept['expiresAt']) - Date.now() / 1000).toBeCloseTo(28_800, -2)
    expect((await callApi(demo.api, String(kept['accessToken']))).status).toBe(200)
    expect(modeOf(file())).toEqual(ownersMode(0o600))
    expect(modeOf(join(folder(), 'grantwell-demo'))).toEqual(ownersMode(0o700))
  })

  it('asks for the scopes that it is told, and makes the folders of the file for the owner alone', async () => {
    const other = join(folder(), 'new', 'deep', 'kept.json')
    const tool = start(['--issuer', demo.issuer, '--file', other, '--scope', 'repo-code:r', '--no-qr'])
    await decide(demo, await tool.code(), 'agree')
    const { code, stdout } = await tool.end()
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/[█▀▄]/)
    expect(stdout).toContain('You are logged in (as whom was not asked for: account-profile:r), for repo-code:r.\n')
    expect(tokensIn(other)).toMatchObject({ scope: 'repo-code:r' })
    const made = [other, join(folder(), 'new'), join(folder(), 'new', 'deep')]
    expect(made.map(modeOf)).toEqual([0o600, 0o700, 0o700].map(ownersMode))
  })

  it('says that the user refused', async () => {
    const tool = start(['--issuer', demo.issuer])
    await decide(demo, await tool.code(), 'refuse')
    expect(await failure([], tool)).toMatchObject({ code: 5, stderr: 'You refused, so nothing was stored.\n' })
    expect(filesIn(join(folder(), 'grantwell-demo'))).toEqual([])
  })

  it.skipIf(process.platform === 'win32').each(['SIGINT', 'SIGTERM'] as const)(
    'ends at once with %s, and leaves nothing behind',
    async (signal) => {
      const tool = start(['--issuer', demo.issuer])
      await tool.code()
      const began = performance.now()
      tool.child.kill(signal)
      expect(await failure([], tool)).toMatchObject({ code: 130, stderr: 'Interrupted.\n' })
      // At once is within 100 ms; the rest is for a machine with other things to do. The next poll would be after 5 s.
      expect(performance.now() - began).toBeLessThan(4_500)
      expect(filesIn(join(folder(), 'grantwell-demo'))).toEqual([])
    },
  )

  it('says who the service says that it is, and what it refuses', async () => {
    const other = new URL(demo.issuer)
    other.hostname = 'localhost'
    const cases = [
      [`calls itself ${demo.issuer}`, 4, ['--issuer', other.origin]],
      ['There is no authorization server', 4, ['--issuer', demo.app]],
      ['does not know this client', 4, ['--issuer', demo.issuer, '--client-id', 'nobody']],
      ['The scope repo-code:rw is not registered', 2, ['--issuer', demo.issuer, '--scope', 'repo-code:rw']],
    ] as const
    for (const [part, exit, options] of cases) {
      const { code, stdout, stderr } = await failure(options)
      expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
      expect(stderr).toContain(part)
    }
    expect(filesIn(join(folder(), 'grantwell-demo'))).toEqual([])
  })

  it('builds what a build before it did not have, and leaves a demo alone that runs', async () => {
    for (const name of ['client', 'client.js']) rmSync(join(clone(), 'dist', name), { recursive: true })
    const tool = start(['--issuer', demo.issuer])
    await decide(demo, await tool.code(), 'agree')
    const { code, stderr } = await tool.end()
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Building grantwell[^\n]+\n$/)
  })
})

describe('without a service', () => {
  it('builds the package where nobody has, and says that nobody answers', () => {
    const { code, stdout, stderr } = first()
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(/^Building grantwell[^\n]+\nNobody answers at [^\n]+ npm start\.\n$/)
  })

  it('says that nobody answers, and leaves nothing behind', async () => {
    const { code, stderr } = await failure(['--issuer', `http://127.0.0.1:${await freePort()}`])
    expect(code).toBe(3)
    expect(stderr).toContain('npm start')
    expect(filesIn(folder())).toEqual([])
  })

  it('lists its options for --help, and builds nothing for that', async () => {
    const { path, remove } = freshClone()
    afterwards(remove)
    const { code, stdout, stderr } = await startTool(path, ['--help'], folder()).end()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of ['again', 'logout', 'issuer', 'client-id', 'scope', 'file', 'no-qr'])
      expect(stdout).toContain(`--${name} `)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(120)
    expect(filesIn(folder())).toEqual([])
    expect(existsSync(join(path, 'dist'))).toBe(false)
  })

  it('says in a sentence that nothing is installed', async () => {
    const { path, remove } = freshClone()
    afterwards(remove)
    rmSync(join(path, 'node_modules'))
    const { code, stderr } = await startTool(path, [], folder()).end()
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Building grantwell[^\n]+\n[^\n]+ run npm install first\.\n$/)
  })

  it.each([
    [['--isuer', 'x']],
    [['--issuer']],
    [['--issuer', 'x']],
    [['--issuer', 'http://service.example']],
    [['--issuer', 'http://127.0.0.1.service.example']],
    [['--issuer', 'ftp://127.0.0.1']],
    [['--client-id', '']],
    [['--file', '']],
    [['--again', '--logout']],
    [['something']],
  ])('says in a sentence what is wrong with the options %j', async (options) => {
    expect(await failure(options)).toMatchObject({ code: 2, stdout: '' })
    expect(filesIn(folder())).toEqual([])
  })
})

describe('at a service that answers as it is told', () => {
  async function service(...how: Parameters<typeof deviceService>) {
    const running = await deviceService(...how)
    afterwards(running.end)
    return running
  }

  it('polls at the pace of the service, and slower by 5 seconds once it is told to', async () => {
    const pending = refusal('authorization_pending')
    const { issuer, asked, pauses } = await service([pending, refusal('slow_down'), tokens])
    const { code, stdout } = await start(['--issuer', issuer]).end()
    expect(code).toBe(0)
    expect(stdout).toContain('You are logged in as Ada[31m (ada).')
    const [one, two, three] = pauses()
    for (const pause of [one, two]) expect(pause).toBeGreaterThan(0.19)
    // Before the five seconds of who was told to go slower.
    for (const pause of [one, two]) expect(pause).toBeLessThan(5)
    expect(three).toBeGreaterThan(5.19)
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
    expect(filesIn(join(folder(), 'grantwell-demo'))).toEqual([])
  })

  it('says what else the service refuses, on one line', async () => {
    const body = { error: 'invalid_grant', error_description: 'No.\nMore\u001b[2J' }
    const { issuer } = await service([{ status: 400, body }])
    expect(await failure(['--issuer', issuer])).toMatchObject({ code: 4 })
    const broken = await service([{ status: 200, body: { access_token: TOKENS.access_token } }])
    expect(await failure(['--issuer', broken.issuer])).toMatchObject({ code: 4 })
  })

  it.each(['user_code', 'verification_uri', 'verification_uri_complete', 'error_description'])(
    'prints nothing that a terminal would obey: %s',
    async (field) => {
      const orders = '\u001b]0;x\u0007\u202e'
      const uri = 'http://127.0.0.1/'
      const codes = { user_code: 'WDJB', verification_uri: uri, verification_uri_complete: uri }
      const description = field === 'error_description' ? { [field]: orders } : {}
      const told: Answer = { status: 400, body: { error: 'access_denied', ...description } }
      const { issuer } = await service([told], { ...codes, ...(field in codes && { [field]: `${uri}WD${orders}JB` }) })
      const { code, stdout, stderr } = await start(['--issuer', issuer]).end()
      expect(code).toBeGreaterThan(1)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    },
  )

  it('keeps the tokens where the API fails, and says where', async () => {
    const { issuer } = await service([tokens], {}, { '/api/user': { status: 500, body: {} } })
    const { code, stderr } = await failure(['--issuer', issuer])
    expect(code).toBe(1)
    expect(stderr).toBe(`The API of the demo did not take the tokens in ${file()}: it answers 500.\n`)
    expect(tokensIn(file())).toMatchObject({ accessToken: TOKENS.access_token })
  })

  it('does not log in again and again where what is new does not work either', async () => {
    const { issuer, asked } = await service([tokens, tokens], {}, { '/api/user': { status: 401, body: {} } })
    expect(await failure(['--issuer', issuer])).toMatchObject({ code: 1 })
    expect(asked.filter(({ path }) => path === '/device')).toHaveLength(1)
  })

  it('refuses to write through a symbolic link, or where there is no file, before it asks anybody', async () => {
    const elsewhere = join(folder(), 'elsewhere')
    writeFileSync(elsewhere, 'mine')
    symlinkSync(elsewhere, join(folder(), 'link'))
    symlinkSync(join(folder(), 'nowhere'), join(folder(), 'dangling'))
    const { issuer, asked } = await service([tokens])
    for (const name of ['link', 'dangling', '.', join('elsewhere', 'x')]) {
      const { code, stderr } = await failure(['--issuer', issuer, '--file', join(folder(), name)])
      expect(code).toBe(7)
      expect(stderr).toContain('cannot be used')
    }
    expect(new Set(asked.map(({ path }) => path))).toEqual(new Set(['/.well-known/oauth-authorization-server']))
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine')
    expect(filesIn(folder())).toEqual(['dangling', 'elsewhere', 'link'])
  })

  it('leaves alone what holds something else, or others can read', async () => {
    const other = join(folder(), 'other')
    const open = join(folder(), 'open')
    writeFileSync(other, '{"access_token":"of an earlier version"}', { mode: 0o600 })
    writeFileSync(open, 'mine', { mode: 0o644 })
    const { issuer, asked } = await service([tokens])
    const cases = [
      [other, 'it contains something other than tokens'],
      ...(process.platform === 'win32' ? [] : [[open, 'other users can use it'] as const]),
    ] as const
    for (const [path, reason] of cases) {
      const { code, stderr } = await failure(['--issuer', issuer, '--file', path, '--again'])
      expect(code).toBe(7)
      expect(stderr).toContain(reason)
    }
    expect(asked.some(({ path }) => path === '/device')).toBe(false)
    expect(readFileSync(other, 'utf8')).toContain('of an earlier version')
    expect(filesIn(folder())).toEqual(['open', 'other'])
  })

  // A folder where nobody can make anything, whoever they are.
  it.runIf(process.platform === 'linux')('tries whether it can write before it asks anybody', async () => {
    const { issuer, asked } = await service([tokens])
    const { code } = await failure(['--issuer', issuer, '--file', '/proc/grantwell/tokens.json'])
    expect(code).toBe(7)
    expect(asked.some(({ path }) => path === '/device')).toBe(false)
  })

  it('follows no link that is put there while the user decides, and revokes what it cannot keep', async () => {
    const elsewhere = join(folder(), 'elsewhere')
    writeFileSync(elsewhere, 'mine')
    const other = join(folder(), 'tokens.json')
    const { issuer, asked } = await service([tokens], { interval: 1 })
    const tool = start(['--issuer', issuer, '--file', other])
    await tool.code()
    symlinkSync(elsewhere, other)
    expect(await failure([], tool)).toMatchObject({ code: 7 })
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine')
    const revoked = asked.find(({ path }) => path === '/revoke')?.form
    expect(revoked?.get('token')).toBe(TOKENS.refresh_token)
    expect(filesIn(folder())).toEqual(['elsewhere', 'tokens.json'])
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
