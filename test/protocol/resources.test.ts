/**
 * The authorization resource scope: what the page offers, and what the user may grant of it.
 * @module
 * @see Specification, section 2.1
 */
import { describe, expect, it } from 'vitest'
import { consentPage } from '../pages/english.js'
import { answer, grantsOf, page } from '../server/helpers.js'
import type { TestServer } from '../support.js'
import {
  authorizationUrl,
  call,
  exchange,
  hiddenFields,
  OTHER,
  openConsent,
  post,
  registration,
  START,
  send,
  testServer,
  WEB_CALLBACK,
} from '../support.js'
import type { Form } from './consent-form.js'
import { changeApplication, ITEMS, model, submit, withItems } from './consent-form.js'

describe('2.1 authorization resource scope', () => {
  const choicesOf = {
    all: ['all', 'public', 'specified'],
    public: ['public', 'specified'],
    specified: ['specified'],
  } as const
  const items = ITEMS.map(({ id, name = id }) => ({ id, name, checked: false }))
  const fault = 'Choose which resources the application may use: at least one, and at most 256.'

  /** A server whose application `scoped` has this resource scope, and its consent page. */
  async function scoped(resourceScope: 'all' | 'public' | 'specified', options = withItems, state = 's') {
    const test = await testServer(options)
    await test.server.applications.register(registration({ resourceScope }), { ...OTHER, clientId: 'scoped' })
    return { test, ...(await openConsent(test, { client_id: 'scoped', state })) }
  }

  /** What came of a form: the resources of the token that was issued in the end, or the response that it was not. */
  async function granted(test: TestServer, form: Form | [string, string][], headers: Form): Promise<unknown> {
    const response = await submit(test, form, headers)
    if (response.status !== 302) return response
    const code = new URL(response.headers['Location'] ?? '').searchParams.get('code') ?? ''
    const { body } = await exchange(test, code, {}, { ...OTHER, clientId: 'scoped' })
    const found = await call(test, body.access_token)
    return found.type === 'authenticated' ? found.resources : found
  }

  it.each(['all', 'public', 'specified'] as const)(
    'the page offers what is registered and narrower: %s',
    async (kind) => {
      const { fields, page: shown } = await scoped(kind)
      const resources = { choices: choicesOf[kind], selected: kind, items }
      expect(shown.body).toBe(consentPage(model(fields, shown.body, { resources })))
    },
  )

  it.each(['all', 'public'] as const)('without a list of the host, none are offered to specify: %s', async (kind) => {
    const { fields, page: shown } = await scoped(kind, {})
    const choices = choicesOf[kind].filter((each) => each !== 'specified')
    expect(shown.body).toBe(
      consentPage(model(fields, shown.body, { resources: { choices, selected: kind, items: [] } })),
    )
  })

  it('the list of the host may come by a promise, and is asked for with the user', async () => {
    const asked: unknown[] = []
    const { fields, page: shown } = await scoped('all', {
      resources: async (user) => {
        asked.push(user)
        return ITEMS
      },
    })
    expect(asked).toStrictEqual([{ subject: 'ada', name: 'Ada' }])
    const resources = { choices: choicesOf.all, selected: 'all', items } as const
    expect(shown.body).toBe(consentPage(model(fields, shown.body, { resources })))
  })

  it.each([
    ['all', 'all'],
    ['all', 'public'],
    ['public', 'public'],
  ] as const)('registered with %s, the user may grant %s; ticked resources then mean nothing', async (kind, choice) => {
    const { test, fields, headers } = await scoped(kind)
    const form: [string, string][] = [
      ...Object.entries({ ...fields, decision: 'agree', resource_scope: choice }),
      ['resource', 'repo/1'],
    ]
    expect(await granted(test, form, headers)).toStrictEqual({ kind: choice })
  })

  it.each(['all', 'public', 'specified'] as const)('registered with %s, the user may specify', async (kind) => {
    for (const ids of [['repo/1'], ['repo/2', 'repo/1'], ITEMS.map(({ id }) => id), ['repo/2', 'repo/2']]) {
      const { test, fields, headers } = await scoped(kind)
      const form: [string, string][] = [
        ...Object.entries({ ...fields, decision: 'agree', resource_scope: 'specified' }),
        ...ids.map((id): [string, string] => ['resource', id]),
      ]
      expect(await granted(test, form, headers)).toStrictEqual({ kind: 'specified', ids: [...new Set(ids)] })
    }
  })

  /** Wrong choices, and what of them the page that is shown again keeps. */
  const wrong: [string, 'all' | 'public' | 'specified', [string, string][], string, string[]][] = [
    ['no choice', 'all', [], 'all', []],
    ['an unknown choice', 'all', [['resource_scope', 'everything']], 'all', []],
    ['a prototype name', 'all', [['resource_scope', 'constructor']], 'all', []],
    ['a wider choice than registered', 'public', [['resource_scope', 'all']], 'public', []],
    ['all where only specified ones may be', 'specified', [['resource_scope', 'all']], 'specified', []],
    ['specified, and none', 'all', [['resource_scope', 'specified']], 'specified', []],
    [
      'specified, and an empty one',
      'all',
      [
        ['resource_scope', 'specified'],
        ['resource', ''],
      ],
      'specified',
      [],
    ],
    [
      'one that was not offered',
      'all',
      [
        ['resource_scope', 'specified'],
        ['resource', 'repo/9'],
      ],
      'specified',
      [],
    ],
    [
      'one offered and one not',
      'public',
      [
        ['resource_scope', 'specified'],
        ['resource', 'repo/1'],
        ['resource', 'repo/9'],
      ],
      'specified',
      ['repo/1'],
    ],
    [
      'ticked resources without the choice',
      'all',
      [
        ['resource', 'repo/1'],
        ['resource', '<b>"3"</b>'],
      ],
      'all',
      ['repo/1', '<b>"3"</b>'],
    ],
  ]

  it.each(wrong)(
    '%s: the page again, with status 400 and what was chosen',
    async (_what, kind, chosen, selected, ids) => {
      const { test, fields, headers } = await scoped(kind)
      const { resource_scope: _, ...hidden } = fields
      const form: [string, string][] = [...Object.entries({ ...hidden, decision: 'agree' }), ...chosen]
      const again = await submit(test, form, headers)
      const resources = {
        choices: choicesOf[kind],
        selected: choicesOf[kind].find((each) => each === selected) ?? kind,
        items: items.map((item) => ({ ...item, checked: ids.includes(item.id) })),
      }
      const newFields = hiddenFields(again.body)
      expect(again).toStrictEqual(
        page(400, consentPage(model(newFields, again.body, { resources, fault })), "'self' https:"),
      )
      expect(await grantsOf(test.store)).toStrictEqual([])
      // The form that came with it works.
      const right = { ...newFields, resource_scope: 'specified', resource: 'repo/2', decision: 'agree' }
      expect(await granted(test, right, headers)).toStrictEqual({ kind: 'specified', ids: ['repo/2'] })
    },
  )

  it('a resource that is not well-formed: the page again', async () => {
    const { test, fields, headers } = await scoped('all')
    const form = new URLSearchParams({ ...fields, decision: 'agree', resource_scope: 'specified' })
    for (const broken of [
      'resource=%FF',
      'resource=repo/1&resource=%FF',
      'resource=%FF&resource=repo/1&resource=repo/2',
    ]) {
      const { status } = await post(test.server, '/oauth2/auth', `${form}&${broken}`, headers)
      expect(status).toBe(400)
    }
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('a resource that the host offers no more: the page again', async () => {
    let offered = ITEMS
    const { test, fields, headers } = await scoped('all', { resources: () => offered })
    offered = ITEMS.slice(1)
    const form = { ...fields, resource_scope: 'specified', resource: 'repo/1', decision: 'agree' }
    expect((await submit(test, form, headers)).status).toBe(400)
    expect(await grantsOf(test.store)).toStrictEqual([])
  })

  it('as many as 256 resources, and no more', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({ id: `repo/${index}` }))
    const { test, fields, headers } = await scoped('all', { resources: () => many })
    const formOf = (count: number): [string, string][] => [
      ...Object.entries({ ...fields, decision: 'agree', resource_scope: 'specified' }),
      ...many.slice(0, count).map(({ id }): [string, string] => ['resource', id]),
    ]
    expect((await submit(test, formOf(257), headers)).status).toBe(400)
    expect(await granted(test, formOf(256), headers)).toMatchObject({ kind: 'specified' })
  })

  it.each([
    ['of long identifiers', (index: number) => ({ id: `${index}/${'a'.repeat(300)}`, name: 'A' }), 65_536],
    [
      'of identifiers that a form writes longer',
      (index: number) => ({ id: `${'\u{1f9f5}'.repeat(20)}${index}` }),
      65_536,
    ],
    ['where bodies are small', (index: number) => ({ id: `repository-${index}` }), 4096],
    [
      'behind a state that a form writes five times as long',
      (index: number) => ({ id: `repository-${index}-`.padEnd(170, 'x') }),
      65_536,
      '['.repeat(8000),
    ],
  ])('no more than the form can bring back, when all are chosen: %s', async (_, resource, bodyLimit, state = 's') => {
    const many = Array.from({ length: 2000 }, (_, index) => resource(index))
    const { test, fields, headers, page } = await scoped('all', { resources: () => many, bodyLimit }, state)
    const shown = [...page.body.matchAll(/name="resource" value="([^"]*)"/g)].map(([, id = '']) => id)
    expect(shown).toStrictEqual(many.slice(0, shown.length).map(({ id }) => id))
    expect(page.body).toContain(
      `There are ${(2000 - shown.length).toLocaleString('en')} more. Search for them by their names.`,
    )
    const formOf = (ids: readonly string[]): [string, string][] => [
      ...Object.entries({ ...fields, decision: 'agree', resource_scope: 'specified' }),
      ...ids.map((id): [string, string] => ['resource', id]),
    ]
    expect(shown.length).toBeGreaterThan(50)
    const isMore = shown.length > 256
    expect(isMore ? (await submit(test, formOf(shown), headers)).body : fault).toContain(fault)
    const chosen = shown.slice(0, 256)
    expect(await granted(test, formOf(chosen), headers)).toStrictEqual({ kind: 'specified', ids: chosen })
  })

  it('no form that could not come back: the application is told, and the form that just fits comes back', async () => {
    const bodyLimit = 4096
    const many = Array.from({ length: 3 }, (_, index) => ({ id: `repository-${index}` }))
    const outcomes = new Set<string>()
    for (let length = 3770; length < 3900; length += 3) {
      const test = await testServer({ resources: () => many, bodyLimit })
      const state = 'a'.repeat(length)
      const response = await send(test.server, { url: authorizationUrl({ state }) })
      if (response.status === 302) {
        outcomes.add('refused')
        const error = { error: 'invalid_request', error_description: 'The request is too long for a form.', state }
        expect(response).toStrictEqual(answer(WEB_CALLBACK, error))
      } else {
        const { fields, headers, page } = await openConsent(test, { state })
        const shown = [...page.body.matchAll(/name="resource" value="([^"]*)"/g)].map(([, id = '']) => id)
        outcomes.add(`offered ${shown.length}`)
        const form: [string, string][] = [
          ...Object.entries({ ...fields, decision: 'agree', resource_scope: shown.length > 0 ? 'specified' : 'all' }),
          ...shown.map((id): [string, string] => ['resource', id]),
        ]
        expect((await submit(test, form, headers)).status).toBe(302)
      }
    }
    expect([...outcomes].toSorted()).toStrictEqual(['offered 0', 'offered 1', 'offered 2', 'offered 3', 'refused'])
  })

  it('a name that somebody made long takes no place from the others, and is not on the page as a whole', async () => {
    const long = { id: 'repo/0', name: `eve/${'"'.repeat(1_000_000)}` }
    const { page } = await scoped('all', { resources: () => [long, ...ITEMS] })
    const shown = [...page.body.matchAll(/name="resource" value="([^"]*)"/g)]
    expect(shown.length).toBe(1 + ITEMS.length)
    expect(page.body).not.toContain('which cannot be chosen here')
    expect(page.body.length).toBeLessThan(10_000)
  })

  it('an application that may only have specified ones is registered only where there are some to specify', async () => {
    const test = await testServer()
    const specified = registration({ resourceScope: 'specified' })
    await expect(test.server.applications.register(specified)).rejects.toMatchObject({
      code: 'ERR_REGISTRATION',
      message: 'grantwell: resourceScope must not be specified: the server has no option resources',
    })
    // And where the server lost the option since then, the application is told so.
    await changeApplication(test, { resourceScope: 'specified' })
    const response = await send(test.server, { url: authorizationUrl({ state: 's' }) })
    const error = { error: 'server_error', error_description: 'There is nothing to choose from.', state: 's' }
    expect(response).toStrictEqual(answer(WEB_CALLBACK, error))
    expect(test.events).toStrictEqual([
      {
        type: 'refused',
        at: START,
        endpoint: 'authorization',
        error: 'server_error',
        reason: 'host_failed',
        clientId: 'web',
      },
    ])
  })

  it('none but what the server of the host offers can be specified where it offers nothing', async () => {
    const { test, fields, headers } = await scoped('all', {})
    const form = { ...fields, resource_scope: 'specified', resource: 'repo/1', decision: 'agree' }
    expect((await submit(test, form, headers)).status).toBe(400)
  })
})
