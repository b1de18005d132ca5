/**
 * Clients of npm that nobody here wrote, each as its documentation has it: they log a user in, call an API, refresh and revoke at a
 * service with the defaults of every option.
 * @module
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TYPES } from './client.js'
import { getsThrough } from './harness.js'
import { installClients, installedVersion, NPM_CLIENTS, startNpm } from './npm.js'
import { openService, type Service } from './service.js'

let service: Service

beforeAll(async () => {
  installClients()
  service = await openService()
}, 400_000)

afterAll(() => service?.close())

describe.each(NPM_CLIENTS)('$name', (client) => {
  it('is installed in the version of the table', () => {
    expect(installedVersion(client.name)).toBe(client.version)
  })

  for (const type of TYPES) {
    if (client[type] === undefined) continue
    it(`gets through as a ${type} application`, () => getsThrough(service, client, type, startNpm(client)))
  }
})
