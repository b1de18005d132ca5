/**
 * Faults of registrations and of redirect URIs: each code can be reached, says the same as its sentence, and has a text in every
 * language.
 * @module
 */
import type { AuthorizationServer, RegistrationFault } from 'grantwell'
import { GrantwellError } from 'grantwell'
import type { RedirectFault, RedirectFaultCode, RegistrationFaultCode } from 'grantwell/core'
import type { ShownFaultCode } from 'grantwell/pages'
import { faultText, loadTexts, pageLanguages } from 'grantwell/pages'
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { en } from '../../src/pages/texts/en.js'
import { png } from '../core/images.js'
import { pseudoTexts } from '../pages/pseudo.js'
import { registration, testServer } from '../support.js'

/** The codes that the page of a link alone tells, to the applicant: `link-detail.test.ts` reaches them. */
const OF_LINKS = [
  'redirect_uri_not_sent',
  'client_suspended',
  'parameter_length',
  'parameter_malformed',
  'parameter_repeated',
]

/** Registers with changes of any type. */
const register = (changes: object) => (server: AuthorizationServer) =>
  server.applications.register({ ...registration(), ...changes })

const redirect = (redirectUri: string) => register({ redirectUris: [redirectUri] })

const submission = { ...registration(), scopes: [{ scope: 'repo-code:rw', reason: 'To push' }] }

const api = { name: 'API', website: 'https://api.example', scopes: ['repo-code:rw'] }

/** For each code, a mistake that leads to it, and the values that it comes with. */
const MISTAKES: {
  readonly [Code in RegistrationFaultCode]: readonly [
    make: (server: AuthorizationServer) => Promise<unknown>,
    values?: RegistrationFault['values'],
  ]
} = {
  missing: [register({ name: undefined }), { takes: 'a string' }],
  type: [register({ deviceFlow: 5 }), { takes: 'true or false', came: '5' }],
  field_unknown: [register({ owner: 'ada' })],
  field_inherited: [({ applications }) => applications.register(Object.create(registration()))],
  half_character: [register({ name: '\ud800' })],
  unseen_mark: [register({ description: 'a\u202eb' })],
  name_length: [register({ name: '' }), { least: 1, most: 50 }],
  logo_bytes: [register({ logo: new Uint8Array(1_048_577) }), { most: 1_048_576 }],
  logo_type: [register({ logo: new Uint8Array(1) })],
  logo_header: [register({ logo: png(0, 1) })],
  logo_pixels: [register({ logo: png(5000, 1) }), { width: 5000, height: 1, most: 4096 }],
  description_length: [register({ description: 'a'.repeat(351) }), { most: 350 }],
  website_url: [register({ website: 'ftp://app.example' }), { most: 128 }],
  client_type: [register({ type: 'native' })],
  client_type_changed: [
    async ({ applications }) => {
      const { id } = await applications.submit(submission)
      await applications.approve(id, { revision: 1 })
      await applications.change(id, { ...submission, type: 'public', redirectUris: ['http://127.0.0.1/'] })
    },
  ],
  client_id: [({ applications }) => applications.register(registration(), { clientId: '' }), { least: 1, most: 255 }],
  client_secret: [
    ({ applications }) => applications.register(registration(), { clientSecret: 'short' }),
    { least: 24, most: 255 },
  ],
  client_secret_hashed: [
    ({ applications }) => applications.register(registration(), { clientSecret: `$2b$12$${'a'.repeat(53)}` }),
    { kind: 'bcrypt' },
  ],
  client_secret_digest: [
    ({ applications }) => applications.register(registration(), { clientSecretDigest: 'f'.repeat(40) }),
  ],
  client_secret_twice: [
    ({ applications }) =>
      applications.register(registration(), {
        clientSecret: 'a-secret-of-a-confidential-client',
        clientSecretDigest: 'f'.repeat(64),
      }),
  ],
  client_secret_of_public: [
    ({ applications }) =>
      applications.register(registration({ type: 'public' }), { clientSecret: 'a-secret-of-a-public-client' }),
  ],
  redirect_uris_none: [register({ redirectUris: [] })],
  redirect_uris_count: [register({ redirectUris: Array(65).fill('https://app.example/') }), { most: 64 }],
  redirect_uri_length: [redirect(`https://app.example/${'a'.repeat(2048)}`), { most: 2048 }],
  redirect_uri_spelling: [redirect('https://App.example/')],
  redirect_uri_incomplete: [redirect('callback')],
  redirect_uri_fragment: [redirect('https://app.example/#top')],
  redirect_uri_user_info: [redirect('https://ada@app.example/')],
  redirect_uri_parameter: [redirect('https://app.example/?state=x'), { parameter: 'state' }],
  redirect_uri_localhost: [redirect('http://localhost/')],
  redirect_uri_scheme: [redirect('http://app.example/')],
  redirect_uri_confidential: [redirect('com.example.app:/')],
  redirect_matching: [register({ redirectMatching: 'host' as 'exact' })], // as a form has it
  domain_of_exact: [register({ redirectMatching: 'exact', authorizedDomain: 'app.example' })],
  domain_missing: [register({ redirectUris: ['https://a.example/', 'https://b.example/'] })],
  domain_name: [register({ authorizedDomain: 'app.example.' })],
  domain_top_level: [register({ authorizedDomain: 'example', allowSubdomains: true })],
  domain_other_host: [register({ authorizedDomain: 'other.example' }), { host: 'app.example' }],
  scopes_count: [register({ scopes: [] })],
  scopes_wider: [
    async ({ applications }) => {
      const { id } = await applications.submit(submission)
      await applications.approve(id, { revision: 1, scopes: ['account-email:r'] })
    },
  ],
  scope_unknown: [register({ scopes: ['repo-coed:r'] }), { scope: 'repo-code:r' }],
  scope_field_unknown: [register({ scopes: [{ scope: 'repo-code:r', why: 'x' }] })],
  scope_twice: [register({ scopes: ['repo-code:r', 'repo-code:r'] })],
  scope_includes: [
    register({ scopes: ['repo-code:r', 'repo-code:rw'] }),
    { scope: 'repo-code:rw', other: 'repo-code:r' },
  ],
  scope_included: [register({ scopes: ['repo-code:rw', 'repo-code:r'] }), { other: 'repo-code:rw' }],
  reason_length: [register({ scopes: [{ scope: 'repo-code:r', reason: '' }] }), { least: 1, most: 350 }],
  resource_scope: [register({ resourceScope: 'some' })],
  resource_scope_specified: [register({ resourceScope: 'specified' })],
  token_type: [register({ tokenType: 'jwt' })],
  token_type_mac: [register({ tokenType: 'mac' })],
  audience_unknown: [
    ({ applications }) => applications.registerResourceServer({ ...api, audience: 'wiki' }),
    { came: '"wiki"' },
  ],
}

