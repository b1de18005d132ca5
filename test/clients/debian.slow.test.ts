/**
 * Clients of Debian 12, each as its documentation has it: they log a user in, call an API, refresh and revoke at a service with the
 * defaults of every option.
 * @module
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeWith } from '../engines/available.js'
import { TYPES } from './client.js'
import {
  CLI_OAUTH,
  CURL,
  commandOf,
  DEBIAN_CLIENTS,
  debianVersion,
  engineOf,
  GIT_CREDENTIAL_OAUTH,
  GO_DEVICE_FLOW,
  IS_DEBIAN_12,
  speak,
  startDebian,
} from './debian.js'
import { connect, getsThrough, settingOf, statusWith } from './harness.js'
import { openService, type Service } from './service.js'

let service: Service

beforeAll(async () => {
  service = await openService()
})

afterAll(() => service?.close())

for (const client of DEBIAN_CLIENTS) {
  describeWith(describe, engineOf(client), client.name, () => {
    it.skipIf(!IS_DEBIAN_12)('is installed in the version of the table', () => {
      expect(debianVersion(client)).toBe(client.version)
    })

    for (const type of TYPES) {
      if (client[type] === undefined) continue
      it(`gets through as a ${type} application`, async () => {
        const isExact = debianVersion(client) === client.version
        await getsThrough(service, client, type, startDebian(client), isExact)
      })
    }
  })
}

describeWith(describe, engineOf(CLI_OAUTH), CLI_OAUTH.name, () => {
  let command: ReturnType<typeof commandOf>

  beforeAll(() => {
    command = commandOf(CLI_OAUTH)
  })

  afterAll(() => command?.remove?.())

  /** Runs a flow of the library. */
  async function run(flow: 'device' | 'web') {
    const { browser, ...setting } = await settingOf(service, flow === 'device' ? 'public' : 'confidential', '/callback')
    return { browser, talk: speak(command.program, [flow, JSON.stringify(setting)]) }
  }

  it.skipIf(!IS_DEBIAN_12)('is installed in the version of the table', () => {
    expect(debianVersion(CLI_OAUTH)).toBe(CLI_OAUTH.version)
  })

  it('connects a device', async () => {
    const { browser, talk } = await run('device')
    const { code, url } = await talk.hear()
    await connect(browser, url, code)
    const tokens = await talk.hear()
    expect(tokens).toMatchObject({ type: 'bearer' })
    expect(await statusWith(service, tokens)).toBe(200)
  })

  it('does not get through by its web flow, whose requests are those of GitHub: they have no response_type', async () => {
    const { browser, talk } = await run('web')
    const { url } = await talk.hear()
    const page = await browser.get(url)
    expect(new URL(url).searchParams.has('response_type')).toBe(false)
    expect(new URL(page.headers.get('location') ?? 'none:').searchParams.get('error')).toBe('invalid_request')
    talk.end()
  })
})

describeWith(describe, engineOf(GO_DEVICE_FLOW), 'golang.org/x/oauth2 by its device flow', () => {
  it('connects a device', async () => {
    const { program, args, remove } = commandOf(GO_DEVICE_FLOW)
    try {
      const { browser, ...setting } = await settingOf(service, 'public', '/callback')
      const talk = speak(program, [...args, JSON.stringify(setting)])
      const { code, url } = await talk.hear()
      await connect(browser, url, code)
      const tokens = await talk.hear()
      expect(tokens).toMatchObject({ type: 'Bearer' })
      expect(await statusWith(service, tokens)).toBe(200)
    } finally {
      remove?.()
    }
  })
})

for (const client of [GIT_CREDENTIAL_OAUTH, CURL]) {
  // Their own tests are elsewhere, and say so where they are missing.
  const isHere = IS_DEBIAN_12 && engineOf(client).directory !== undefined
  it.skipIf(!isHere)(`${client.name} is installed in the version of the table`, () => {
    expect(debianVersion(client)).toBe(client.version)
  })
}
