/**
 * The clients of npm: what each needs, and what it was seen to do. The page of the documentation has this as a table.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Client } from './client.js'
import type { Start } from './driver.js'

/** A client of npm; its name is that of its package. */
export interface NpmClient extends Client {
  /** The file in the folder `npm` that drives it. */
  readonly file: string
}

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The versions that the tests are written for. */
const WANTED: Readonly<Record<string, string>> = JSON.parse(readFileSync(`${HERE}package.json`, 'utf8')).devDependencies

const CLIENTS: readonly Omit<NpmClient, 'version'>[] = [
  {
    name: 'oauth4webapi',
    file: 'oauth4webapi',
    client: "`algorithm: 'oauth2'` in `discoveryRequest`",
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
  },
  {
    name: 'openid-client',
    file: 'openid-client',
    client: "`algorithm: 'oauth2'` in `discovery`",
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
  },
  {
    name: 'simple-oauth2',
    file: 'simple-oauth2',
    client: 'the three paths',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'passport-oauth2',
    file: 'passport-oauth2',
    client: '`state: true` and `pkce: true`; for calls of the API `_oauth2.useAuthorizationHeaderforGET(true)`',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: '@badgateway/oauth2-client',
    file: 'badgateway',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
  },
  {
    name: 'arctic',
    file: 'arctic',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'grant',
    file: 'grant',
    client: "`scope_delimiter: ' '`, `state: true` and `pkce: true`",
    path: '/connect/service/callback',
    confidential: 'body',
    pkce: true,
    state: true,
    does: [],
  },
  {
    name: '@auth/core',
    file: 'authjs',
    client: '`issuer`, since every answer has `iss`',
    path: '/auth/callback/service',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: false,
    does: [],
  },
  {
    name: 'better-auth',
    file: 'better-auth',
    path: '/api/auth/callback/service',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh'],
  },
  {
    name: 'client-oauth2',
    file: 'client-oauth2',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: 'google-auth-library',
    file: 'google-auth-library',
    confidential: 'body',
    pkce: true,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: '@openid/appauth',
    file: 'appauth',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: '@fastify/oauth2',
    file: 'fastify-oauth2',
    confidential: 'Basic',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'remix-auth-oauth2',
    file: 'remix-auth-oauth2',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'oidc-client-ts',
    file: 'oidc-client-ts',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'react-oauth2-code-pkce',
    file: 'react-oauth2-code-pkce',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh'],
  },
  {
    name: '@modelcontextprotocol/sdk',
    file: 'mcp-sdk',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: false,
    does: ['refresh'],
  },
]

/** The clients of npm, in the order of the table. */
export const NPM_CLIENTS: readonly NpmClient[] = CLIENTS.map((client) => ({
  ...client,
  version: WANTED[client.name] ?? 'none',
}))

/** Reads the version that is installed; undefined if none is. */
export function installedVersion(name: string): string | undefined {
  const manifest = `${HERE}node_modules/${name}/package.json`
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined
}

/** Installs the clients beside this file, unless they are there. */
export function installClients(): void {
  const missing = Object.entries(WANTED).some(([name, version]) => installedVersion(name) !== version)
  if (!missing) return
  // Nothing of the npm that runs the tests.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|VITEST|NODE_V8)/i.test(name))
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', args, { cwd: HERE, env: Object.fromEntries(inherited), stdio: 'pipe', timeout: 300_000 })
}

/** Begins a login by a client of npm. @param changes - of the settings that it is made with */
export function startNpm({ file }: Pick<NpmClient, 'file'>, changes: object = {}): Start {
  return async (setting) => {
    const { start } = await import(new URL(`./npm/${file}.mjs`, import.meta.url).href)
    return start(setting, changes)
  }
}
