/**
 * The command `grantwell init`, from outside: what it writes, what it keeps, and what it refuses.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeFolder } from '../../src/cli/init/folder.js'
import type { FrameworkName } from '../../src/cli/init/frameworks.js'
import { FRAMEWORK_NAMES, FRAMEWORKS } from '../../src/cli/init/frameworks.js'
import { dependenciesOf, parseManifest, RANGES } from '../../src/cli/init/manifest.js'
import { serviceText } from '../../src/cli/init/service.js'
import { testText } from '../../src/cli/init/service-test.js'
import type { StoreName } from '../../src/cli/init/stores.js'
import { STORE_NAMES, STORES } from '../../src/cli/init/stores.js'
import { BUILT, build } from '../built.js'
import { ROOT } from '../package/project.js'
import { folder, grantwell, link, write } from './command.js'

const { version, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

const COMBINATIONS = FRAMEWORK_NAMES.flatMap((framework) => STORE_NAMES.map((store) => [framework, store] as const))

beforeAll(build)

/** Runs `grantwell init` in the folder, for a framework and a store. */
function init(framework: FrameworkName, store: StoreName, ...more: readonly string[]) {
  return grantwell(['init', '--framework', framework, '--store', store, ...more])
}

const read = (file: string): string => readFileSync(join(folder(), file), 'utf8')

/** Lists the files of the folder of this test. */
const files = (): readonly string[] => readdirSync(folder(), { recursive: true, encoding: 'utf8' }).sort()

describe('grantwell init', () => {
  it('writes a service, its test and a package.json, and says how to go on', () => {
    const { code, stdout, stderr } = init('express', 'postgres')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(files()).toEqual(['package.json', 'service.mjs', 'service.test.mjs'])
    expect(read('service.mjs')).toBe(serviceText(FRAMEWORKS.express, STORES.postgres))
    expect(read('service.test.mjs')).toBe(testText(FRAMEWORKS.express))
    expect(JSON.parse(read('package.json'))).toEqual({
      private: true,
      scripts: { start: 'node service.mjs', test: 'node --test' },
      dependencies: {
        express: `^${devDependencies.express}`,
        grantwell: `^${version}`,
        pg: `^${devDependencies.pg}`,
      },
    })
    expect(stdout).toContain('service.mjs and service.test.mjs were written to this folder.\n')
    expect(stdout).toContain('  npm install\n  npm test\n  npm start\n')
    expect(stdout).toContain('The last one needs PostgreSQL at the address in DATABASE_URL.\n')
    expect(stdout).toContain('Replace placeholderSignIn in service.mjs')
  })

  it('makes the folder that it is given', () => {
    const { code, stdout } = init('hono', 'memory', 'a/new one')
    expect({ code, files: files() }).toEqual({
      code: 0,
      files: [
        'a',
        'a/new one',
        ...['package.json', 'service.mjs', 'service.test.mjs'].map((file) => `a/new one/${file}`),
      ],
    })
    expect(stdout).toContain('Run these commands in a/new one:\n')
    expect(stdout).not.toContain('The last one needs')
  })

  it.each([
    [[], '--framework node-http|express|fastify|hono and --store memory|sqlite|postgres|redis'],
    [['--framework', 'hono'], '--store memory|sqlite|postgres|redis'],
    [['--store', 'redis'], '--framework node-http|express|fastify|hono'],
  ])('says which options are missing where nobody can be asked: %j', (args, options) => {
    const { code, stdout, stderr } = grantwell(['init', ...args])
    expect({ code, stdout, files: files() }).toEqual({ code: 2, stdout: '', files: [] })
    expect(stderr).toBe(`error: there is no terminal to ask on: give ${options}\n(--help says more)\n`)
  })

  it.each([
    [['--framework', 'koa'], /'koa' is invalid.*node-http, express, fastify, hono/],
    [['--store', 'mysql'], /'mysql' is invalid.*memory, sqlite, postgres, redis/],
    [['--framework', 'hono', '--store', 'redis', 'a', 'b'], /too many arguments/],
  ])('refuses a wrong command line, and writes nothing: %j', (args, message) => {
    const { code, stderr } = grantwell(['init', ...args])
    expect({ code, files: files() }).toEqual({ code: 2, files: [] })
    expect(stderr).toMatch(message)
  })

  it.each([
    [['service.mjs'], 'service.mjs is'],
    [['service.test.mjs'], 'service.test.mjs is'],
    [['service.mjs', 'service.test.mjs'], 'service.mjs and service.test.mjs are'],
  ])('writes nothing where a file of the service is there: %j', (present, says) => {
    for (const file of present) write(file, 'mine')
    const { code, stdout, stderr } = init('hono', 'redis')
    expect({ code, stdout, files: files() }).toEqual({ code: 2, stdout: '', files: present })
    expect(stderr).toBe(`grantwell: ${says} in this folder already, and nothing was written: name another folder\n`)
    expect(present.map(read)).toEqual(present.map(() => 'mine'))
  })

  it('does not write through a link that leads nowhere', () => {
    link(join(folder(), 'elsewhere'), 'service.mjs')
    expect(init('hono', 'redis').stderr).toContain('service.mjs is in this folder already')
    expect(files()).toEqual(['service.mjs'])
  })

  it('refuses a path that is not a folder', () => {
    write('file', 'mine')
    expect(init('hono', 'redis', 'file')).toMatchObject({
      code: 2,
      stderr: 'grantwell: file is not a folder: name another one\n',
    })
    expect(files()).toEqual(['file'])
  })
})