/** For each code that a request alone can have: the registration, the URI, and the values. */
const REQUESTS: {
  readonly [Code in Exclude<RedirectFaultCode, RegistrationFaultCode | 'redirect_uri_not_sent'>]: readonly [
    changes: object,
    redirectUri: string,
    values?: RedirectFault['values'],
  ]
} = {
  redirect_uri_loopback: [{ redirectUris: ['http://127.0.0.1/a'] }, 'http://127.0.0.1/b'],
  redirect_uri_not_registered: [{ type: 'public', redirectUris: ['com.example.app:/'] }, 'com.example.other:/'],
  redirect_uri_port: [{}, 'https://app.example:8443/callback'],
  redirect_uri_host: [{}, 'https://other.example/', { domain: 'app.example' }],
  redirect_uri_subdomain: [{ allowSubdomains: true }, 'https://other.example/', { domain: 'app.example' }],
}

let server: AuthorizationServer
beforeAll(async () => {
  server = (await testServer({ allowLocalhost: false })).server
})

/** The faults of a mistake. */
async function faultsOf(
  make: (server: AuthorizationServer) => Promise<unknown>,
): Promise<readonly RegistrationFault[]> {
  try {
    await make(server)
  } catch (error) {
    if (error instanceof GrantwellError) return error.faults
    throw error
  }
  return expect.fail('it has no fault')
}

/** The fault of a redirect URI that an application sends. */
async function explained([changes, redirectUri]: readonly [object, string, ...unknown[]]): Promise<RedirectFault> {
  const { clientId } = await server.applications.register({ ...registration(), ...changes })
  return (await server.applications.explainRedirect(clientId, redirectUri)) ?? expect.fail('it has no fault')
}

