/**
 * The default way to open the user's browser: the opener of the platform.
 * @module
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Client, discover } from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { writeLoginPage } from '../../src/client/node/login-page.js'
import { opener } from '../../src/client/node/open-browser.js'
import { eventually } from '../adapters/http.js'
import { BROWSER_ARGUMENTS, findChromium, openPage } from '../browser/chromium.js'
import { NATIVE } from '../support.js'
import { always, consent, openService, type Service, thrownBy, visit } from './service.js'

describe('the opener of each platform', () => {
  it('is a program that gets the address as it is, without a shell', () => {
    expect(opener('linux', {})).toEqual(['xdg-open'])
    expect(opener('freebsd', {})).toEqual(['xdg-open'])
    expect(opener('darwin', {})).toEqual(['/usr/bin/open'])
    const windows = ['D:\\Win\\System32\\rundll32.exe', 'url.dll,FileProtocolHandler']
    expect(opener('win32', { SystemRoot: 'D:\\Win' })).toEqual(windows)
    expect(opener('win32', {})[0]).toBe('C:\\Windows\\System32\\rundll32.exe')
  })
})

const { PATH, HOME, TMPDIR } = process.env
let service: Service
let client: Client
let folder: string
let home: string

beforeAll(async () => {
  service = await openService()
  client = await discover({ issuer: service.issuer, ...NATIVE })
})
afterAll(() => service.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'grantwell-opener-'))
  home = join(folder, 'ada & <"\'> home')
  mkdirSync(home)
  process.env['HOME'] = home
})
afterEach(() => {
  Object.assign(process.env, { PATH, HOME })
  if (TMPDIR === undefined) Reflect.deleteProperty(process.env, 'TMPDIR')
  else process.env['TMPDIR'] = TMPDIR
  rmSync(folder, { recursive: true })
})

/** Notes of an opener while it ran. */
interface Noted {
  readonly parameters: readonly string[]
  readonly process: number
  /** Command lines of all processes of the machine. */
  readonly list: string
  /** Its own environment and command line, as the system has them. */
  readonly own: string
}

/**
 * Installs an opener that notes what it was given, looks at the list of processes as any user of the machine could, and then
 * does something.
 * @returns what it noted, once it has
 */
function install(script: string): () => Promise<Noted> {
  const file = join(folder, 'xdg-open')
  const noted = join(folder, 'noted')
  const looks = [
    `printf '%s\\n' $$ "$@" > '${noted}.parameters'`,
    `{ ps -A -ww -o args= || cat /proc/[0-9]*/cmdline | tr '\\0' ' '; } > '${noted}.list'`,
    `cat /proc/$$/environ /proc/$$/cmdline > '${noted}.own' 2>&1`,
    `: > '${noted}'`,
  ]
  writeFileSync(file, `#!/bin/sh\n${looks.join('\n')}\n${script}\n`)
  chmodSync(file, 0o755)
  process.env['PATH'] = `${folder}${delimiter}${PATH}`
  return async () => {
    await eventually(() => existsSync(noted))
    const [pid, ...parameters] = readFileSync(`${noted}.parameters`, 'utf8').trimEnd().split('\n')
    const [list, own] = ['list', 'own'].map((each) => readFileSync(`${noted}.${each}`, 'utf8'))
    return { parameters, process: Number(pid), list: list ?? '', own: own ?? '' }
  }
}

/** Builds a module for a process of its own; returns its path. */
async function builtAs(name: string, contents: string): Promise<string> {
  const outfile = join(folder, name)
  const stdin = { contents, resolveDir: fileURLToPath(new URL('../..', import.meta.url)), loader: 'js' } as const
  await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' })
  return outfile
}

/** Returns the address to which a page forwards. */
function refreshOf(html: string): string {
  const [, content = ''] = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(html) ?? []
  return content.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
}

/** Folders of logins that there are. */
const leftIn = (place: string): string[] => readdirSync(place).filter((name) => name.startsWith('grantwell-login-'))

/** Elsewhere the opener has a path of its own. */
const byPath = process.platform !== 'win32' && process.platform !== 'darwin'

