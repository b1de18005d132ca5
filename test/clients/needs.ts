/**
 * What clients of npm cannot do with their own defaults, and what the table therefore has them set: each case fails as it says, and
 * those that look for OpenID's metadata get through with one option of the server.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { readPage } from '../../docs/snippets/page-words.js'
import type { Login } from './driver.js'
import { begin, finish, statusWith } from './harness.js'
import { startNpm } from './npm.js'
import type { Service } from './service.js'

/** Errors that the page quotes. */
const OTHER_ISSUER = 'unexpected "iss" (issuer) response parameter value'
const NO_REGISTRATION = 'Incompatible auth server: does not support dynamic client registration'

/** Takes a client as far as its tokens, and says what went wrong. */
async function failureOf(on: Service, file: string, changes: object, path?: string): Promise<string> {
  let login: Login | undefined
  try {
    const begun = await begin(on, startNpm({ file }, changes), 'confidential', path)
    login = begun.login
    expect(await statusWith(on, await finish(begun))).toBe(200)
    return 'none'
  } catch (error) {
    return error instanceof Error ? `${error.message} ${error.cause}` : String(error)
  } finally {
    await login?.close?.()
  }
}

/** Registers the tests. @param services - with the defaults, and with the options `openidConfiguration` and `clientPolicy` */
export function needs(services: () => { readonly service: Service; readonly withOption: Service }): void {
  describe('a client that finds endpoints by OpenID Connect Discovery', () => {
    const CLIENTS: readonly (readonly [file: string, changes: object])[] = [
      ['openid-client', { algorithm: undefined }],
      ['fastify-oauth2', { discovery: true }],
      ['remix-auth-oauth2', { discovery: true }],
      ['appauth', { discovery: true }],
      ['oidc-client-ts', { metadataUrl: undefined }],
    ]

    it.each(CLIENTS)('gets through by %s with the option openidConfiguration', async (file, changes) => {
      expect(await failureOf(services().withOption, file, changes)).toBe('none')
    })

    it.each(CLIENTS)('finds nothing by %s without it', async (file, changes) => {
      expect(await failureOf(services().service, file, changes)).not.toBe('none')
    })
  })

  describe('a setting of the table is needed', () => {
    it('by @auth/core: `issuer`, since it compares `iss` with an address of its own', async () => {
      expect(await failureOf(services().service, 'authjs', { issuer: undefined }, '/auth/callback/service')).toContain(
        OTHER_ISSUER,
      )
    })

    it('by @auth/core: the endpoints, since it discovers those of OpenID Connect alone, with a profile', async () => {
      const changes = { authorization: undefined, token: undefined, userinfo: undefined }
      expect(await failureOf(services().withOption, 'authjs', changes, '/auth/callback/service')).toContain(
        'did not provide a userinfo endpoint',
      )
    })

    it('by grant: `scope_delimiter`, since its own is a comma', async () => {
      expect(
        await failureOf(services().service, 'grant', { scope_delimiter: undefined }, '/connect/service/callback'),
      ).toContain('invalid_scope')
    })

    it('by oidc-client-ts: `scope`, since its own is `openid`', async () => {
      expect(await failureOf(services().service, 'oidc-client-ts', { scope: undefined })).toContain('invalid_scope')
    })

    it('by @modelcontextprotocol/sdk: an application that is registered, unless a policy lets it register itself', async () => {
      expect(await failureOf(services().service, 'mcp-sdk', { unregistered: true })).toContain(NO_REGISTRATION)
      expect(await failureOf(services().withOption, 'mcp-sdk', { unregistered: true })).toBe('none')
    })
  })

  it.each([
    ['passport-oauth2', { state: undefined, pkce: undefined }, '/callback', 0],
    ['grant', { state: undefined, pkce: undefined }, '/connect/service/callback', 0],
    ['fastify-oauth2', { pkce: false }, '/callback', 1],
  ] as const)('a setting that is only advised is not needed by %s', async (file, changes, path, extras) => {
    const { service } = services()
    expect(await failureOf(service, file, changes, path)).toBe('none')
    const asked = Object.keys(service.seen[0]?.parameters ?? {})
    // fastify-oauth2 has a state by its defaults.
    expect(asked.filter((name) => ['state', 'code_challenge'].includes(name))).toHaveLength(extras)
  })

  it.each([OTHER_ISSUER, NO_REGISTRATION])('the page quotes the error: %s', (message) => {
    expect(readPage('guides/clients')).toContain(`\`${message}\``)
  })

  describe('what a client does not do', () => {
    it('google-auth-library cannot revoke: it sends the token in the query, and no credentials', async () => {
      const { service } = services()
      const begun = await begin(service, startNpm({ file: 'google-auth-library' }))
      const tokens = await finish(begun)
      const { revokeByDefault } = begun.login as Login & { revokeByDefault: (of: typeof tokens) => Promise<unknown> } // of its driver
      const error = await revokeByDefault(tokens).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ status: 400, message: 'invalid_request' })
      expect(await statusWith(service, tokens)).toBe(200)
    })

    it('@openid/appauth cannot be loaded by Node as it is published: it has to be bundled', async () => {
      const { loadAsPublished } = await import(new URL('./npm/appauth.mjs', import.meta.url).href)
      await expect(loadAsPublished()).rejects.toMatchObject({ code: 'ERR_MODULE_NOT_FOUND' })
    })
  })
}
