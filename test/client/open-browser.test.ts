/**
 * How a login opens the user's browser where the application does not: by the opener of the platform.
 * @module
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Client, discover } from 'grantwell/client'
import { loginByBrowser } from 'grantwell/client/node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { opener } from '../../src/client/node/open-browser.js'
import { eventually } from '../adapters/http.js'
import { NATIVE } from '../support.js'
import { consent, openService, type Service, thrownBy, visit } from './service.js'

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

const { PATH } = process.env
let service: Service
let client: Client
let folder: string

beforeAll(async () => {
  service = await openService()
  client = await discover({ issuer: service.issuer, ...NATIVE })
})
afterAll(() => service.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'grantwell-opener-'))
})
afterEach(() => {
  process.env['PATH'] = PATH
  rmSync(folder, { recursive: true })
})

/** An opener that notes what it was given, and its process, and then does something. Where it notes that. */
function install(script: string): string {
  const file = join(folder, 'xdg-open')
  const noted = join(folder, 'noted')
  writeFileSync(
    file,
    `#!/bin/sh\nprintf '%s\\n' "$#" "$1" $$ > '${noted}.part' && mv '${noted}.part' '${noted}'\n${script}\n`,
  )
  chmodSync(file, 0o755)
  process.env['PATH'] = `${folder}${delimiter}${PATH}`
  return noted
}

/** Elsewhere the opener has a path of its own. */
const byPath = process.platform !== 'win32' && process.platform !== 'darwin'

describe.runIf(byPath)('a login', () => {
  it.each(['exit 0', 'exec sleep 1000'])('gives it the address as one argument (%s)', async (script) => {
    const noted = install(script)
    const result = loginByBrowser(client)
    await eventually(() => existsSync(noted))
    const [count, url = '', process_ = ''] = readFileSync(noted, 'utf8').split('\n')
    try {
      expect(count).toBe('1')
      expect(url).toMatch(/^http:.*&state=/)
      await visit(await consent(url))
      expect((await result).accessToken).toMatch(/^gwa_/)
    } finally {
      if (script !== 'exit 0') process.kill(Number(process_))
    }
  })

  it.each(['exit 3', 'kill $$'])('says how else it could go where the opener fails (%s)', async (script) => {
    install(script)
    const error = await thrownBy(loginByBrowser(client))
    expect(error).toMatchObject({ code: 'ERR_CONFIGURATION' })
    expect(String(error)).toMatch(/no browser could be opened \(xdg-open failed\).*onUrl.*openBrowser/)
  })

  it('says so too where there is none', async () => {
    process.env['PATH'] = folder
    const error = await thrownBy(loginByBrowser(client))
    expect(error).toMatchObject({ code: 'ERR_CONFIGURATION', cause: { code: 'ENOENT' } })
  })

  it('goes on where there is none but the user has the address', async () => {
    process.env['PATH'] = folder
    const onUrl = (url: string): void => void setTimeout(async () => visit(await consent(url)), 50)
    expect((await loginByBrowser(client, { onUrl })).accessToken).toMatch(/^gwa_/)
  })
})
