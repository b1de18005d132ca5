/**
 * The login by the device flow: at a real service, whose user decides on its pages, and in time that the test makes pass.
 * @module
 * @see RFC 8628
 */
import { type Client, type ClientOptions, discover, type LoginOptions, login, type UserCode } from 'grantwell/client'
import { afterEach, describe, expect, it } from 'vitest'
import { loginWith, type Waiting } from '../../src/client/login.js'
import { NATIVE, registration, START, WEB, works } from '../support.js'
import {
  always,
  breaks,
  decide,
  type Fault,
  hangs,
  losesAnswer,
  type MadeUp,
  madeUp,
  openService,
  type Reply,
  type Service,
  thrownBy,
} from './service.js'

const TOKEN = '/oauth2/token'
const DEVICE = '/oauth2/device_authorization'

const open: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function realService(options: Parameters<typeof openService>[0] = {}): Promise<Service> {
  const service = await openService(options)
  open.push(service.close)
  return service
}

function clientOf({ issuer, test }: Service, options: Partial<ClientOptions> = {}): Promise<Client> {
  return discover({ issuer, ...NATIVE, clock: () => test.clock.now, ...options })
}

/** Time that passes where somebody sleeps, and nowhere else. */
function makeTime(onSleep: (count: number, seconds: number) => unknown = () => {}) {
  const slept: number[] = []
  let now = 50.5
  const waiting: Waiting = {
    now: () => now,
    sleep: async (seconds) => {
      slept.push(seconds)
      now += seconds
      await onSleep(slept.length, seconds)
    },
  }
  return { slept, waiting }
}

/** Logs in at a real service, whose clock passes with the sleeps; `onSleep` happens at the end of each. */
async function walk(
  service: Service,
  { client, ...options }: Partial<LoginOptions> & { readonly client?: Client } = {},
  onSleep: (count: number, code: UserCode) => unknown = () => {},
) {
  const shown: UserCode[] = []
  const show = async (code: UserCode): Promise<void> => {
    shown.push(code)
    await options.show?.(code)
  }
  const time = makeTime(async (count, seconds) => {
    service.test.clock.now += seconds
    await onSleep(count, shown[0] ?? expect.fail('nothing was shown'))
  })
  const result = loginWith(client ?? (await clientOf(service)), { ...options, show }, time.waiting)
  return { result, shown, slept: time.slept }
}

