/**
 * Every process that the package starts or is (a login in the browser, the demo, its command-line tool, the command), watched:
 * what anybody on the machine can list of them, and what is in their environment.
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../adapters/http.js'
import { hiddenFields } from '../support.js'
import { freshClone, startDemo } from './start.js'
import { CREDENTIAL, decide, startTool, tokensIn } from './tool.js'
import { Browser, locationOf, signIn } from './walk.js'

/** A process as it was started. */
interface Started {
  readonly args: readonly string[]
  readonly env: readonly string[]
}

/**
 * Loaded into every Node process, those that build too: notes itself, and each program that it starts, whatever function of
 * `node:child_process` it is started with.
 */
const WATCH = `
const { ChildProcess } = require('node:child_process')
const child = require('node:child_process')
const { writeFileSync } = require('node:fs')
const { join } = require('node:path')
let count = 0
const note = (args, env) => writeFileSync(
  join(process.env.WATCHED, process.pid + '-' + Date.now() + '-' + count++ + '.json'),
  JSON.stringify({ args, env: Object.entries(env ?? process.env).map((each) => each.join('=')) }),
)
note([...process.execArgv, ...process.argv])
const { spawn } = ChildProcess.prototype
ChildProcess.prototype.spawn = function (options) {
  note([options.file, ...(options.args ?? [])], Object.fromEntries((options.envPairs ?? []).map((each) => each.split(/=(.*)/s))))
  return spawn.call(this, options)
}
for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
  const original = child[name]
  child[name] = (...given) => {
    const [file, args, options] = given
    note([file, ...(Array.isArray(args) ? args : [])], (Array.isArray(args) ? options : args)?.env)
    return original(...given)
  }
}
require('node:module').syncBuiltinESMExports()
`

/** A tool that logs in by the browser, with the opener of the platform. */
const TOOL = `
import { writeFileSync } from 'node:fs'
import { discover } from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
const client = await discover({ issuer: process.argv[2], clientId: 'demo-cli' })
const tokens = await loginByBrowser(client)
writeFileSync(process.argv[3], JSON.stringify(tokens), { mode: 0o600 })
`

const environment = { ...process.env }
let clone: ReturnType<typeof freshClone>
let watched: string

beforeAll(() => {
  clone = freshClone()
  watched = join(clone.path, 'watched')
  for (const name of ['watched', 'bin', 'home', 'config']) mkdirSync(join(clone.path, name))
  writeFileSync(join(clone.path, 'watch.cjs'), WATCH)
  writeFileSync(join(clone.path, 'tool.mjs'), TOOL)
  const opened = join(clone.path, 'opened')
  writeFileSync(
    join(clone.path, 'bin/xdg-open'),
    `#!/bin/sh\nprintf '%s' "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
  )
  chmodSync(join(clone.path, 'bin/xdg-open'), 0o755)
  Object.assign(process.env, {
    NODE_OPTIONS: `--require ${join(clone.path, 'watch.cjs')}`,
    WATCHED: watched,
    HOME: join(clone.path, 'home'),
    PATH: `${join(clone.path, 'bin')}${delimiter}${process.env['PATH']}`,
  })
})
afterAll(() => {
  for (const name of ['NODE_OPTIONS', 'WATCHED', 'HOME', 'PATH']) {
    if (environment[name] === undefined) Reflect.deleteProperty(process.env, name)
    else process.env[name] = environment[name]
  }
  clone?.remove()
})

const started = (): readonly Started[] =>
  readdirSync(watched).map((name): Started => JSON.parse(readFileSync(join(watched, name), 'utf8'))) // as WATCH writes it

/** Runs a file of Node to its end. */
async function run(...parameters: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'], cwd: clone.path })
  child.stdout.resume()
  expect(await once(child, 'close')).toEqual([0, null])
}

/** Elsewhere the opener of the platform has a path of its own. */
const byPath = process.platform !== 'win32' && process.platform !== 'darwin'

describe.runIf(byPath)('every process that the package starts', () => {
  it('has nothing of a login, and no secret, in its arguments and its environment', async () => {
    const secrets = new Map<string, string>()
    const keep = (name: string, value: string | number | null | undefined): void => {
      const text = String(value ?? expect.fail(name))
      secrets.set(name, text)
    }
    const demo = await startDemo(clone.path)
    try {
      keep('secret of the demo application', demo.client_secret)

      const device = startTool(clone.path, ['--issuer', demo.issuer, '--no-qr'], join(clone.path, 'config'))
      const code = await device.code()
      keep('user code', code)
      await decide(demo, code, 'agree')
      expect(await device.end()).toMatchObject({ code: 0 })
      const kept = tokensIn(join(clone.path, 'config/grantwell-demo/tokens.json'))
      keep('access token of the tool', kept['accessToken'])
      keep('refresh token of the tool', kept['refreshToken'])

      const file = join(clone.path, 'tokens.json')
      const login = run('tool.mjs', demo.issuer, file)
      const opened = join(clone.path, 'opened')
      await eventually(() => existsSync(opened))
      const page = readFileSync(fileURLToPath(readFileSync(opened, 'utf8')), 'utf8')
      const [, address = ''] = /content="0;url=([^"]*)"/.exec(page) ?? []
      const url = new URL(address.replace(/&#(\d+);/g, (_, one) => String.fromCharCode(Number(one))))
      for (const name of ['state', 'code_challenge']) keep(name, url.searchParams.get(name))
      const browser = new Browser()
      await signIn(browser, demo)
      const consent = hiddenFields(await (await browser.get(url.href)).text())
      const form = { ...consent, resource_scope: 'all', decision: 'agree' }
      const back = locationOf(await browser.post(`${demo.issuer}/oauth2/auth`, form))
      keep('code', back.searchParams.get('code'))
      await fetch(back)
      await login
      const tokens = tokensIn(file)
      keep('access token', tokens['accessToken'])
      keep('refresh token', tokens['refreshToken'])

      const record = join(clone.path, 'METADATA')
      writeFileSync(record, 'name: "a"\n')
      await run('dist/bin/grantwell.cjs', 'metadata', 'show', record)
    } finally {
      await demo.end()
    }

    const all = started()
    const named = (name: string): number => all.filter(({ args }) => args.some((each) => each.endsWith(name))).length
    // So that what is not found would be found.
    for (const name of ['start.mjs', 'login.mjs', 'tool.mjs', 'grantwell.cjs', 'xdg-open', 'tsup/dist/cli-default.js'])
      expect([name, named(name)]).toEqual([name, expect.toSatisfy((count: number) => count > 0)])
    for (const { args, env } of all) {
      const text = [...args, ...env].join('\n')
      for (const [name, secret] of secrets)
        for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
          expect([name, args, text.includes(form)]).toEqual([name, args, false])
      expect(text).not.toMatch(CREDENTIAL)
      expect(args.join('\n')).not.toMatch(/[?&](?:state|code|code_challenge|access_token)=/)
    }
  })
})
