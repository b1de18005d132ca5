/**
 * Random histories of grants through the fetch adapter, held against the model of the specification.
 * @module
 * @see Specification, section 3
 */
import { createFetchHandler } from 'grantwell/fetch'
import { memoryStore } from 'grantwell/storage/memory'
import type { LifecycleWiring } from 'grantwell/testing'
import { lifecycle as runLifecycle, virtualClock, wire } from 'grantwell/testing'
import type { Suite } from './case.js'
import { SEED } from './case.js'

/** A server behind the fetch adapter, over the memory store. */
async function overFetch(): Promise<LifecycleWiring> {
  const clock = virtualClock()
  const wired = await wire({ store: memoryStore({ clock }), clock })
  const { server } = wired
  const handler = createFetchHandler(server)
  return {
    ...wired,
    send: async ({ method, url, headers, body = null }) => {
      const response = await handler(new Request(server.issuer + url, { method, headers, body }))
      return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() }
    },
    validate: async (accessToken, audience) => {
      const headers = { authorization: `Bearer ${accessToken}` }
      const request = new Request(`${server.issuer}/api`, { headers })
      const found = await server.authenticate(request, audience === undefined ? {} : { audience })
      return found.type === 'authenticated' ? found : undefined
    },
  }
}

export const lifecycle: Suite = {
  title: 'the lifecycle through the fetch adapter',
  cases: () => [
    {
      name: 'is the one of the model',
      run: () => runLifecycle(overFetch, { seed: SEED, numRuns: 15, maxCommands: 60 }),
    },
  ],
}
