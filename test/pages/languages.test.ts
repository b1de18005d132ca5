/**
 * The texts of the pages in every language, and pages in which every visible text comes from them.
 * @module
 */
import { serviceScopes } from 'grantwell'
import type { PluralText, TextName, Texts } from 'grantwell/pages'
import {
  countedText,
  defaultPages,
  fillHtml,
  fillText,
  html,
  loadTexts,
  pageLanguages,
  renderHtml,
} from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { en } from '../../src/pages/texts/en.js'
import {
  plainApplication,
  plainApplications,
  plainComplete,
  plainDevice,
  plainDeviceResult,
  plainGrant,
  plainModel,
} from './models.js'
import { pseudoTexts, readableIn, translated } from './pseudo.js'
import { attribute, element } from './tree.js'

const NAMES = Object.keys(en) as TextName[] // its own keys

function formsOf(text: string | PluralText): readonly string[] {
  return typeof text === 'string' ? [text] : Object.values(text)
}

function valuesIn(text: string): readonly string[] {
  return (text.match(/\{\w+\}/g) ?? []).sort()
}

describe.each(pageLanguages)('the texts in %s', (language) => {
  it('are those of English, with the same values in them', async () => {
    const texts = await loadTexts(language)
    expect(Object.keys(texts)).toStrictEqual(NAMES)
    for (const name of NAMES) {
      const [first = ''] = formsOf(en[name]).slice(-1)
      for (const form of formsOf(texts[name])) {
        expect(form.trim(), name).not.toBe('')
        const mayLeaveOut = typeof en[name] !== 'string' && !form.includes('{count}')
        expect(valuesIn(form), name).toStrictEqual(mayLeaveOut ? [] : valuesIn(first))
      }
    }
  })

  it('have every form of a number that the language has', async () => {
    const texts = await loadTexts(language)
    const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
    const plurals = NAMES.map((name): [string, string | PluralText] => [name, texts[name]]).filter(
      ([, text]) => typeof text === 'object',
    )
    expect(plurals.length).toBeGreaterThan(0)
    for (const [name, text] of plurals)
      expect(Object.keys(text).sort(), name).toStrictEqual([...pluralCategories].sort())
  })

  it('have the words of a button in its name for assistive technology', async () => {
    const texts = await loadTexts(language)
    expect(texts['applications.revokeOf'].replace('{application}', '')).toContain(texts['applications.revoke'])
  })

  it('hold no direction marks and no markup', async () => {
    for (const text of Object.values(await loadTexts(language)).flatMap(formsOf))
      expect(text).not.toMatch(/[<>&\u202a-\u202e\u2066-\u2069\p{Cc}]/u)
  })
})

it.each(pageLanguages.filter((language) => language !== 'en'))('no text in %s is the English one', async (language) => {
  const texts = await loadTexts(language)
  const same = NAMES.filter((name) => name !== 'direction' && JSON.stringify(texts[name]) === JSON.stringify(en[name]))
  // Words that are spelled alike in both languages.
  expect(same.filter((name) => !ALIKE.has(`${language} ${name}`))).toStrictEqual([])
})

const ALIKE: ReadonlySet<string> = new Set([
  'de application.website', // Website
  'de console.logo', // Logo
  'de console.name', // Name
  'es console.no', // No
  'fr console.administration', // Administration
  'fr console.logo', // Logo
  'es page.faultTitle', // Error: …
])

it('all scopes of the specification have a text', () => {
  const texts = new Set(NAMES.filter((name) => name.startsWith('scope.')).map((name) => String(en[name])))
  for (const service of ['native', 'forge'])
    expect(serviceScopes({ service }).definitions.filter(({ description }) => !texts.has(String(description)))).toEqual(
      [],
    )
})

describe('values in texts', () => {
  it('are written where the text has them, once each, and nowhere else', () => {
    expect(fillText('{a} and {b}, {c} {', { a: '{b}', b: 2 })).toBe('{b} and 2, {c} {')
    expect(renderHtml(fillHtml('<b> {a} {b}', { a: '<i>', b: html`<i></i>` }))).toBe('&lt;b&gt; &lt;i&gt; <i></i>')
  })

  it('that a prototype has are none', () => {
    expect(fillText('{constructor} {toString}', {})).toBe('{constructor} {toString}')
  })

  it('that are numbers have the digits and the form of the language', async () => {
    const arabic = { locale: 'ar-EG', texts: await loadTexts('ar') }
    expect(countedText(arabic, 'applications.notShown', 11)).toContain('١١')
    expect(countedText({ locale: 'en', texts: en }, 'applications.older', 1)).toBe(
      'You permitted it something once before:',
    )
    expect(countedText({ locale: 'de', texts: await loadTexts('de') }, 'applications.resources', 12_345)).toContain(
      '12.345',
    )
  })
})

