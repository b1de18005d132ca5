/**
 * The clients of npm: what each needs, and what it was seen to do. The page of the documentation has this as a table.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Authentication } from './service.js'

/** A client of npm. */
export interface NpmClient {
  /** The package, and its name in the table. */
  readonly name: string
  /** The file in the folder `npm` that drives it. */
  readonly file: string
  /** Settings of the client that are not its defaults, in the words of the table. */
  readonly client: string
  /** Options of the server that are not its defaults, in the words of the table. */
  readonly server: string
  /** The path of its redirect URI. */
  readonly path: string
  /** Its authentication as a confidential application, and as a public one; undefined if it cannot be one. */
  readonly confidential?: Authentication
  readonly public?: Authentication
  readonly pkce: boolean
  readonly state: boolean
  /** Things that it does by itself once it is logged in. */
  readonly does: readonly ('call' | 'refresh' | 'revoke')[]
}

/** The clients of npm, in the order of the table. */
export const NPM_CLIENTS: readonly NpmClient[] = [
  {
    name: 'oauth4webapi',
    file: 'oauth4webapi',
    client: "`algorithm: 'oauth2'` in `discoveryRequest`",
    server: '',
    path: '/callback',
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
    server: '',
    path: '/callback',
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
    server: '',
    path: '/callback',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'passport-oauth2',
    file: 'passport-oauth2',
    client: '`state: true` and `pkce: true`; for calls of the API `_oauth2.useAuthorizationHeaderforGET(true)`',
    server: '',
    path: '/callback',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: '@badgateway/oauth2-client',
    file: 'badgateway',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
  },
  {
    name: 'arctic',
    file: 'arctic',
    client: '',
    server: '',
    path: '/callback',
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
    server: '',
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
    server: '',
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
    client: '',
    server: '',
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
    client: '',
    server: '',
    path: '/callback',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: 'google-auth-library',
    file: 'google-auth-library',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'body',
    pkce: true,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: '@openid/appauth',
    file: 'appauth',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: '@fastify/oauth2',
    file: 'fastify-oauth2',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'Basic',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'remix-auth-oauth2',
    file: 'remix-auth-oauth2',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'oidc-client-ts',
    file: 'oidc-client-ts',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'react-oauth2-code-pkce',
    file: 'react-oauth2-code-pkce',
    client: '',
    server: '',
    path: '/callback',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh'],
  },
  {
    name: '@modelcontextprotocol/sdk',
    file: 'mcp-sdk',
    client: '',
    server: '',
    path: '/callback',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: false,
    does: ['refresh'],
  },
]

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Reads the versions that the tests are written for. */
export function wantedVersions(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(`${HERE}package.json`, 'utf8')).devDependencies
}

/** Reads the version that is installed; undefined if none is. */
export function installedVersion(name: string): string | undefined {
  const manifest = `${HERE}node_modules/${name}/package.json`
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined
}

/** Installs the clients beside this file, unless they are there. */
export function installClients(): void {
  const missing = Object.entries(wantedVersions()).some(([name, version]) => installedVersion(name) !== version)
  if (!missing) return
  // Nothing of the npm that runs the tests.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|VITEST|NODE_V8)/i.test(name))
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  execFileSync('npm', args, { cwd: HERE, env: Object.fromEntries(inherited), stdio: 'pipe', timeout: 300_000 })
}
