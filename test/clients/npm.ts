/**
 * The clients of npm: what each needs, and what it was seen to do. The page of the documentation has this as a table.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Client } from './client.js'
import type { Start, StartDevice } from './driver.js'

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
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
    also: 'device flow',
    client: "`algorithm: 'oauth2'` in `discoveryRequest`",
  },
  {
    name: 'openid-client',
    file: 'openid-client',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
    also: 'device flow',
    server: 'none; `openidConfiguration: true` for the default `algorithm`',
    client: "`algorithm: 'oauth2'` in `discovery`",
  },
  {
    name: 'simple-oauth2',
    file: 'simple-oauth2',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['refresh', 'revoke'],
  },
  {
    name: 'passport-oauth2',
    file: 'passport-oauth2',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh'],
    client:
      'nothing; advised: `state: true`, `pkce: true`; for API calls: `_oauth2.useAuthorizationHeaderforGET(true)`',
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
    path: '/connect/service/callback',
    confidential: 'body',
    pkce: true,
    state: true,
    does: [],
    client: "`scope_delimiter: ' '`; advised: `state: true`, `pkce: true`",
  },
  {
    name: '@auth/core',
    file: 'authjs',
    path: '/auth/callback/service',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: false,
    does: [],
    client: '`issuer`, since it compares `iss`',
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
    server: 'none; `openidConfiguration: true` for `fetchFromIssuer`',
    client: 'nothing; on Node: a bundler, since Node cannot load its modules',
  },
  {
    name: '@fastify/oauth2',
    file: 'fastify-oauth2',
    confidential: 'Basic',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
    server: 'none; `openidConfiguration: true` for `discovery`',
    client: "nothing; advised: `pkce: 'S256'`",
  },
  {
    name: 'remix-auth-oauth2',
    file: 'remix-auth-oauth2',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
    server: 'none; `openidConfiguration: true` for `OAuth2Strategy.discover`',
  },
  {
    name: 'oidc-client-ts',
    file: 'oidc-client-ts',
    confidential: 'body',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['refresh', 'revoke'],
    server: 'none; `openidConfiguration: true` without `metadataUrl`',
    client: '`metadataUrl`; on Node: stores in memory',
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
    server: 'none; `clientPolicy` to [register itself](/guides/mcp)',
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

/** True if a client is missing, or there in another version. */
function isIncomplete(): boolean {
  return Object.entries(WANTED).some(([name, version]) => installedVersion(name) !== version)
}

/** Installs the clients beside this file, unless they are there. Two test files may do so at once. */
export function installClients(): void {
  if (!isIncomplete()) return
  mkdirSync(`${HERE}temp`, { recursive: true })
  const staging = mkdtempSync(`${HERE}temp/`)
  try {
    for (const file of ['package.json', 'package-lock.json']) cpSync(HERE + file, `${staging}/${file}`)
    // Nothing of the npm that runs the tests.
    const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|VITEST|NODE_V8)/i.test(name))
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
    execFileSync('npm', args, { cwd: staging, env: Object.fromEntries(inherited), stdio: 'pipe', timeout: 600_000 })
    if (!isIncomplete()) return
    rmSync(`${HERE}node_modules`, { recursive: true, force: true })
    renameSync(`${staging}/node_modules`, `${HERE}node_modules`)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Begins a login by a client of npm. @param changes - of the settings that it is made with */
export function startNpm({ file }: Pick<NpmClient, 'file'>, changes: object = {}): Start {
  return async (setting) => {
    const { start } = await import(new URL(`./npm/${file}.mjs`, import.meta.url).href)
    return start(setting, changes)
  }
}

/** Begins a login on a device by a client of npm. */
export function startNpmDevice({ file }: NpmClient): StartDevice {
  return async (setting) => {
    const { device } = await import(new URL(`./npm/${file}.mjs`, import.meta.url).href)
    return device(setting)
  }
}
