/**
 * What the README says that can be looked up: its links, and the defaults of the options.
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AuthorizationServerOptions } from 'grantwell'
import { createAuthorizationServer, portableDigests, serviceScopes } from 'grantwell'
import { defaultPages, inaccessibleLink } from 'grantwell/pages'
import { memoryStore } from 'grantwell/storage/memory'
import { explore } from 'grantwell/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { resolveOptions } from '../../src/shell/options/settings.js'
import { ROOT } from './project.js'
import { optionRows, readme, relativeLinks } from './readme.js'
import { fieldsOf } from './types.js'

const REQUIRED: AuthorizationServerOptions = {
  issuer: 'https://git.example/path',
  store: memoryStore(),
  user: () => undefined,
  signInUrl: () => '/sign-in',
}

describe('links of the README', () => {
  it('lead somewhere, where they lead into the repository', () => {
    const links = relativeLinks(readme())
    expect(links.length).toBeGreaterThan(0)
    for (const link of links) expect(existsSync(join(ROOT, link.split('#')[0] ?? '')), link).toBe(true)
  })
})

it('tells the story that explore tells of a store that does not compare', async () => {
  const [, story] = /\n```\n(Explored .*?)\n```\n/s.exec(readme()) ?? []
  const explored = explore({
    requests: ['exchange', 'exchange'],
    store: ({ clock }) => {
      const store = memoryStore({ clock })
      const write: typeof store.write = async (key, value, options) => {
        const [record] = await store.read([key])
        return store.write(key, value, { ...options, expected: record?.version ?? 0 })
      }
      return { ...store, write }
    },
  })
  await expect(explored).rejects.toMatchObject({ name: 'ExplorationError', message: story })
})

describe('the table of options', () => {
  const rows = optionRows(readme())
  const settings = resolveOptions(REQUIRED)
  const found = new Map<string, unknown>(Object.entries({ ...settings, ...settings.rules }))

  afterEach(() => vi.restoreAllMocks())

  it('has one row for every option that there is', () => {
    const declared = fieldsOf('AuthorizationServerOptions', join(ROOT, 'src/index.ts'))
    expect(declared.length).toBeGreaterThan(20)
    expect(rows.map(([name]) => name).sort()).toEqual([...declared].sort())
  })

  it('has the defaults that they have: numbers, switches and choices', () => {
    let plain = 0
    for (const [name, value] of rows) {
      if (!/^(\d+|true|false|`'\w+'`)$/.test(value)) continue
      plain++
      const written = /^`'/.test(value) ? value.slice(2, -2) : JSON.parse(value)
      expect([name, found.get(name)]).toEqual([name, written])
    }
    expect(plain).toBeGreaterThanOrEqual(12)
  })

  it('has the defaults that they have: all others', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const others: Readonly<Record<string, (name: string) => void | Promise<void>>> = {
      required: (name) => {
        const { [name as keyof AuthorizationServerOptions]: _, ...rest } = REQUIRED // the names are those of the table
        const incomplete = rest as AuthorizationServerOptions // it is not: that is the point
        expect(() => createAuthorizationServer(incomplete)).toThrowError(
          expect.objectContaining({ code: 'ERR_CONFIGURATION' }),
        )
      },
      none: (name) => {
        if (name === 'onEvent')
          expect(settings.onEvent({ type: 'refused' } as never)).toBeUndefined() // it looks at nothing
        else expect(found.get(name)).toBeUndefined()
      },
      '`serviceScopes()`': () => expect(settings.scopes).toEqual(serviceScopes()),
      "the issuer's path": () => expect(settings.mountPath).toBe('/path'),
      '`defaultPages`': async () => {
        const page = await createAuthorizationServer(REQUIRED).handle({
          method: 'GET',
          url: '/path/oauth2/auth',
          headers: {},
          native: undefined,
        })
        expect(page?.body).toBe(defaultPages.error({ ...inaccessibleLink, stylesheet: '/path/oauth2/style.css' }))
      },
      "Node's socket": () => {
        const native = { socket: { remoteAddress: '192.0.2.1' } }
        expect(settings.remoteAddress({ method: 'GET', url: '/', headers: {}, native })).toBe('192.0.2.1')
      },
      '`console.error`': () => {
        settings.onError('an error')
        expect(error).toHaveBeenCalledWith('an error')
      },
      "the system's": () => {
        const before = Math.floor(Date.now() / 1000)
        const now = settings.clock()
        expect([before <= now, now <= Date.now() / 1000]).toEqual([true, true])
      },
      "the platform's": () => {
        const random = vi.spyOn(globalThis.crypto, 'getRandomValues')
        expect(settings.entropy(20_000)).toHaveLength(20_000)
        expect(random).toHaveBeenCalled()
      },
      '`portableDigests`': () => expect(settings.digests).toBe(portableDigests),
    }
    for (const [name, value] of rows) {
      if (/^(\d+|true|false|`'\w+'`)$/.test(value)) continue
      const check = others[value]
      expect(check, `${name}: ${value}`).toBeDefined()
      await check?.(name)
    }
  })
})
