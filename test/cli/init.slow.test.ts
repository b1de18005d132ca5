/**
 * The services that `grantwell init` writes, all of them, with the package as it is packed: each passes its test and the type
 * checker, each store is started for real, and the questions are answered on a terminal.
 * @module
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FRAMEWORK_NAMES } from '../../src/cli/init/frameworks.js'
import { STORE_NAMES } from '../../src/cli/init/stores.js'
import { describeWith, postgresql, redis } from '../engines/available.js'
import { startPostgres } from '../engines/postgres.js'
import { freePort } from '../engines/process.js'
import { startRedis } from '../engines/redis.js'
import type { Project } from '../package/project.js'
import { installPackage, ROOT, start } from '../package/project.js'

const COMBINATIONS = FRAMEWORK_NAMES.flatMap((framework) => STORE_NAMES.map((store) => [framework, store] as const))

let project: Project
beforeAll(async () => {
  project = await installPackage()
  linkPackages('')
  linkPackages('@hono')
  linkPackages('@types')
  for (const [framework, store] of COMBINATIONS)
    project.npx('grantwell', 'init', `${framework}-${store}`, '--framework', framework, '--store', store)
})
afterAll(() => project?.remove())

/** Links packages of this repository into the project: those of a scope, or those without one. */
function linkPackages(scope: string): void {
  const [from, to] = [join(ROOT, 'node_modules', scope), join(project.directory, 'node_modules', scope)]
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from))
    if (!/^[.@]/.test(name) && !existsSync(join(to, name))) symlinkSync(join(from, name), join(to, name), 'junction')
}

describe.each(COMBINATIONS)('the service of %s and %s', (framework, store) => {
  it('passes its test', () => {
    const output = project.run(`${framework}-${store}/service.test.mjs`, { args: ['--test'] })
    expect(output).toContain('# pass 2\n')
  })
})

describe('all services', () => {
  it('satisfy the type checker', () => {
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2023'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      skipLibCheck: true,
      allowJs: true,
      checkJs: true,
      noEmit: true,
      // A package that is linked finds its types beside the link.
      preserveSymlinks: true,
      types: ['node'],
    }
    const folders = COMBINATIONS.map((names) => `${names.join('-')}/*.mjs`)
    project.write('tsconfig.json', JSON.stringify({ compilerOptions, include: folders }))
    project.run(join(ROOT, 'node_modules/typescript/bin/tsc'), { args: ['--preserve-symlinks'] })
  })

  it('are formatted', () => {
    const config = JSON.parse(readFileSync(join(ROOT, 'biome.json'), 'utf8'))
    project.write('biome.json', JSON.stringify({ formatter: config.formatter, javascript: config.javascript }))
    const folders = COMBINATIONS.flatMap((names) => [
      `${names.join('-')}/service.mjs`,
      `${names.join('-')}/service.test.mjs`,
    ])
    const biome = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
    const { status, stdout, stderr } = spawnSync(process.execPath, [biome, 'check', ...folders], {
      cwd: project.directory,
      encoding: 'utf8',
    })
    expect(status, stdout + stderr).toBe(0)
  })
})

/** Starts a service, looks at what it answers, starts it anew, and stops it. */
async function expectStart(service: string, env: Record<string, string>, keeps: boolean): Promise<void> {
  const issuer = `http://127.0.0.1:${await freePort()}`
  const file = join(service, 'service.mjs')
  const isUp = async (output: string): Promise<boolean> => output.includes(`listening at ${issuer}\n`)
  for (const isFirst of [true, false]) {
    const running = await start(project, file, { ...env, ISSUER: issuer, PORT: new URL(issuer).port }, isUp)
    try {
      const metadata = await fetch(`${issuer}/.well-known/oauth-authorization-server`)
      expect([metadata.status, await metadata.json()]).toEqual([200, expect.objectContaining({ issuer })])
      expect((await fetch(`${issuer}/oauth2/token`, { method: 'POST' })).status).toBe(400)
      expect((await fetch(`${issuer}/api/profile`)).status).toBe(401)
      const page = await fetch(`${issuer}/sign-in?return_to=x`)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/html/)])
      const signIn = (name: string) =>
        fetch(`${issuer}/sign-in?return_to=x`, {
          method: 'POST',
          body: new URLSearchParams({ name }),
          redirect: 'manual',
        })
      const signedIn = await signIn('ada')
      expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, `${issuer}/x`])
      expect(signedIn.headers.get('set-cookie')).toMatch(/^session=[\w-]{36}; Path=\/; HttpOnly; SameSite=Lax$/)
      expect((await signIn('a'.repeat(2000))).status).toBe(413)
      // The secret is shown once, unless the store forgets the application.
      const shown = /^client_id: first\nclient_secret: gws_\S+\n/m.test(running.output())
      expect(shown, running.output()).toBe(isFirst || !keeps)
      const events = running.output().match(/^\{"type":.*\}$/gm) ?? []
      expect(events.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ type: 'refused', endpoint: 'token' }),
      )
    } finally {
      await running.stop()
    }
  }
}

