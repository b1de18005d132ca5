/**
 * A release from end to end: version and changelog, packing, publishing to a registry on loopback, and on every runtime of the matrix an
 * empty project that installs it from there and runs it.
 *
 *     npm run rehearse
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, type Running, start } from '../engines/process.js'
import { ROOT } from '../package/project.js'
import { relativeLinks } from '../package/readme.js'
import { type Runtime, runtimes, whyNot } from '../runtimes/runtimes.mjs'

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** What `life.mjs` says where all went well. */
const LIFE = '200 app account-profile:r ada 200 401 true'

/** Milliseconds that a step may take; on an idle machine, the longest takes some ten thousand. */
const PATIENCE = 300_000

const base = mkdtempSync(join(tmpdir(), 'grantwell-release-'))
const copy = join(base, 'copy')
let registry: Running | undefined
let address = ''

/** The environment of a user: nothing of the npm that runs this. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|VITEST|NODE_V8)/i.test(name))
  return { ...Object.fromEntries(inherited), ...more }
}

/** Runs a command to its end, and gives what it printed. */
async function run(
  cwd: string,
  file: string,
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<string> {
  const options = { cwd, env: environment(more), timeout: PATIENCE, maxBuffer: 1e8 }
  const { stdout } = await promisify(execFile)(file, args, options).catch((error: Error & { stderr?: string }) => {
    throw new Error(`${file} ${args.join(' ')}: ${error.message}`)
  })
  return stdout.trim()
}

const read = (file: string): string => readFileSync(join(copy, file), 'utf8')

/** A repository with the files of this one as they are now, and one commit. */
async function copyRepository(): Promise<void> {
  const listed = await run(ROOT, 'git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'])
  for (const file of listed.split('\0')) {
    if (file === '' || !existsSync(join(ROOT, file))) continue
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction')
  await git('init', '--quiet')
  await run(copy, 'npm', ['pkg', 'set', 'repository=github:owner/grantwell'])
  await git('add', '--all', '--', ':!node_modules')
  await git('commit', '--quiet', '--message', 'Before the release')
}

/** Runs git, as somebody. */
function git(...args: readonly string[]): Promise<string> {
  return run(copy, 'git', args, SOMEBODY)
}

const SOMEBODY = {
  GIT_AUTHOR_NAME: 'Somebody',
  GIT_AUTHOR_EMAIL: 'somebody@git.example',
  GIT_COMMITTER_NAME: 'Somebody',
  GIT_COMMITTER_EMAIL: 'somebody@git.example',
  GIT_CONFIG_GLOBAL: join(base, 'no-such-file'),
}

/** Gets the registry's program once, and starts it with nothing in it; what it does not have, it asks npm's own registry for. */
async function startRegistry(): Promise<void> {
  const program = join(HERE, 'node_modules/verdaccio/bin/verdaccio')
  if (!existsSync(program)) {
    await run(HERE, 'npm', ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'])
  }
  const uplink = await run(base, 'npm', ['config', 'get', 'registry'])
  const port = await freePort()
  address = `http://127.0.0.1:${port}`
  const configuration = {
    storage: join(base, 'storage'),
    auth: { htpasswd: { file: join(base, 'users') } },
    uplinks: { npm: { url: uplink } },
    packages: { grantwell: { access: '$all', publish: '$authenticated' }, '**': { access: '$all', proxy: 'npm' } },
    max_body_size: '50mb',
    log: { type: 'stdout', format: 'json', level: 'warn' },
  }
  // Its configuration is YAML, of which JSON is a part.
  writeFileSync(join(base, 'registry.yaml'), JSON.stringify(configuration))
  const args = [program, '--config', join(base, 'registry.yaml'), '--listen', address]
  registry = await start({ file: process.execPath, args, directory: base, ready: /http address/ })
  const user = { name: 'rehearsal', password: 'rehearsal-password' }
  const response = await fetch(`${address}/-/user/org.couchdb.user:${user.name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(user),
  })
  const { token }: { readonly token: string } = JSON.parse(await response.text())
  writeFileSync(join(base, '.npmrc'), `registry=${address}/\n//127.0.0.1:${port}/:_authToken=${token}\n`)
}

beforeAll(async () => {
  mkdirSync(copy)
  await copyRepository()
  await startRegistry()
})

afterAll(async () => {
  await registry?.end('SIGTERM')
  rmSync(base, { recursive: true, force: true })
})

describe('the release', () => {
  it('has a version, a changelog and a tag', async () => {
    await run(copy, 'npm', ['version', 'minor'], SOMEBODY)
    expect(JSON.parse(read('package.json')).version).toBe('0.2.0')
    expect(JSON.parse(read('package-lock.json')).version).toBe('0.2.0')
    const today = new Date().toISOString().slice(0, 10)
    expect(read('CHANGELOG.md')).toContain(`\n## [0.2.0] - ${today}\n`)
    expect(read('CHANGELOG.md')).not.toContain('Unreleased')
    expect(await git('tag', '--points-at', 'HEAD')).toBe('v0.2.0')
    await run(copy, process.execPath, ['.ci/release.mjs', 'check', 'v0.2.0'])
  })

  it('is published, and leaves the repository as it was', async () => {
    const config = { NPM_CONFIG_USERCONFIG: join(base, '.npmrc') }
    await run(copy, 'npm', ['publish'], config)
    expect(await git('status', '--porcelain', '--', ':!node_modules')).toBe('')
    const found = JSON.parse(await run(base, 'npm', ['view', 'grantwell', '--json'], config))
    expect(found).toMatchObject({ version: '0.2.0', repository: { url: expect.stringContaining('owner/grantwell') } })
  })
})

/** An empty project that takes its packages from the registry on loopback. */
function emptyProject(name: string): string {
  const directory = join(base, name)
  mkdirSync(directory)
  writeFileSync(
    join(directory, 'package.json'),
    '{ "name": "empty", "version": "1.0.0", "private": true, "type": "module" }\n',
  )
  writeFileSync(join(directory, '.npmrc'), `registry=${address}/\n`)
  cpSync(join(HERE, 'life.mjs'), join(directory, 'life.mjs'))
  writeFileSync(join(directory, 'main.mjs'), `import { life } from './life.mjs'\nconsole.log(await life())\n`)
  return directory
}

/** What a project needs; the second is the optional peer of the codec. */
const WANTED = ['grantwell@0.2.0', '@bufbuild/protobuf@2']

/** Runs `main.mjs` on a runtime after installing with its own means; gives what it printed, and what the command `grantwell` did. */
const ON: { readonly [Name in Runtime['name']]: (program: string, directory: string) => Promise<readonly string[]> } = {
  'Node.js': async (program, directory) => {
    // The program of npm asks the path for its Node.
    const path = { PATH: `${dirname(program)}${delimiter}${process.env['PATH'] ?? ''}` }
    await run(directory, 'npm', ['install', '--no-audit', '--no-fund', ...WANTED], path)
    for (const page of ['README.md', 'SECURITY.md']) {
      const text = readFileSync(join(directory, 'node_modules/grantwell', page), 'utf8')
      expect(relativeLinks(text), page).toEqual([])
    }
    return [
      await run(directory, program, ['main.mjs']),
      await run(directory, program, ['node_modules/grantwell/dist/bin/grantwell.cjs', '--version']),
    ]
  },
  Bun: async (program, directory) => {
    await run(directory, program, ['add', ...WANTED], { HOME: directory })
    return [
      await run(directory, program, ['run', 'main.mjs'], { HOME: directory }),
      await run(directory, program, ['node_modules/grantwell/dist/bin/grantwell.cjs', '--version'], {
        HOME: directory,
      }),
    ]
  },
  Deno: async (program, directory) => {
    const own = { DENO_DIR: join(directory, 'cache'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }
    await run(
      directory,
      program,
      ['add', '--quiet', '--minimum-dependency-age=0', ...WANTED.map((each) => `npm:${each}`)],
      own,
    )
    return [await run(directory, program, ['run', '--no-prompt', 'main.mjs'], own), '0.2.0']
  },
  workerd: async (program, directory) => {
    await run(directory, 'npm', ['install', '--no-audit', '--no-fund', ...WANTED])
    const worker = `import { life } from './life.mjs'\nexport default { async test() { console.log(await life()) } }\n`
    writeFileSync(join(directory, 'worker.mjs'), worker)
    await build({
      absWorkingDir: directory,
      entryPoints: ['worker.mjs'],
      outfile: join(directory, 'bundle.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      logLevel: 'silent',
    })
    const date = /\d{4}-\d\d-\d\d/.exec(spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout)?.[0] ?? ''
    writeFileSync(
      join(directory, 'worker.capnp'),
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
const worker :Workerd.Worker = (
  modules = [(name = "bundle.mjs", esModule = embed "bundle.mjs")],
  compatibilityDate = "${date}",
);
`,
    )
    return [await run(directory, program, ['test', 'worker.capnp']), '0.2.0']
  },
}

describe('an empty project with the release', () => {
  for (const { title, name, program, says } of runtimes) {
    it(`runs on ${title}`, async ({ skip }) => {
      const reason = whyNot({ program, says })
      if (reason !== undefined) skip(`${title}: ${reason}`)
      const said = await ON[name](program, emptyProject(title.replaceAll(/\W+/g, '-')))
      expect(said.map((each) => each.split('\n').at(-1))).toEqual([LIFE, '0.2.0'])
    })
  }
})
