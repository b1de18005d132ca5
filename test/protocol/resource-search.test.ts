/**
 * The search for resources on the consent page, without script.
 * @module
 * @see Specification, section 2.1; RFC 8628, section 3.3
 */
import { describe, expect, it } from 'vitest'
import { attribute, elementsOf } from '../pages/tree.js'
import { grantsOf } from '../server/helpers.js'
import { hiddenFields, openConsent, testServer } from '../support.js'
import type { Form } from './consent-form.js'
import { submit } from './consent-form.js'
import { codesOf, decideOn, enterCode } from './device-form.js'

const MANY = Array.from({ length: 3000 }, (_, index) => ({ id: `r${index}`, name: `team/Repo ${index}` }))

/** The checkboxes of a page: each identifier, and if it is checked. */
function boxesIn(body: string): readonly (readonly [string | undefined, boolean])[] {
  return elementsOf(body)
    .filter((node) => attribute(node, 'type') === 'checkbox')
    .map((node) => [attribute(node, 'value'), attribute(node, 'checked') !== undefined])
}

/** A form with chosen resources, as a browser sends it. */
function formOf(fields: Form, decision: string, chosen: readonly string[], search: string): [string, string][] {
  const all = { ...fields, resource_scope: 'specified', search, decision }
  return [...Object.entries(all), ...chosen.map((id): [string, string] => ['resource', id])]
}

describe('a search among 3,000 resources', () => {
  it('finds what the page does not list, keeps what was chosen, and grants all of it', async () => {
    const test = await testServer({ resources: () => MANY })
    const { fields, headers, page } = await openConsent(test)
    expect(boxesIn(page.body).map(([id]) => id)).not.toContain('r2999')
    expect(page.body).toMatch(/There are 2,\d{3} more\. Search for them by their names\./)
    const told = test.events.length

    const first = await submit(test, formOf(fields, 'search', ['r7'], 'REPO 2999'), headers)
    expect([first.status, boxesIn(first.body)]).toStrictEqual([
      200,
      [
        ['r7', true],
        ['r2999', false],
      ],
    ])
    const second = await submit(test, formOf(hiddenFields(first.body), 'search', ['r7', 'r2999'], 'r1500'), headers)
    expect(boxesIn(second.body)).toStrictEqual([
      ['r7', true],
      ['r2999', true],
      ['r1500', false],
    ])
    expect([test.events.length, await grantsOf(test.store)]).toStrictEqual([told, []])

    const last = formOf(hiddenFields(second.body), 'agree', ['r7', 'r2999', 'r1500'], 'r1500')
    expect((await submit(test, last, headers)).status).toBe(302)
    const resources = { kind: 'specified', ids: ['r7', 'r2999', 'r1500'] }
    expect(await grantsOf(test.store)).toMatchObject([{ resources }])
  })

  it('loses no choice to a fault: too many come back, all of them chosen', async () => {
    const test = await testServer({ resources: () => MANY })
    const { fields, headers } = await openConsent(test)
    const chosen = MANY.slice(1000, 1300).map(({ id }) => id)
    const { status, body } = await submit(test, formOf(fields, 'agree', chosen, 'Repo 2999'), headers)
    expect(status).toBe(400)
    expect(boxesIn(body)).toStrictEqual([...chosen.map((id) => [id, true]), ['r2999', false]])
  })

  it('is by words of the name or the identifier, in any case and any form of Unicode', async () => {
    const named = [
      { id: 'x1', name: 'Stra\u00dfe Z\u00fcrich' },
      { id: 'KEY-2', name: 'Other' },
    ]
    const test = await testServer({ resources: () => [...named, ...MANY.slice(0, 20)] })
    const { fields, headers } = await openConsent(test)
    const found = async (words: string) => {
      const { body } = await submit(test, formOf(fields, 'search', [], words), headers)
      return boxesIn(body).map(([id]) => id)
    }
    expect(await found('zu\u0308rich STRASSE')).toStrictEqual(['x1'])
    expect(await found('  key-2 ')).toStrictEqual(['KEY-2'])
    expect(await found('other zurich')).toStrictEqual([])
    expect(await found('')).toHaveLength(22)
  })

  it('is refused in a form that was changed, as a decision is', async () => {
    const test = await testServer({ resources: () => MANY })
    const { fields, headers } = await openConsent(test)
    const form = formOf({ ...fields, consent: 'x' }, 'search', [], 'r1')
    expect((await submit(test, form, headers)).status).toBe(400)
  })

  it('is what the Enter key does, and is not there for a short list', async () => {
    const buttons = (body: string) =>
      elementsOf(body)
        .filter((node) => attribute(node, 'type') === 'submit')
        .map((node) => attribute(node, 'value') ?? attribute(node, 'formmethod'))
    const long = await openConsent(await testServer({ resources: () => MANY.slice(0, 13) }))
    expect(buttons(long.page.body)).toStrictEqual(['search', 'agree', 'refuse'])
    const short = await openConsent(await testServer({ resources: () => MANY.slice(0, 12) }))
    expect(buttons(short.page.body)).toStrictEqual(['dialog', 'agree', 'refuse'])
  })

  it('works for a device', async () => {
    const test = await testServer({ resources: () => MANY })
    const opened = await enterCode(test, (await codesOf(test)).user_code)
    const more = { resource_scope: 'specified', resource: 'r7', search: 'r2999' }
    const found = await decideOn(test, opened, 'search', more)
    expect([found.status, boxesIn(found.body)]).toStrictEqual([
      200,
      [
        ['r7', true],
        ['r2999', false],
      ],
    ])
    const again = { ...opened, fields: hiddenFields(found.body) }
    expect((await decideOn(test, again, 'agree', { ...more, resource: 'r2999' })).status).toBe(200)
    expect(await grantsOf(test.store)).toMatchObject([{ resources: { kind: 'specified', ids: ['r2999'] } }])
  })
})