describe('a service with its store', () => {
  it('starts with memory', () => expectStart('node-http-memory', {}, false))

  it('starts with SQLite', async () => {
    const file = join(mkdtempSync(join(project.directory, 'sqlite-')), 'grants.db')
    await expectStart('hono-sqlite', { DATABASE: file }, true)
    expect(existsSync(file)).toBe(true)
  })

  it('says in one line what it lacks, and ends', async () => {
    const port = String(await freePort())
    const env = { DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres` }
    const file = join('express-postgres', 'service.mjs')
    const failed = start(project, file, env, async () => false)
    await expect(failed).rejects.toThrow(/did not come up:\ngrantwell: PostgreSQL failed: connect ECONNREFUSED \S+\n$/)
  })
})

describeWith(describe, postgresql, 'a service with PostgreSQL', () => {
  it('starts', async () => {
    const engine = await startPostgres()
    try {
      const { user, host, port, database } = engine.connection
      await expectStart('express-postgres', { DATABASE_URL: `postgres://${user}@${host}:${port}/${database}` }, true)
    } finally {
      await engine.remove()
    }
  })
})

describeWith(describe, redis, 'a service with Redis', () => {
  it('starts', async () => {
    const engine = await startRedis()
    try {
      await expectStart('fastify-redis', { REDIS_URL: `redis://${engine.host}:${engine.port}` }, true)
    } finally {
      await engine.remove()
    }
  })
})

/** The program that lends a terminal to another, of util-linux. */
const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
const title = hasTerminal ? 'the questions' : 'the questions (not run: `script` of util-linux is not on this machine)'

describe.runIf(hasTerminal)(title, () => {
  const [DOWN, ENTER, CTRL_C] = ['\u001b[B', '\r', '\u0003']

  /** Runs `grantwell init` on a terminal, and presses keys when each question is there. */
  async function answer(args: string, keys: readonly (readonly [question: string, keys: readonly string[]])[]) {
    const directory = mkdtempSync(join(project.directory, 'asked-'))
    const bin = join(project.installed, 'dist/bin/grantwell.cjs')
    const command = `stty cols 100; '${process.execPath}' '${bin}' init ${args}`
    const env = { PATH: process.env['PATH'] ?? dirname(process.execPath), TERM: 'xterm' }
    // A question that nobody expected would wait for ever.
    const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: directory, env, timeout: 300_000 })
    const rest = keys.flatMap(([question, presses]) => presses.map((key) => ({ question, key })))
    let output = ''
    let seen = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const [next] = rest
      // Each key changes what is drawn, so the next one waits for that.
      if (next === undefined || !output.includes(next.question) || output.length === seen) return
      seen = output.length
      rest.shift()
      child.stdin.write(next.key)
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    return { code, output, files: readdirSync(directory).sort(), directory }
  }

  const FRAMEWORK = 'Which framework'
  const STORE = 'Where does it keep'

  it('make the service that was chosen', async () => {
    const keys = [[FRAMEWORK, [DOWN, ENTER]] as const, [STORE, [DOWN, DOWN, ENTER]] as const]
    const { code, output, files, directory } = await answer('', keys)
    expect({ code, files }, output).toEqual({ code: 0, files: ['package.json', 'service.mjs', 'service.test.mjs'] })
    const written = readFileSync(join(directory, 'service.mjs'), 'utf8')
    expect(written).toBe(readFileSync(join(project.directory, 'express-postgres/service.mjs'), 'utf8'))
  })

  it('are those alone that no option answers', async () => {
    const { code, output, files } = await answer('there --store redis', [[FRAMEWORK, [ENTER]]])
    expect({ code, files }, output).toEqual({ code: 0, files: ['there'] })
    expect(output).not.toContain(STORE)
  })

  it('write nothing after Ctrl-C, at the first and at the second', async () => {
    for (const keys of [
      [[FRAMEWORK, [CTRL_C]] as const],
      [[FRAMEWORK, [ENTER]] as const, [STORE, [CTRL_C]] as const],
    ]) {
      const { code, output, files } = await answer('', keys)
      expect({ code, files }, output).toEqual({ code: 130, files: [] })
    }
  })

  it('are not asked where a file is in the way', async () => {
    const taken = join(project.directory, 'express-postgres')
    const { code, output } = await answer(`'${taken}'`, [])
    expect(code).toBe(2)
    expect(output).toContain('service.mjs and service.test.mjs are in ')
    expect(output).not.toContain(FRAMEWORK)
  })
})