describe('a page', () => {
  it('says its language and the direction of it', async () => {
    const input = { model: plainDevice, locale: 'ar-EG', texts: await loadTexts('ar') }
    const root = element(defaultPages.device(input), 'html')
    expect([attribute(root, 'lang'), attribute(root, 'dir')]).toStrictEqual(['ar-EG', 'rtl'])
    const english = element(defaultPages.device({ model: plainDevice }), 'html')
    expect([attribute(english, 'lang'), attribute(english, 'dir')]).toStrictEqual(['en', 'ltr'])
  })

  it('from right to left has addresses from left to right', async () => {
    const input = { model: plainModel, locale: 'ar', texts: await loadTexts('ar') }
    expect(attribute(element(defaultPages.consent(input), 'a'), 'dir')).toBe('ltr')
  })

  it.each([
    ['en', 'November 21, 2026'],
    ['en-GB', '21 November 2026'],
    ['de', '21. November 2026'],
    ['ja', '2026年11月21日'],
  ])('in %s writes a day as %s', (locale, day) => {
    const createdAt = Date.UTC(2026, 10, 21, 23, 59, 59) / 1000
    const model = {
      ...plainApplications,
      applications: [{ ...plainApplication, grants: [{ ...plainGrant, createdAt }] }],
    }
    expect(defaultPages.authorizedApplications({ model, locale, texts: en })).toContain(
      `<time datetime="2026-11-21">${day}<`,
    )
  })

  // Models whose own words have no letter of the alphabet, so that each one that is left is a text of the page itself.
  const own = { name: 'Ωμέγα', website: '', checkedAt: 1_795_262_400 }
  const scopes = [
    { scope: 'a:r', permission: 'r', description: 'Α' },
    { scope: 'b:rw', permission: 'rw', description: 'Β', reason: 'Ι' },
  ] as const
  const audiences = [{ resource: '1', name: 'Γ' }]
  const user = { name: 'Δ', switchAccountUrl: '/1' }
  const places = { ...plainModel.resources, items: [{ id: '1', name: '1', checked: true }] }
  const asked = { application: own, user, scopes, audiences, resources: places }
  const consent = { ...plainModel, ...asked, redirectHost: '127.0.0.1:1', fault: 'Ε' }
  const plainError = { code: 'link', title: 'Λ', message: 'Μ', stylesheet: '/s' } as const
  const items = Array.from({ length: 20 }, (_, index) => ({ id: `${index}`, name: `${index}`, checked: false }))
  const resources = (changes: object) => ({ ...consent, resources: { ...consent.resources, items, ...changes } })
  const code = '1234-1234'
  const device = { ...plainDevice, user }
  const older = { count: 3, scopes, resources: [{ kind: 'all', items: [] }] as const, audiences }
  const specified = { kind: 'specified', items: items.map(({ name }) => name), notShown: 7 } as const
  const granted = { ...plainGrant, scopes, audiences }
  const grants = [
    { ...granted, resources: { ...specified, isMore: true as const } },
    { ...granted, resources: specified, lastUsedAt: 1_800_000_000 },
    { ...granted, scopes: [], resources: { kind: 'specified', items: [] } as const },
    { ...granted, resources: { kind: 'public', items: [] } as const },
  ]
  const choice = { name: '1', value: '1' }
  const applications = [{ ...plainApplication, ...own, suspended: true, grants, older, choice }]
  const choiceForm = { action: '/', fields: [] }
  const listed = {
    ...plainApplications,
    user,
    applications,
    next: '/',
    more: true,
    isIncomplete: true as const,
    choiceForm,
    notice: 'Ν',
  }
  const { redirectHost: _, ...withoutHost } = consent
  const spoken = { locale: 'ja', texts: pseudoTexts }
  it.each([
    ['consent', defaultPages.consent({ ...spoken, model: consent })],
    ['consent with all that can be', defaultPages.consent({ ...spoken, model: resources({ notShown: 3 }) })],
    ['consent with a search', defaultPages.consent({ ...spoken, model: resources({ notShown: 3, search: '1' }) })],
    ['consent, nothing found', defaultPages.consent({ ...spoken, model: resources({ items: [], search: '1' }) })],
    [
      'consent without a choice',
      defaultPages.consent({ ...spoken, model: resources({ choices: ['specified'], items: [] }) }),
    ],
    [
      'consent with nothing to choose from',
      defaultPages.consent({ ...spoken, model: { ...resources({ items: [], notShown: 2 }), scopes: [], fault: 'Ζ' } }),
    ],
    [
      'consent for a client that registered itself, on a device',
      defaultPages.consent({
        ...spoken,
        model: {
          ...withoutHost,
          application: { ...own, host: '127.0.0.1', unchecked: true, description: 'Η' },
          userCode: code,
        },
      }),
    ],
    [
      'error',
      defaultPages.error({
        ...spoken,
        model: {
          ...plainError,
          application: { name: 'Ξ', website: 'https://1.1/' },
          detail: { parameter: 'Ι', rule: 'Κ' },
        },
      }),
    ],
    ['device', defaultPages.device({ ...spoken, model: { ...device, fault: 'Θ' } })],
    ['device with a code', defaultPages.device({ ...spoken, model: { ...plainComplete, user, userCode: code } })],
    ['device, agreed', defaultPages.deviceResult({ ...spoken, model: { ...plainDeviceResult, application: own } })],
    [
      'device, refused',
      defaultPages.deviceResult({ ...spoken, model: { ...plainDeviceResult, decision: 'refuse', application: own } }),
    ],
    ['applications', defaultPages.authorizedApplications({ ...spoken, model: listed })],
    [
      'no applications',
      defaultPages.authorizedApplications({ ...spoken, model: { ...plainApplications, user, applications: [] } }),
    ],
  ])('with other texts has no word of English left: %s', (_page, document) => {
    expect(readableIn(document).filter((text) => /[a-z]/i.test(translated(text)))).toStrictEqual([])
  })
})

it('the texts of a language that the host writes are whole, or do not compile', () => {
  const whole: Texts = { ...en, 'consent.agree': 'Akkoord' }
  // @ts-expect-error: a text is missing
  const part: Texts = { direction: 'ltr' }
  // @ts-expect-error: there is no such text
  const other: Partial<Texts> = { 'consent.aggree': 'x' }
  expect([whole['consent.agree'], part.direction, other]).toHaveLength(3)
})