describe.runIf(byPath)('a login', () => {
  it.each(['exit 0', 'exec sleep 1000'])(
    'gives it one page of this machine, for its owner alone (%s)',
    async (script) => {
      const noted = install(script)
      const result = loginByBrowser(client)
      const { parameters, process: pid } = await noted()
      try {
        expect(parameters).toEqual([expect.stringMatching(/^file:\/\/\/[\w\-./%&'~]+\/login\.html$/)])
        const file = fileURLToPath(parameters[0] ?? '')
        expect(dirname(dirname(file))).toBe(home)
        expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700])
        // Another user of this machine, where the tests may become one.
        const { status, stdout } =
          process.getuid?.() === 0
            ? spawnSync('cat', [file], { uid: 65_534, gid: 65_534, encoding: 'utf8' })
            : { status: 1, stdout: '' }
        expect([status, stdout]).toEqual([1, ''])
        const url = refreshOf(readFileSync(file, 'utf8'))
        expect(url).toMatch(/^http:.*&state=/)
        await visit(await consent(url))
        expect((await result).accessToken).toMatch(/^gwa_/)
        expect(leftIn(home)).toEqual([])
      } finally {
        if (script !== 'exit 0') process.kill(pid)
      }
    },
  )

  it('shows nothing of it in the list of processes, nor in an environment', async () => {
    const noted = install('exit 0')
    const result = loginByBrowser(client, { scope: 'repo-code:r' })
    const { parameters, list, own } = await noted()
    const url = new URL(refreshOf(readFileSync(fileURLToPath(parameters[0] ?? ''), 'utf8')))
    // So that what is not found would be found: the opener itself is in the list, with its argument.
    expect(list).toContain(`${join(folder, 'xdg-open')} ${parameters[0]}`)
    expect(own).toContain(parameters[0])
    const secrets = ['state', 'code_challenge', 'redirect_uri'].map(
      (name) => url.searchParams.get(name) ?? expect.fail(),
    )
    for (const secret of [...secrets, ...secrets.map(encodeURIComponent), url.search, url.pathname])
      for (const text of [list, own]) expect(text.includes(secret)).toBe(false)
    const back = await consent(url.href)
    await visit(back)
    await result
  })

  it('leads a browser on to an address with every character in it, as text', async () => {
    const page = await writeLoginPage("https://git.example/a'b?x=\"><script>&amp;#\u00e9 '")
    const html = readFileSync(fileURLToPath(page.address), 'utf8')
    expect(html).not.toMatch(/<script|&amp;/)
    expect(refreshOf(html)).toBe("https://git.example/a'b?x=\"><script>&amp;#\u00e9 '")
    await page.remove()
    expect(leftIn(home)).toEqual([])
  })

  it('removes the page where it is ended, where its time is over, and where the process ends', async () => {
    const noted = install('exit 0')
    const controller = new AbortController()
    const result = loginByBrowser(client, { signal: controller.signal })
    const { parameters } = await noted()
    expect(existsSync(fileURLToPath(parameters[0] ?? ''))).toBe(true)
    controller.abort(new Error('enough'))
    await thrownBy(result)
    expect(leftIn(home)).toEqual([])
    await thrownBy(loginByBrowser(client, { timeout: 0.01 }))
    expect(leftIn(home)).toEqual([])

    const contents = `
      import { writeLoginPage } from './src/client/node/login-page.ts'
      const { address } = await writeLoginPage('https://git.example/')
      process.stdout.write(address)
      process.exit(7)`
    const resolveDir = fileURLToPath(new URL('../..', import.meta.url))
    const outfile = join(folder, 'ends.mjs')
    const stdin = { contents, resolveDir, loader: 'js' } as const
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' })
    const { stdout, status } = spawnSync(process.execPath, [outfile], { encoding: 'utf8' })
    expect([status, existsSync(fileURLToPath(stdout)), leftIn(home)]).toEqual([7, false, []])
  })

  it('has the page elsewhere where nothing can be written to the home folder', async () => {
    const other = join(folder, 'temporary')
    mkdirSync(other)
    process.env['TMPDIR'] = other
    for (const nowhere of ['/dev/null/home', '', 'relative']) {
      process.env['HOME'] = nowhere
      const page = await writeLoginPage('https://git.example/')
      expect(leftIn(other)).toHaveLength(1)
      await page.remove()
      expect(leftIn(other)).toEqual([])
    }
    process.env['TMPDIR'] = '/dev/null/temporary'
    install('exit 0')
    const error = await thrownBy(loginByBrowser(client))
    expect(error).toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(String(error)).toMatch(/could not be written.*onUrl.*openBrowser/)
  })

  it.runIf(process.getuid?.() === 0)('is written where the user has no home folder, nor a name', async () => {
    const other = join(folder, 'temporary')
    mkdirSync(other, { mode: 0o777 })
    for (const each of [folder, other]) chmodSync(each, 0o777)
    const module = await builtAs('page.mjs', `export { writeLoginPage } from './src/client/node/login-page.ts'`)
    const script = `import { writeLoginPage } from ${JSON.stringify(module)}
      import { homedir } from 'node:os'
      try { homedir(); throw 'a home' } catch (error) { if (error.syscall !== 'uv_os_homedir') throw error }
      const page = await writeLoginPage('https://git.example/')
      console.log(page.address)
      await page.remove()`
    const { HOME: _, ...env } = process.env
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      uid: 54_321,
      gid: 54_321,
      env: { ...env, TMPDIR: other },
      cwd: '/',
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(run.stdout).toMatch(/temporary\/grantwell-login-[\w-]+\/login\.html\n$/)
    expect(leftIn(other)).toEqual([])
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGKILL'] as const)(
    'ends by %s as by default, and leaves nothing of worth, which the next login clears away',
    async (signal) => {
      const noted = install('exec sleep 1000')
      const contents = `
        import { discover } from './src/client/index.ts'
        import { loginByBrowser } from './src/client/node/index.ts'
        const [issuer, clientId] = process.argv.slice(2)
        await loginByBrowser(await discover({ issuer, clientId }))`
      const file = await builtAs('login.mjs', contents)
      const child = spawn(process.execPath, [file, service.issuer, NATIVE.clientId], { stdio: 'inherit' })
      const closed = once(child, 'close')
      const { process: pid } = await noted()
      const [left = ''] = leftIn(home)
      child.kill(signal)
      expect(await closed).toEqual([null, signal])
      process.kill(pid)

      expect(leftIn(home)).toEqual([left])
      const page = join(home, left, 'login.html')
      expect([statSync(page).mode & 0o777, statSync(dirname(page)).mode & 0o777]).toEqual([0o600, 0o700])
      const { searchParams, origin } = new URL(refreshOf(readFileSync(page, 'utf8')))
      expect(origin).toBe(service.issuer)
      expect([...searchParams.keys()].sort()).toEqual([
        'client_id',
        'code_challenge',
        'code_challenge_method',
        'redirect_uri',
        'response_type',
        'state',
      ])
      const next = await writeLoginPage('https://git.example/')
      expect(leftIn(home)).toEqual([basename(dirname(fileURLToPath(next.address)))])
      // One that is in use stays.
      await (await writeLoginPage('https://git.example/')).remove()
      expect(leftIn(home)).toHaveLength(1)
      await next.remove()
    },
  )

  /** Of another machine, so that nobody can tell whether its process has ended. */
  const NAME = `grantwell-login-${'0'.repeat(16)}-4194305-`
  const DAYS = 2

  /** Makes what may have been left behind. */
  function leave(name: string, files: Readonly<Record<string, string>>, days = DAYS, mode = 0o700, fileMode = 0o600) {
    const path = join(home, name)
    mkdirSync(path)
    for (const [file, text] of Object.entries(files)) {
      writeFileSync(join(path, file), text)
      chmodSync(join(path, file), fileMode)
    }
    chmodSync(path, mode)
    const then = new Date(Date.now() - days * 86_400_000)
    utimesSync(path, then, then)
  }

  /** The text of a page that was written here. */
  async function pageText(): Promise<string> {
    const page = await writeLoginPage('https://git.example/')
    const text = readFileSync(fileURLToPath(page.address), 'utf8')
    await page.remove()
    return text
  }

  it('clears away what killed processes have left behind, and no link', async () => {
    const text = await pageText()
    leave(`${NAME}aaaaaa`, { 'login.html': text })
    leave(`${NAME}half00`, { 'login.html': text.slice(0, 100) })
    leave(`${NAME}begun0`, { 'login.html': '' })
    leave(`${NAME}empty0`, {})
    leave(`${NAME}young0`, { 'login.html': text }, 0.5)
    leave('other', { 'login.html': text })
    symlinkSync(join(home, 'other'), join(home, `${NAME}linked`))
    writeFileSync(join(home, `${NAME}file00`), 'text')
    await (await writeLoginPage('https://git.example/')).remove()
    expect(leftIn(home).sort()).toEqual(['file00', 'linked', 'young0'].map((name) => NAME + name))
    expect(readdirSync(join(home, 'other'))).toEqual(['login.html'])
  })

  it.each<[string, string, Readonly<Record<string, string>> | undefined, number?, number?]>([
    ['a name that somebody has chosen', 'grantwell-login-server', undefined],
    ['a name of another form', `grantwell-login-${'0'.repeat(16)}-4194305-server1`, undefined],
    ['a name with no process', `grantwell-login-${'0'.repeat(16)}-0-aaaaaa`, undefined],
    ['another text', `${NAME}aaaaaa`, { 'login.html': '<h1>My own work</h1>' }],
    ['a text that begins alike', `${NAME}aaaaaa`, { 'login.html': '<!doctype html>\n<html lang="en">\n<h1>Mine</h1>' }],
    ['another file', `${NAME}aaaaaa`, { 'index.html': '' }],
    ['a folder that others can look into', `${NAME}aaaaaa`, undefined, 0o755],
    ['a page that others can read', `${NAME}aaaaaa`, undefined, 0o700, 0o644],
  ])('leaves alone what it has not made: %s', async (_, name, files, mode, fileMode) => {
    const own = files ?? { 'login.html': await pageText() }
    leave(name, own, DAYS, mode, fileMode)
    await (await writeLoginPage('https://git.example/')).remove()
    expect(leftIn(home)).toEqual([name])
    expect(readdirSync(join(home, name))).toEqual(Object.keys(own))
  })

  it('leaves a folder alone that has more in it than the page', async () => {
    leave(`${NAME}thesis`, { 'login.html': await pageText(), 'thesis.txt': '' })
    await (await writeLoginPage('https://git.example/')).remove()
    expect(readdirSync(join(home, `${NAME}thesis`))).toEqual(['login.html', 'thesis.txt'])
  })

  it.each(['exit 3', 'kill $$'])('says how else it could go where the opener fails (%s)', async (script) => {
    install(script)
    const error = await thrownBy(loginByBrowser(client))
    expect(error).toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(String(error)).toMatch(/no browser could be opened \(xdg-open failed\).*onUrl.*openBrowser/)
    expect(leftIn(home)).toEqual([])
  })

  it('says so too where there is none', async () => {
    process.env['PATH'] = folder
    const error = await thrownBy(loginByBrowser(client))
    expect(error).toMatchObject({ code: 'ERR_CONFIGURATION', cause: { code: 'ENOENT' } })
    expect(leftIn(home)).toEqual([])
  })

  it('goes on where there is none but the user has the address', async () => {
    process.env['PATH'] = folder
    const onUrl = (url: string): void => void setTimeout(async () => visit(await consent(url)), 50)
    expect((await loginByBrowser(client, { onUrl })).accessToken).toMatch(/^gwa_/)
  })

  it('gives an opener of the application the address itself, and writes no page', async () => {
    const urls: string[] = []
    const openBrowser = async (url: string): Promise<void> => {
      urls.push(url)
      expect(leftIn(home)).toEqual([])
      await visit(await consent(url))
    }
    expect((await loginByBrowser(client, { openBrowser })).accessToken).toMatch(/^gwa_/)
    expect(urls).toEqual([expect.stringMatching(/^http:.*&state=/)])
  })
})

const executablePath = findChromium()

describe.skipIf(executablePath === undefined || !byPath)('in Chromium', () => {
  it('the page goes on to the login by itself, and no script runs', async () => {
    const noted = install('exit 0')
    const browser = await chromium.launch({ executablePath: executablePath ?? '', args: BROWSER_ARGUMENTS })
    try {
      const { page } = await openPage(browser)
      always(service, '/favicon.ico', (_, response) => Boolean(response.writeHead(204).end()))
      const result = loginByBrowser(client, { scope: 'repo-code:r' })
      const { parameters } = await noted()
      await page.goto(parameters[0] ?? '')
      await page.getByRole('button', { name: 'Agree', exact: true }).click()
      expect((await result).scope).toBe('repo-code:r')
    } finally {
      await browser.close()
    }
  })
})