/** One fault of each code. */
async function everyFault(): Promise<readonly Omit<RegistrationFault | RedirectFault, 'path'>[]> {
  const faults: Omit<RegistrationFault | RedirectFault, 'path'>[] = []
  for (const [code, [make]] of Object.entries(MISTAKES))
    faults.push((await faultsOf(make)).find((fault) => fault.code === code) ?? expect.fail(code))
  for (const request of Object.values(REQUESTS)) faults.push(await explained(request))
  return faults
}

describe('a fault has a stable code, the values of its sentence, and the sentence', () => {
  it.each(Object.entries(MISTAKES))('%s', async (code, [make, values = {}]) => {
    const fault = (await faultsOf(make)).find((each) => each.code === code)
    expect(fault).toStrictEqual({ path: expect.any(String), code, values, message: expect.any(String) })
    const written = Object.values(values).map((value) =>
      typeof value === 'number' ? value.toLocaleString('en') : value,
    )
    for (const value of written) expect(fault?.message).toContain(value)
    expect(fault?.message).not.toMatch(/[{}]/)
  })

  it.each(Object.entries(REQUESTS))('%s', async (code, request) => {
    const [, , values = {}] = request
    const fault = await explained(request)
    expect(fault).toStrictEqual({ code, values, message: expect.stringMatching(/^must [^{}]+$/) })
    for (const value of Object.values(values)) expect(fault.message).toContain(value)
  })

  it('and a redirect URI that is accepted has none', async () => {
    expect(await server.applications.explainRedirect('web', 'https://app.example/callback')).toBeUndefined()
  })
})

/** Sentences in English that add more to those of the core than their subject. */
const REWORDED: ReadonlySet<string> = new Set([
  ...['missing', 'type', 'field_inherited', 'logo_pixels', 'redirect_uris_none', 'redirect_uris_count'],
  ...[
    'domain_top_level',
    'redirect_matching',
    'domain_of_exact',
    'resource_scope_specified',
    'token_type_mac',
    'audience_unknown',
  ],
])

describe('the texts of faults', () => {
  it('are those of all codes, and of what a link can have besides', () => {
    const named = Object.keys(en).filter((name) => name.startsWith('fault.'))
    expect(named.sort()).toStrictEqual(
      [...Object.keys(MISTAKES), ...Object.keys(REQUESTS), ...OF_LINKS].map((code) => `fault.${code}`).sort(),
    )
    expectTypeOf<RegistrationFaultCode | RedirectFaultCode>().toExtend<ShownFaultCode>()
  })

  it('say in English what the message says', async () => {
    for (const fault of (await everyFault()).filter(({ code }) => !REWORDED.has(code))) {
      const text = faultText({ locale: 'en', texts: en }, fault)
      expect(text.endsWith(`${fault.message}.`), `${text} ${fault.message}`).toBe(true)
    }
  })

  it.each(pageLanguages)('in %s have every value that they name, with its digits and separators', async (locale) => {
    const language = { locale, texts: await loadTexts(locale) }
    for (const fault of await everyFault()) {
      const text = faultText(language, fault)
      expect(text, fault.code).not.toMatch(/[{}]/)
      expect(text.trim(), fault.code).not.toBe('')
    }
    const large = { code: 'logo_bytes', values: { most: 1_048_576 } } as const
    expect(faultText(language, large)).toContain(new Intl.NumberFormat(locale).format(1_048_576))
  })

  it('have no English in another language, but the values themselves', async () => {
    for (const { code, values } of await everyFault()) {
      const veiled = Object.fromEntries(Object.keys(values).map((name) => [name, 7]))
      expect(faultText({ locale: 'ja', texts: pseudoTexts }, { code, values: veiled }), code).not.toMatch(/[a-z]/i)
    }
  })

  it('take a value for what it is, braces and all', () => {
    const language = { locale: 'en', texts: en }
    const fault = { code: 'domain_other_host', values: { host: '{other}', other: 'x' } } as const
    expect(faultText(language, fault)).toBe('{other} is not in the authorized domain.')
  })
})
