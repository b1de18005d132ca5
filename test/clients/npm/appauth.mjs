/** @openid/appauth on Node, as its sample has it. @module */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { freePort } from '../../engines/process.ts'

const MODULES = join(dirname(fileURLToPath(import.meta.url)), '../node_modules')

/** Its published modules leave out the endings of files, so Node cannot load them: an application has to bundle it. */
async function load() {
  const outfile = join(MODULES, '.appauth-bundle.mjs')
  const contents = `export * from '@openid/appauth'
    export { NodeBasedHandler } from '@openid/appauth/built/src/node_support/node_request_handler.js'
    export { Flags } from '@openid/appauth/built/src/flags.js'
    export { NodeCrypto } from '@openid/appauth/built/src/node_support/crypto_utils.js'
    export { NodeRequestor } from '@openid/appauth/built/src/node_support/node_requestor.js'`
  await build({
    stdin: { contents, resolveDir: MODULES },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['opener', 'follow-redirects'],
    logLevel: 'silent',
  })
  return import(/* @vite-ignore */ pathToFileURL(outfile).href)
}

/** Waits for the address that the client opens. The browser that it finds writes it down. */
async function openedBy(begin) {
  const folder = mkdtempSync(join(tmpdir(), 'grantwell-browser-'))
  const [program, opened] = [join(folder, 'xdg-open'), join(folder, 'opened')]
  writeFileSync(program, `#!/bin/sh\nprintf %s "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`)
  chmodSync(program, 0o755)
  const before = process.env.PATH
  process.env.PATH = `${folder}${delimiter}${before}`
  try {
    begin()
    for (let tries = 0; tries < 10_000 && !existsSync(opened); tries++)
      await new Promise((done) => setTimeout(done, 20))
    return readFileSync(opened, 'utf8')
  } finally {
    process.env.PATH = before
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @type {import('../driver.js').Start} */
export async function start(setting, { discovery } = {}) {
  const { authorizationEndpoint, tokenEndpoint, revocationEndpoint, clientId, clientSecret, scopes } = setting
  const appauth = await load()
  appauth.Flags.IS_LOG = false // it prints codes
  const port = await freePort()
  const redirectUri = `http://127.0.0.1:${port}/callback`
  const { AuthorizationServiceConfiguration: Configuration } = appauth
  const configuration = discovery
    ? await Configuration.fetchFromIssuer(setting.issuer, new appauth.NodeRequestor())
    : new Configuration({
        authorization_endpoint: authorizationEndpoint,
        token_endpoint: tokenEndpoint,
        revocation_endpoint: revocationEndpoint,
      })
  const request = new appauth.AuthorizationRequest(
    { client_id: clientId, redirect_uri: redirectUri, scope: scopes.join(' ') },
    new appauth.NodeCrypto(),
  )
  const handler = new appauth.NodeBasedHandler(port)
  const answered = new Promise((resolve, reject) => {
    const notifier = new appauth.AuthorizationNotifier()
    notifier.setAuthorizationListener((_request, response, error) =>
      response ? resolve(response.code) : reject(new Error(error?.error)),
    )
    handler.setAuthorizationNotifier(notifier)
  })
  const tokens = new appauth.BaseTokenRequestHandler(new appauth.NodeRequestor())
  const ask = async (parameters) => {
    const extras = { ...parameters.extras, ...(clientSecret !== undefined && { client_secret: clientSecret }) }
    const given = { client_id: clientId, redirect_uri: redirectUri, ...parameters, extras }
    return tokens.performTokenRequest(configuration, new appauth.TokenRequest(given))
  }
  return {
    url: await openedBy(() => handler.performAuthorizationRequest(configuration, request)),
    finish: async (callback) => {
      await fetch(callback)
      const extras = { code_verifier: request.internal.code_verifier }
      return ask({ grant_type: appauth.GRANT_TYPE_AUTHORIZATION_CODE, code: await answered, extras })
    },
    refresh: ({ refreshToken }) =>
      ask({ grant_type: appauth.GRANT_TYPE_REFRESH_TOKEN, refresh_token: refreshToken, extras: {} }),
    revoke: ({ refreshToken }) =>
      tokens.performRevokeTokenRequest(
        configuration,
        new appauth.RevokeTokenRequest({ token: refreshToken, client_id: clientId, client_secret: clientSecret }),
      ),
  }
}

/** Loads it without a bundle. */
export const loadAsPublished = () => import('@openid/appauth')