describe('at a real service', () => {
  it('shows the code once, asks at the pace of the service, and has the tokens once the user agrees', async () => {
    const service = await realService()
    const { result, shown, slept } = await walk(service, { scope: 'repo-code:r' }, async (count, { userCode }) => {
      if (count === 3) await decide(service.issuer, userCode, 'agree')
    })
    const tokens = await result
    expect(shown).toEqual([
      {
        userCode: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
        verificationUri: `${service.issuer}/oauth2/device`,
        verificationUriComplete: `${service.issuer}/oauth2/device?user_code=${shown[0]?.userCode}`,
        expiresIn: 600,
      },
    ])
    expect(slept).toEqual([5, 5, 5])
    expect(service.paths.filter((path) => path === TOKEN)).toHaveLength(3)
    expect(tokens).toEqual({
      v: 1,
      issuer: service.issuer,
      clientId: 'native',
      accessToken: expect.stringMatching(/^gwa_/),
      refreshToken: expect.stringMatching(/^gwr_/),
      issuedAt: START + 15,
      expiresAt: START + 15 + 28_800,
      scope: 'repo-code:r',
      tokenType: 'bearer',
    })
    expect(await works(service.test, tokens.accessToken)).toBe(true)
  })

  it('logs a confidential client in, for all that it may have', async () => {
    const service = await realService()
    const client = await clientOf(service, WEB)
    const agree = (_: number, { userCode }: UserCode) => decide(service.issuer, userCode, 'agree')
    const tokens = await (await walk(service, { client }, agree)).result
    expect(tokens).toMatchObject({ clientId: 'web', scope: 'repo-code:rw account-profile:r' })
    expect(await works(service.test, tokens.accessToken)).toBe(true)
  })

  it('takes no longer than the user, by the clock of the machine', async () => {
    const service = await realService({ devicePollingInterval: 1 })
    const began = performance.now()
    const tokens = await login(await clientOf(service), {
      show: ({ userCode }) => decide(service.issuer, userCode, 'agree'),
    })
    expect(performance.now() - began).toBeGreaterThan(990)
    expect(service.paths.filter((path) => path === TOKEN)).toHaveLength(1)
    expect(await works(service.test, tokens.accessToken)).toBe(true)
  })

  it('asks more slowly for good where it is told to', async () => {
    const service = await realService()
    const { result, slept } = await walk(service, {}, async (count, { userCode }) => {
      // The service thinks that the second and the third time came a second early.
      if (count === 2 || count === 3) service.test.clock.now -= 1
      if (count === 5) await decide(service.issuer, userCode, 'agree')
    })
    await result
    expect(slept).toEqual([5, 5, 10, 15, 15])
  })

  it('asks ever more slowly while no answer comes, and at its pace again after one', async () => {
    const service = await realService()
    for (const fault of [breaks, breaks, losesAnswer, breaks, breaks, breaks])
      service.faults.push({ path: TOKEN, fault })
    const { result, slept } = await walk(service, {}, async (count, { userCode }) => {
      if (count === 8) await decide(service.issuer, userCode, 'agree')
    })
    await result
    expect(slept).toEqual([5, 10, 20, 40, 60, 60, 60, 5])
  })

  it('gives each try its time, and no more', async () => {
    const service = await realService()
    service.faults.push({ path: TOKEN, fault: hangs })
    const client = await clientOf(service, { timeout: 1 })
    const { result, slept } = await walk(service, { client }, async (count, { userCode }) => {
      if (count === 2) await decide(service.issuer, userCode, 'agree')
    })
    await result
    expect(slept).toEqual([5, 10])
  })

  it('says that the user refused', async () => {
    const service = await realService()
    const refuse = (_: number, { userCode }: UserCode) => decide(service.issuer, userCode, 'refuse')
    const { result } = await walk(service, {}, refuse)
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_ACCESS_DENIED', error: 'access_denied' })
  })

  it('says that the code expired, by word of the service', async () => {
    const service = await realService()
    const { result, slept } = await walk(service, {}, () => {
      service.test.clock.now += 600
    })
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_LOGIN_EXPIRED', error: 'expired_token' })
    expect(slept).toEqual([5])
  })

  it('says that the code expired, by its own clock, and asks no more from then on', async () => {
    const service = await realService({ deviceCodeLifetime: 12 })
    const { result, slept } = await walk(service, {}, () => {
      service.test.clock.now = START
    })
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_LOGIN_EXPIRED', error: undefined, cause: undefined })
    expect(slept.reduce((sum, seconds) => sum + seconds, 0)).toBe(12)
    expect(service.paths.filter((path) => path === TOKEN)).toHaveLength(slept.length - 1)
  })

  it('says so as well where nobody answers any more, and that', async () => {
    const service = await realService({ deviceCodeLifetime: 100 })
    always(service, TOKEN, breaks)
    const { result, slept } = await walk(service)
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_LOGIN_EXPIRED', cause: { code: 'ERR_UNREACHABLE' } })
    expect(slept).toEqual([5, 10, 20, 40, 25])
  })

  it('says what the service refuses: the client, the flow, the scope', async () => {
    const service = await realService()
    await service.test.server.applications.register(registration({ deviceFlow: false }), { ...WEB, clientId: 'plain' })
    const cases = [
      [{ clientId: 'nobody' }, {}, 'invalid_client'],
      [{ ...WEB, clientSecret: 'wrong' }, {}, 'invalid_client'],
      [{ ...WEB, clientId: 'plain' }, {}, 'unauthorized_client'],
      [NATIVE, { scope: 'repo-delete:rw' }, 'invalid_scope'],
    ] as const
    for (const [who, what, error] of cases) {
      const { result, shown } = await walk(service, { client: await clientOf(service, who), ...what })
      expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE', error })
      expect(shown).toEqual([])
    }
  })

  it('says that tokens whose answer was lost are gone', async () => {
    const service = await realService()
    service.faults.push({ path: TOKEN, fault: losesAnswer })
    const { result } = await walk(service, {}, async (count, { userCode }) => {
      if (count === 1) await decide(service.issuer, userCode, 'agree')
    })
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE', error: 'invalid_grant' })
  })

  it('says that nobody answers at the beginning', async () => {
    const service = await realService()
    service.faults.push({ path: DEVICE, fault: breaks })
    const { result, shown } = await walk(service)
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_UNREACHABLE' })
    expect(shown).toEqual([])
  })

  it('asks nothing before it was shown', async () => {
    const service = await realService()
    let done = (): void => {}
    const show = () =>
      new Promise<void>((resolve) => {
        done = resolve
      })
    const { result, shown, slept } = await walk(service, { show }, (_, { userCode }) =>
      decide(service.issuer, userCode, 'agree'),
    )
    while (shown.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([slept, service.paths.at(-1)]).toEqual([[], DEVICE])
    done()
    await result
    expect(shown).toHaveLength(1)
  })

  it('ends with what the showing throws', async () => {
    const service = await realService()
    const reason = new Error('no terminal')
    for (const show of [
      () => Promise.reject(reason),
      () => {
        throw reason
      },
    ]) {
      const { result } = await walk(service, { show })
      expect(await thrownBy(result)).toBe(reason)
    }
    expect(service.paths).not.toContain(TOKEN)
  })
})

describe('a signal ends it at once, with its reason', () => {
  const reason = new Error('enough')

  it.each(['before it begins', 'while it is shown', 'while it waits', 'while it asks'])('%s', async (when) => {
    const service = await realService({ devicePollingInterval: when === 'while it asks' ? 1 : 500 })
    const controller = new AbortController()
    const soon = () => setTimeout(() => controller.abort(reason), 10)
    if (when === 'before it begins') controller.abort(reason)
    const fault: Fault = (...args) => {
      soon()
      return hangs(...args)
    }
    service.faults.push({ path: TOKEN, fault })
    const client = await clientOf(service, { timeout: 1000 })
    const show = async (): Promise<void> => {
      if (when !== 'while it asks') soon()
      if (when === 'while it is shown') await new Promise(() => {})
    }
    expect(await thrownBy(login(client, { show, signal: controller.signal }))).toBe(reason)
    expect(service.paths.filter((path) => path === TOKEN)).toHaveLength(when === 'while it asks' ? 1 : 0)
    expect(service.paths.includes(DEVICE)).toBe(when !== 'before it begins')
  })

  it('and leaves nothing behind that listens to the signal', async () => {
    const service = await realService()
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners--
      removeEventListener.apply(signal, args)
    }
    const agree = (_: number, { userCode }: UserCode) => decide(service.issuer, userCode, 'agree')
    const { result } = await walk(service, { signal }, agree)
    await result
    expect(listeners).toBe(0)
  })
})

