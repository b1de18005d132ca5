/**
 * The clients of Debian 12: what each needs, what it was seen to do, and how it is run.
 * @module
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../engines/available.js'
import type { Client } from './client.js'
import type { Login, Start } from './driver.js'

const HERE = fileURLToPath(new URL('./debian', import.meta.url))

/** A client of Debian. */
export interface DebianClient extends Client {
  /** The packages of Debian; the first has the client. */
  readonly packages: readonly string[]
  /** The file or folder of the folder `debian` that drives it. */
  readonly file: string
}

/** The clients that are driven by the code flow. What one needs on loopback alone, where there is no TLS, is not in the table. */
export const DEBIAN_CLIENTS: readonly DebianClient[] = [
  {
    name: 'requests-oauthlib',
    version: '1.3.0',
    packages: ['python3-requests-oauthlib'],
    file: 'requests_oauthlib_client.py',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
    client: '`client_id` and `client_secret` in `refresh_token`, which keeps none',
  },
  {
    name: 'Authlib',
    version: '1.2.0',
    packages: ['python3-authlib'],
    file: 'authlib_client.py',
    confidential: 'Basic',
    public: 'identifier alone',
    pkce: true,
    state: true,
    does: ['call', 'refresh', 'revoke'],
    client: "nothing; advised, and needed by a public application: `code_challenge_method='S256'`",
  },
  {
    name: 'oauth2, a gem',
    version: '1.4.4',
    packages: ['ruby-oauth2'],
    file: 'oauth2_client.rb',
    confidential: 'body',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: 'rack-oauth2, a gem',
    version: '1.21.3',
    packages: ['ruby-rack-oauth2'],
    file: 'rack_oauth2_client.rb',
    confidential: 'Basic',
    pkce: false,
    state: true,
    does: ['call', 'refresh', 'revoke'],
  },
  {
    name: 'signet, a gem',
    version: '0.17.0',
    packages: ['ruby-signet'],
    file: 'signet_client.rb',
    confidential: 'body',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: 'Net::OAuth2',
    version: '0.67',
    packages: ['libnet-oauth2-perl'],
    file: 'net_oauth2_client.pl',
    confidential: 'body',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: 'LWP::Authen::OAuth2',
    version: '0.20',
    packages: ['liblwp-authen-oauth2-perl'],
    file: 'lwp_authen_oauth2_client.pl',
    confidential: 'body',
    pkce: false,
    state: true,
    does: ['call', 'refresh'],
  },
  {
    name: 'golang.org/x/oauth2',
    version: '0.15.0',
    packages: ['golang-golang-x-oauth2-dev', 'golang-go'],
    file: 'go_oauth2',
    confidential: 'Basic',
    public: 'Basic',
    pkce: true,
    state: true,
    does: ['call', 'refresh'],
    also: 'device flow',
  },
]

/** The library of GitHub's command, whose device flow is driven. */
export const CLI_OAUTH: DebianClient = {
  name: 'github.com/cli/oauth',
  version: '1.0.1',
  packages: ['golang-github-cli-oauth-dev', 'golang-go'],
  file: 'cli_oauth',
  public: 'identifier alone',
  pkce: false,
  state: false,
  does: [],
  also: 'device flow, not the code flow',
}

/** The device flow of golang.org/x/oauth2, which only the version in Debian's backports has. */
export const GO_DEVICE_FLOW = {
  name: 'golang.org/x/oauth2, of the backports',
  packages: ['golang-golang-x-oauth2-dev', 'golang-go'],
  file: 'go_oauth2_device',
} as const

/** Git's login by a browser, which a test of the adapters drives. */
export const GIT_CREDENTIAL_OAUTH: Omit<DebianClient, 'file'> = {
  name: 'git-credential-oauth',
  version: '0.4.2',
  packages: ['git-credential-oauth'],
  public: 'Basic',
  pkce: true,
  state: true,
  does: [],
  also: '`git clone` over HTTP',
}

/** The program, which the tests of the demo drive. */
export const CURL: Omit<DebianClient, 'file'> = {
  name: 'curl',
  version: '7.88.1',
  packages: ['curl'],
  confidential: 'Basic',
  public: 'identifier alone',
  pkce: true,
  state: true,
  does: ['call', 'refresh', 'revoke'],
  also: 'device flow',
}

/** Debian's lists of the files of packages. That of a package is there while it is installed. */
const LISTS = '/var/lib/dpkg/info'

const installed = new Set(
  existsSync(LISTS) ? readdirSync(LISTS).map((file) => file.replace(/(:[^:]+)?\.list$/, '')) : [],
)

/** Describes a client to the suites that need a program. */
export function engineOf({ name, packages }: Pick<DebianClient, 'name' | 'packages'>): Engine {
  const isHere = packages.every((each) => installed.has(each))
  return { name, package: packages.join(' '), directory: isHere ? HERE : undefined }
}

/** Reads the version that is installed, without what Debian adds to it. */
export function debianVersion({ packages: [debian = ''] }: Pick<DebianClient, 'packages'>): string {
  const text = execFileSync('dpkg-query', ['--show', '--showformat', '$' + '{Version}', debian], { encoding: 'utf8' })
  return text.replace(/^\d+:/, '').replace(/[-+].*$/, '')
}

/** True on the system that the table is of. */
export const IS_DEBIAN_12 =
  existsSync('/etc/os-release') && /^PRETTY_NAME="Debian[^"]* 12 /m.test(readFileSync('/etc/os-release', 'utf8'))

/** Makes the command that runs a client. Go's are compiled first. */
export function commandOf({ file }: Pick<DebianClient, 'file'>): {
  readonly program: string
  readonly args: readonly string[]
  readonly remove?: () => void
} {
  const path = join(HERE, file)
  if (file.endsWith('.py')) return { program: '/usr/bin/python3', args: ['-B', path] }
  if (file.endsWith('.rb')) return { program: '/usr/bin/ruby', args: ['-W0', path] }
  if (file.endsWith('.pl')) return { program: '/usr/bin/perl', args: ['-I', HERE, path] }
  const folder = mkdtempSync(join(tmpdir(), 'grantwell-go-'))
  const program = join(folder, 'client')
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'cache') }
  execFileSync('/usr/bin/go', ['build', '-o', program, join(path, 'main.go')], { env, stdio: 'pipe', timeout: 600_000 })
  return { program, args: [], remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Starts a program whose lines are JSON, and gives each in turn. */
export function speak(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (part) => {
    complaints += part
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const hear = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the client ended: ${complaints}`)
    return JSON.parse(value)
  }
  return { hear, say: (line: object) => child.stdin.write(`${JSON.stringify(line)}\n`), end: () => child.kill() }
}

/** Begins a login by a client of Debian. */
export function startDebian(client: Pick<DebianClient, 'file'>): Start {
  return async ({ browser, ...setting }): Promise<Login> => {
    const { program, args, remove } = commandOf(client)
    const { hear, say, end } = speak(program, [...args, JSON.stringify(setting)])
    const { url, steps }: { readonly url: string; readonly steps: readonly string[] } = await hear()
    const take = (name: string) => async (argument: unknown) => {
      say({ name, argument })
      const { error, result } = await hear()
      if (error !== undefined) throw new Error(error)
      return result
    }
    const close = (): void => {
      end()
      remove?.()
    }
    return { url, finish: take('finish'), close, ...Object.fromEntries(steps.map((name) => [name, take(name)])) }
  }
}
