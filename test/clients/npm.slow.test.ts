/**
 * Clients of npm that nobody here wrote, each as its documentation has it: they log a user in, call an API, refresh and revoke at a
 * service with the defaults of every option.
 * @module
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TYPES } from './client.js'
import { connect, getsThrough, settingOf, statusWith } from './harness.js'
import { needs } from './needs.js'
import { installClients, installedVersion, NPM_CLIENTS, startNpm, startNpmDevice } from './npm.js'
import { openService, type Service } from './service.js'

let service: Service
let withOption: Service

beforeAll(async () => {
  installClients()
  service = await openService()
  withOption = await openService({ openidConfiguration: true, clientPolicy: () => 'approve' })
})

afterAll(async () => {
  await service?.close()
  await withOption?.close()
})

describe.each(NPM_CLIENTS)('$name', (client) => {
  it('is installed in the version of the table', () => {
    expect(installedVersion(client.name)).toBe(client.version)
  })

  for (const type of TYPES) {
    if (client[type] === undefined) continue
    it(`gets through as a ${type} application`, () => getsThrough(service, client, type, startNpm(client)))
  }

  if (client.also !== 'device flow') return
  it('connects a device', async () => {
    const setting = await settingOf(service, 'public', '/callback')
    const { code, url, poll } = await startNpmDevice(client)(setting)
    await connect(setting.browser, url, code)
    expect(await statusWith(service, await poll())).toBe(200)
  })
})

needs(() => ({ service, withOption }))