describe('at a service that answers as it is told', () => {
  const CODES = { device_code: 'd', user_code: 'WDJB-MJHT', expires_in: 600, interval: 5 }
  const TOKENS = { access_token: 'an-access-token', token_type: 'Bearer' }
  const pending: Reply = { status: 400, body: { error: 'authorization_pending' } }

  /** A service with these codes, and these answers to the polls. */
  async function service(polls: Reply[], codes: object = {}, metadata: object = {}): Promise<MadeUp> {
    const made = await madeUp({ '/token': [...polls, { body: TOKENS }] }, metadata)
    open.push(made.close)
    const body = { verification_uri: `${made.issuer}/go`, ...CODES, ...codes }
    made.replies['/device'] = [{ body }]
    return made
  }

  async function logIn({ issuer }: MadeUp, options: Partial<LoginOptions> = {}) {
    const shown: UserCode[] = []
    const time = makeTime()
    const client = await discover({ issuer, clientId: 'tool', clock: () => START })
    const show = (code: UserCode): void => void shown.push(code)
    const result = loginWith(client, { show, ...options }, time.waiting)
    return { result, shown, slept: time.slept }
  }

  it('sends what the flow needs, and takes the requested scope where none is named', async () => {
    const made = await service([pending])
    const { result, shown } = await logIn(made, { scope: 'a b' })
    expect(await result).toEqual({
      v: 1,
      issuer: made.issuer,
      clientId: 'tool',
      accessToken: 'an-access-token',
      issuedAt: START,
      scope: 'a b',
      tokenType: 'bearer',
    })
    expect(shown).toEqual([{ userCode: 'WDJB-MJHT', verificationUri: `${made.issuer}/go`, expiresIn: 600 }])
    const forms = made.asked.map(({ path, form }) => [path, form]).slice(1)
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
    const poll = ['/token', { grant_type, device_code: 'd', client_id: 'tool' }]
    expect(forms).toEqual([['/device', { client_id: 'tool', scope: 'a b' }], poll, poll])
  })

  it('asks every 5 seconds where the service does not say', async () => {
    const { result, slept } = await logIn(await service([pending], { interval: undefined }))
    expect(await result).not.toHaveProperty('scope')
    expect(slept).toEqual([5, 5])
  })

  it('waits as long as a busy service says, and never less than its pace', async () => {
    const busy = (after: string): Reply => ({
      status: 503,
      headers: { 'Retry-After': after },
      body: { error: 'temporarily_unavailable' },
    })
    const date = new Date((START + 90) * 1000).toUTCString()
    const { result, slept } = await logIn(await service([busy('30'), busy(date), busy('1'), { status: 429 }, pending]))
    await result
    expect(slept).toEqual([5, 30, 90, 5, 10, 5])
  })

  it('takes slow_down for what it is, whatever its status', async () => {
    const slower = (status: number): Reply => ({ status, body: { error: 'slow_down' } })
    const { result, slept } = await logIn(await service([slower(429), slower(403), pending]))
    await result
    expect(slept).toEqual([5, 10, 15, 15])
  })

  it('does not hammer where the service gives times that no timer can wait', async () => {
    const { result, slept } = await logIn(await service([pending], { interval: 3e7, expires_in: 31_536_000 }))
    await result
    expect(slept).toEqual([2_147_483.647, 2_147_483.647])
  })

  it.each<[string, object]>([
    ['expires_in', { expires_in: 0 }],
    ['expires_in', { expires_in: 0.09 }],
    ['expires_in', { expires_in: 31_536_001 }],
    ['expires_in', { expires_in: 1e300 }],
    ['interval', { interval: 1e-9 }],
    ['interval', { interval: 0.099 }],
    ['interval', { interval: 31_536_001 }],
    ['interval', { interval: Number.MAX_VALUE }],
  ])('refuses a time that is none, and asks for no tokens: %s of %j', async (name, codes) => {
    const made = await service([], codes)
    const { result, shown, slept } = await logIn(made)
    const error = await thrownBy(result)
    expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(String(error)).toContain(` as ${name}: seconds from 0.1 to 31536000 are expected`)
    expect([shown, slept, made.asked.map(({ path }) => path).includes('/token')]).toEqual([[], [], false])
  })

  it.each([
    { verification_uri: 'file:///etc/passwd' },
    { verification_uri: 'http://git.example/go' },
    { verification_uri: 'go' },
    { verification_uri_complete: 'javascript:alert(1)' },
    // What a terminal would obey, or show otherwise than it is: URL parsers take it away, or escape it.
    { verification_uri: 'https://git.example/\u001b[2J' },
    { verification_uri: 'https://git.example/\nhttps://evil.example/' },
    { verification_uri: 'https://git.example/\u202eelpmaxe' },
    { verification_uri: ' https://git.example/' },
    { verification_uri_complete: 'https://git.example/?user_code=\u009b2J' },
    { verification_uri: 'https://git.example@evil.example/' },
    { verification_uri_complete: 'https://git.example:443@evil.example/' },
  ])('sends the user nowhere but to an address that is safe: %j', async (codes) => {
    const { result, shown } = await logIn(await service([], codes))
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(shown).toEqual([])
  })

  it('sends the user to no address of more than 2048 characters', async () => {
    const address = (length: number): string => 'https://git.example/'.padEnd(length, 'a')
    const { result } = await logIn(await service([], { verification_uri: address(2049) }))
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE' })
    const taken = await logIn(await service([], { verification_uri: address(2048) }))
    expect(await taken.result).toMatchObject({ accessToken: 'an-access-token' })
  })

  it.each<[string, object]>([
    ['no device code', { device_code: undefined }],
    ['a device code of two lines', { device_code: 'd\nd' }],
    ['no user code', { user_code: '' }],
    ['no time', { expires_in: undefined }],
    ['a pace of nothing', { interval: 0 }],
  ])('has no use for an answer with %s', async (_, codes) => {
    const { result } = await logIn(await service([], codes))
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_RESPONSE' })
  })

  it.each([
    'WD\u001b]0;x\u0007JB',
    'WD\nJB',
    'WD\u009b2JJB',
    'WD\u202eBJ',
    'WD\u200bJB',
    'WD\u2028JB',
    'WD\u00a0JB',
    'WD\ud800',
    'W'.repeat(65),
  ])('shows no code that a terminal would obey, that is not what it seems, or that nobody types: %j', async (code) => {
    const { result, shown } = await logIn(await service([], { user_code: code }))
    expect(await thrownBy(result)).toMatchObject({
      code: 'ERR_RESPONSE',
      message: expect.stringContaining('the service gave a code that cannot be shown'),
    })
    expect(shown).toEqual([])
  })

  it.each(['WDJB MJHT', 'дом-7', '😀'.repeat(64), 'W'.repeat(64)])('gives a code as it came: %s', async (code) => {
    const { result, shown } = await logIn(await service([], { user_code: code }))
    await result
    expect(shown[0]?.userCode).toBe(code)
  })

  it.each<[string, Reply, string]>([
    ['another refusal', { status: 400, body: { error: 'invalid_client' } }, 'ERR_RESPONSE'],
    ['a page', { body: '<h1>Hello</h1>' }, 'ERR_RESPONSE'],
    ['tokens of another type', { body: { ...TOKENS, token_type: 'pop' } }, 'ERR_TOKEN_TYPE'],
  ])('ends with %s', async (_, reply, code) => {
    const { result, slept } = await logIn(await service([reply]))
    expect(await thrownBy(result)).toMatchObject({ code })
    expect(slept).toEqual([5])
  })

  it('says that the service does not offer the flow', async () => {
    const { result } = await logIn(await service([], {}, { device_authorization_endpoint: undefined }))
    const error = await thrownBy(result)
    expect(error).toMatchObject({ code: 'ERR_RESPONSE' })
    expect(String(error)).toContain('device_authorization_endpoint')
  })

  it.each([
    [{ show: undefined }],
    [{ show: 'WDJB' }],
    [{ scope: '' }],
    [{ scope: 'a  b' }],
    [{ scope: ['a'] }],
    [{ scope: 'a\nb' }],
    [{ signal: {} }],
    [{ timeout: 3 }],
  ])('asks nothing where the options are wrong: %j', async (options) => {
    const made = await service([])
    const { result } = await logIn(made, options as Partial<LoginOptions>) // that it is none is the test
    expect(await thrownBy(result)).toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(made.asked).toHaveLength(1)
  })

  it('asks nothing for a client that nobody discovered', async () => {
    const { issuer } = await service([])
    const client: Client = { issuer, clientId: 'tool', metadata: { issuer } }
    await expect(login(client, { show: () => {} })).rejects.toMatchObject({ code: 'ERR_CONFIGURATION' })
  })
})