describe('an existing package.json', () => {
  it('keeps its order, indentation, line ends and values, and gets what it lacks', () => {
    const before = `{
\t"name": "mine",
\t"scripts": { "lint": "biome check", "start": "node ." },
\t"dependencies": { "zod": "1", "pg": "^8.0.0" },
\t"devDependencies": {
\t\t"express": "^4.0.0"
\t},
\t"files": ["dist"],
\t"license": "MIT"
}

`
    write('package.json', before.replaceAll('\n', '\r\n'))
    const { code, stdout } = init('express', 'postgres')
    expect(code).toBe(0)
    expect(stdout).toContain('The package.json there has what they need.\n')
    // Its own start is another program.
    expect(stdout).toContain('  npm install\n  npm test\n  node service.mjs\n')
    const after = `{
\t"name": "mine",
\t"scripts": {
\t\t"lint": "biome check",
\t\t"start": "node .",
\t\t"test": "node --test"
\t},
\t"dependencies": {
\t\t"zod": "1",
\t\t"pg": "^8.0.0",
\t\t"grantwell": "^${version}"
\t},
\t"devDependencies": {
\t\t"express": "^4.0.0"
\t},
\t"files": [
\t\t"dist"
\t],
\t"license": "MIT"
}

`
    expect(read('package.json')).toBe(after.replaceAll('\n', '\r\n'))
  })

  it.each([
    ['{}', '{\n  "scripts"'],
    ['{"a":1}', '{"a":1,"scripts"'],
    ['{ "__proto__": { "scripts": [] }, "toString": 1 }\n', '{"__proto__":{"scripts":[]},"toString":1,"scripts"'],
    ['\uFEFF{\n    "a": 1\n}', '\uFEFF{\n    "a": 1,\n    "scripts"'],
  ])('keeps its form: %j', (before, beginning) => {
    write('package.json', before)
    expect(init('node-http', 'memory').code).toBe(0)
    expect(read('package.json').slice(0, beginning.length)).toBe(beginning)
    expect(read('package.json').endsWith('\n')).toBe(before.endsWith('\n'))
  })

  it('is not touched if it lacks nothing', () => {
    const text = '{ "scripts": {"test":"vitest", "start":"node service.mjs"},   "peerDependencies": {"grantwell":"*"}}'
    write('package.json', text)
    const { stdout } = init('node-http', 'memory')
    expect(read('package.json')).toBe(text)
    expect(stdout).toContain('  npm install\n  node --test service.test.mjs\n  npm start\n')
  })

  it.each([
    ['', 'package.json is not JSON'],
    ['{ "name": ', 'package.json is not JSON'],
    ['[]', 'package.json must be a JSON object'],
    ['null', 'package.json must be a JSON object'],
    ['"text"', 'package.json must be a JSON object'],
    ['{ "scripts": [] }', 'scripts in package.json must be an object'],
    ['{ "dependencies": "express" }', 'dependencies in package.json must be an object'],
    [Uint8Array.of(0x7b, 0xff, 0x7d), 'package.json is not UTF-8'],
  ])('is refused, and nothing is written, where it cannot be completed: %j', (text, says) => {
    write('package.json', text)
    expect(init('node-http', 'memory')).toEqual({
      code: 2,
      stdout: '',
      stderr: `grantwell: ${says}: correct or remove it\n`,
    })
    expect(files()).toEqual(['package.json'])
    expect(readFileSync(join(folder(), 'package.json'))).toEqual(Buffer.from(text))
  })

  it('leaves no file of the service behind where it cannot be replaced', async () => {
    write('package.json', '{ "changed": "in the meantime" }')
    const before = parseManifest('package.json', Buffer.from('{}'))
    const texts = { service: 'service', test: 'test', manifest: '{}' }
    await expect(writeFolder(folder(), texts, before)).rejects.toThrow('in the meantime: run this again')
    expect(files()).toEqual(['package.json'])
    expect(read('package.json')).toBe('{ "changed": "in the meantime" }')
  })

  it('does not overwrite a file that came in the meantime, and removes what it wrote', async () => {
    write('service.test.mjs', 'mine')
    const texts = { service: 'service', test: 'test', manifest: '{}' }
    await expect(writeFolder(folder(), texts, undefined)).rejects.toThrow(
      /^nothing was written to .*: file already exists/,
    )
    expect(files()).toEqual(['service.test.mjs'])
    expect(read('service.test.mjs')).toBe('mine')
  })
})

describe('the ranges of dependencies', () => {
  it('begin with the versions that this repository is tested with', () => {
    for (const [name, range] of Object.entries(RANGES)) expect(range, name).toBe(`^${devDependencies[name]}`)
  })
})

describe.each(COMBINATIONS)('the service of %s and %s', (framework, store) => {
  const texts = [serviceText(FRAMEWORKS[framework], STORES[store]), testText(FRAMEWORKS[framework])]

  it('is valid JavaScript, short, and imports what it depends on', () => {
    const packages = [...FRAMEWORKS[framework].packages, ...STORES[store].packages]
    const dependencies = Object.keys(dependenciesOf(version, packages))
    for (const text of texts) {
      expect(() => transformSync(text, { loader: 'js', format: 'esm' })).not.toThrow()
      expect(text.split('\n').filter((line) => line.length > 120)).toEqual([])
    }
    expect(texts[0]?.split('\n').length).toBeLessThan(115)
    const imported = texts.flatMap((text) =>
      [...text.matchAll(/^import .* from '([^'.]+)'$/gm)].map(([, name = '']) => name),
    )
    const names = imported.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name)
    const used = new Set(names.filter((name) => !isBuiltin(name)))
    expect([...used].sort()).toEqual(dependencies)
  })
})

describe('a written service', () => {
  const project = mkdtempSync(join(tmpdir(), 'grantwell-init-'))
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  /** Runs Node in the project. */
  function node(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(NODE_|VITEST)/.test(name))
    return spawnSync(process.execPath, args, {
      cwd: project,
      encoding: 'utf8',
      env: { ...Object.fromEntries(inherited), PORT: '0', ...env },
      timeout: 240_000, // a service that starts where it must not would never end
    })
  }

  beforeAll(() => {
    // The library lies beside the command. Its one dependency is that of this repository.
    const packaged = join(project, 'node_modules/grantwell')
    cpSync(BUILT, join(packaged, 'dist'), { recursive: true })
    copyFileSync(join(ROOT, 'package.json'), join(packaged, 'package.json'))
    symlinkSync(join(ROOT, 'node_modules/@noble'), join(project, 'node_modules/@noble'), 'junction')
    expect(init('node-http', 'memory', project).code).toBe(0)
  })

  it('passes its test', () => {
    const { status, stdout, stderr } = node(['--test'])
    expect(status, stdout + stderr).toBe(0)
    expect(stdout).toContain('# pass 2\n')
  })

  it('writes each event as one line of JSON, without the secret', () => {
    const script = `
      const { createService, registerFirst } = await import('./service.mjs')
      const { memoryStore } = await import('grantwell/storage/memory')
      const { server } = createService({ issuer: 'http://127.0.0.1:8080', store: memoryStore() })
      console.error(await registerFirst(server))`
    const { stdout, stderr } = node(['--input-type=module', '--eval', script])
    const events: { type: string; clientId: string }[] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.length).toBeGreaterThan(0)
    for (const event of events) expect(event).toMatchObject({ type: 'application', applicationId: 'first' })
    expect(stderr).toMatch(/^gws_\S+\n$/)
    expect(stdout).not.toContain(stderr.trimEnd())
  })

  it('does not start for an issuer that is not on loopback, and says why in one line', () => {
    const { status, stdout, stderr } = node(['service.mjs'], { ISSUER: 'https://git.example' })
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'The issuer is https://git.example, and the sign-in asks for no password: replace placeholderSignIn first\n',
    })
  })
})
