/** The page of the authorized applications (specification, 5.3), read back by an HTML parser. */
import * as fc from 'fast-check'
import {
  type AuthorizedApplication,
  type AuthorizedApplicationsPageModel,
  type AuthorizedGrant,
  displayText,
} from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import { authorizedApplicationsPage } from './english.js'
import {
  hostileApplications,
  plainApplication,
  plainApplications,
  plainChoice,
  plainGrant,
  tamedApplications,
} from './models.js'
import { asParsed, attribute, contentsOf, element, elementsOf, skeletonOf, textOf } from './tree.js'

describe('12: every value is escaped', () => {
  it('no value makes an element or an attribute', () => {
    fc.assert(
      fc.property(hostileApplications, (model) => {
        const harmless = authorizedApplicationsPage(tamedApplications(model))
        expect(skeletonOf(authorizedApplicationsPage(model))).toBe(skeletonOf(harmless))
      }),
      { numRuns: 300 },
    )
  })

  it('every value is there, as text or as the whole of an attribute', () => {
    fc.assert(
      fc.property(hostileApplications, (model) => {
        const { texts, attributes } = contentsOf(authorizedApplicationsPage(model))
        for (const text of shownValues(model)) expect(texts).toContain(displayText(text))
        for (const value of sentValues(model)) expect(attributes).toContain(asParsed(value))
      }),
      { numRuns: 300 },
    )
  })
})

describe('every application has its own part', () => {
  it('named by its heading', () => {
    const parts = partsOf(plainApplications)
    expect(parts.map(({ heading }) => heading)).toEqual(['Loom', 'Shuttle'])
    expect(parts.map(({ nodes }) => attribute(nodes[0], 'aria-labelledby'))).toEqual(['application-1', 'application-2'])
  })

  it('with a form that posts its hidden fields, and a button that names the application', () => {
    fc.assert(
      fc.property(hostileApplications, (model) => {
        const forms = partsOf(model).map(({ nodes }) => nodes.filter(({ nodeName }) => nodeName === 'form'))
        expect(forms.map(([form]) => attribute(form, 'method'))).toEqual(model.applications.map(() => 'post'))
        for (const [i, { form, name }] of model.applications.entries()) {
          const nodes = partsOf(model)[i]?.nodes ?? []
          const posted = nodes.filter((node) => attribute(node, 'type') === 'hidden')
          expect(attribute(forms[i]?.[0], 'action')).toBe(asParsed(form.action))
          expect(posted.map((node) => ['type', 'name', 'value'].map((key) => attribute(node, key)))).toEqual(
            form.fields.map(({ name, value }) => ['hidden', asParsed(name), asParsed(value)]),
          )
          const buttons = nodes.filter(({ nodeName }) => nodeName === 'button')
          expect(buttons.map(textOf)).toEqual(['Revoke access'])
          expect(buttons.map((node) => attribute(node, 'type'))).toEqual(['submit'])
          expect(attribute(buttons[0], 'name')).toBeUndefined()
          expect(attribute(buttons[0], 'aria-label')).toBe(`Revoke access of ${displayText(name)}`)
        }
      }),
    )
  })

  it('says of the suspended ones alone that they are stopped', () => {
    const [working, stopped] = partsOf(plainApplications).map(({ texts }) => texts)
    const words = 'The administrators stopped it: it can do nothing at present.'
    expect([working?.includes(words), stopped?.includes(words)]).toEqual([false, true])
  })

  it('lists what it may do, where, since when and last used', () => {
    expect(details(plainGrant)).toEqual([
      ['Website', 'https://loom.example/'],
      ['Where', 'ada/engine\nada/notes'],
      ['Permitted', 'November 21, 2026'],
      ['Last used', 'November 22, 2026'],
      ['Ends', 'December 21, 2026, unless the application renews it'],
    ])
    const groups =
      partsOf(withGrants(plainGrant))[0]?.nodes.filter(({ nodeName }) => /^(h3|data)$/.test(nodeName)) ?? []
    expect(groups.map(textOf)).toEqual(['Read and change', 'Repository code through Git commands', 'Read', 'Issues'])
  })

  it('lists every time that the user permitted something', () => {
    fc.assert(
      fc.property(hostileApplications, (model) => {
        for (const [i, { grants, older }] of model.applications.entries()) {
          const nodes = partsOf(model)[i]?.nodes ?? []
          const scopes = nodes.filter(({ nodeName }) => nodeName === 'data').map((node) => attribute(node, 'value'))
          const of = (wanted: string) => (grant: Pick<AuthorizedGrant, 'scopes'>) =>
            grant.scopes.filter(({ permission }) => permission === wanted).map(({ scope }) => asParsed(scope))
          const all = [...grants, ...(older === undefined ? [] : [older])]
          expect(scopes).toEqual(all.flatMap((grant) => [...of('rw')(grant), ...of('r')(grant)]))
          const times = nodes.filter(({ nodeName }) => nodeName === 'time').length
          expect(times).toBe(2 * grants.length + grants.filter(({ lastUsedAt }) => lastUsedAt !== undefined).length)
        }
      }),
    )
  })

  it('lists what it was permitted before that, all times together', () => {
    const older = {
      count: 7,
      scopes: plainGrant.scopes,
      resources: [{ kind: 'all', items: [] }, plainGrant.resources],
    } as const
    const nodesOf = (count: number) =>
      elementsOf(
        authorizedApplicationsPage({
          ...plainApplications,
          applications: [{ ...plainApplication, grants: [], older: { ...older, count } }],
        }),
      )
    const texts = (name: string, count: number) =>
      nodesOf(count).flatMap((node) => (node.nodeName === name ? [textOf(node).trim()] : []))
    expect(texts('p', 7)).toContain('You permitted it something 7 times before. In all:')
    expect(texts('p', 1)).toContain('You permitted it something once before:')
    expect(texts('data', 7)).toEqual(['Repository code through Git commands', 'Issues'])
    expect(texts('dd', 7).slice(1)).toEqual(['All resources of your account', 'ada/engine\nada/notes'])
  })

  it('says so when it may do nothing', () => {
    const words = 'It can do nothing more than know that you agreed.'
    expect(contentsOf(authorizedApplicationsPage(withGrants({ ...plainGrant, scopes: [] }))).texts).toContain(words)
    expect(contentsOf(authorizedApplicationsPage(plainApplications)).texts).not.toContain(words)
  })

  it('says where in words', () => {
    for (const [kind, items, words] of [
      ['all', ['ada/engine'], 'All resources of your account'],
      ['public', [], 'All public resources of your account'],
      ['specified', [], 'No resource'],
    ] as const) {
      expect(details({ ...plainGrant, resources: { kind, items } })).toContainEqual(['Where', words])
    }
    const notNamed = { kind: 'specified', items: [], notShown: 3 } as const
    expect(details({ ...plainGrant, resources: notNamed })).toContainEqual(['Where', '3 more'])
  })

  it('folds a long list of resources', () => {
    const page = (length: number) => {
      const items = Array.from({ length }, (_, i) => `resource ${i}`)
      return elementsOf(
        authorizedApplicationsPage(withGrants({ ...plainGrant, resources: { kind: 'specified', items } })),
      )
    }
    expect(page(12).some(({ nodeName }) => nodeName === 'details')).toBe(false)
    const folded = page(13).find(({ nodeName }) => nodeName === 'details')
    expect(folded && attribute(folded, 'open')).toBeUndefined()
    const [first, ...rest] = folded?.childNodes?.filter(({ nodeName }) => nodeName !== '#text') ?? []
    expect(first && [first.nodeName, textOf(first)]).toEqual(['summary', '13 resources'])
    expect(rest.map((node) => textOf(node).trim().split('\n').length)).toEqual([13])
  })
})

describe('days', () => {
  const daysOf = (createdAt: number) => {
    const time = element(authorizedApplicationsPage(withGrants({ ...plainGrant, createdAt })), 'time')
    return [attribute(time, 'datetime'), textOf(time)]
  }

  it('are those of UTC, in words and for programs', () => {
    const inWords = new Intl.DateTimeFormat('en-US', {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    })
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        const seconds = Math.floor(date.getTime() / 1000)
        expect(daysOf(seconds)).toEqual([date.toISOString().slice(0, 10), inWords.format(date)])
      }),
    )
  })

  it.each([
    [0, '1970-01-01', 'January 1, 1970'],
    [951_868_799, '2000-02-29', 'February 29, 2000'],
    [1_767_225_599, '2025-12-31', 'December 31, 2025'],
    [1_767_225_600, '2026-01-01', 'January 1, 2026'],
  ])('%d is %s', (seconds, datetime, words) => {
    expect(daysOf(seconds)).toEqual([datetime, words])
  })

  it('say when nothing was used', () => {
    const { lastUsedAt: _, ...unused } = plainGrant
    expect(details(unused)).toContainEqual(['Last used', 'Never'])
  })

  it('are explained', () => {
    expect(contentsOf(authorizedApplicationsPage(plainApplications)).texts).toContain(
      'You permitted these applications to access your account. “Last used” is when an application last got or renewed ' +
        'its access; what it does with it in between is not shown here. Days are those of UTC.',
    )
  })
})

describe('the list', () => {
  const nothing = 'No application has access to your account.'
  const more = 'There are more than these. Take access back from some, and the others will be shown.'

  it('says so when it is empty, and when there is more', () => {
    for (const [applications, isMore] of [
      [[], false],
      [[], true],
      [[plainApplication], false],
      [[plainApplication], true],
    ] as const) {
      const { texts } = contentsOf(authorizedApplicationsPage({ ...plainApplications, applications, more: isMore }))
      expect([texts.has(nothing), texts.has(more)]).toEqual([applications.length === 0, isMore])
    }
  })

  it('leads to the applications that come next', () => {
    const linksOf = (model: AuthorizedApplicationsPageModel) =>
      elementsOf(authorizedApplicationsPage(model))
        .filter((node) => node.nodeName === 'a' && textOf(node) === 'More applications')
        .map((node) => attribute(node, 'href'))
    expect(linksOf(plainApplications)).toEqual([])
    expect(linksOf({ ...plainApplications, next: '/oauth2/applications?from=2' })).toEqual([
      '/oauth2/applications?from=2',
    ])
  })

  it('says what was wrong first, in the title too', () => {
    const document = authorizedApplicationsPage({ ...plainApplications, fault: 'Send the form again.' })
    const first = element(document, 'main').childNodes?.find(({ nodeName }) => nodeName !== '#text')
    expect(first && [attribute(first, 'role'), textOf(first)]).toEqual(['alert', 'Send the form again.'])
    expect(textOf(element(document, 'title'))).toBe('Error: Authorized applications')
    expect(textOf(element(authorizedApplicationsPage(plainApplications), 'title'))).toBe('Authorized applications')
  })
})

function withGrants(...grants: readonly AuthorizedGrant[]): AuthorizedApplicationsPageModel {
  return { ...plainApplications, applications: [{ ...plainApplication, grants }] }
}

describe('the form of several applications', () => {
  const nodes = elementsOf(authorizedApplicationsPage(plainChoice))
  const form = nodes.find((node) => attribute(node, 'id') === 'chosen')
  const boxes = nodes.filter((node) => attribute(node, 'type') === 'checkbox')

  it('posts the checkbox of each application, none of them checked, in a form beside theirs', () => {
    expect([attribute(form, 'method'), attribute(form, 'action')]).toEqual(['post', '/oauth2/applications'])
    expect(boxes.map((node) => ['form', 'name', 'value', 'checked'].map((key) => attribute(node, key)))).toEqual([
      ['chosen', 'client_id', 'loom', undefined],
      ['chosen', 'client_id', 'shuttle', undefined],
    ])
    const labels = nodes.filter(({ nodeName }) => nodeName === 'label')
    expect(labels.map((node) => textOf(node).trim())).toEqual(['Choose Loom', 'Choose Shuttle'])
  })

  it('does nothing at the Enter key in a checkbox', () => {
    const inside = nodes.slice(nodes.indexOf(form ?? expect.fail()))
    const fields = inside.filter(({ nodeName }) => /^(input|button)$/.test(nodeName))
    const [first] = fields.filter((node) => attribute(node, 'type') === 'submit')
    const marks = ['formmethod', 'name', 'hidden'].map((key) => attribute(first, key))
    expect(marks).toEqual(['dialog', undefined, ''])
    expect(fields.map((node) => [attribute(node, 'type'), textOf(node)])).toEqual([
      ['submit', ''],
      ['hidden', ''],
      ['submit', 'Revoke access of the chosen ones'],
    ])
  })

  it('is not there where there is nothing to choose', () => {
    const plain = elementsOf(authorizedApplicationsPage(plainApplications))
    expect(
      plain.filter((node) => attribute(node, 'type') === 'checkbox' || attribute(node, 'id') === 'chosen'),
    ).toEqual([])
  })
})

it('the outcome of the last form is said first, and the title is the same', () => {
  const document = authorizedApplicationsPage(plainChoice)
  const first = element(document, 'main').childNodes?.find(({ nodeName }) => nodeName !== '#text')
  expect(first && [attribute(first, 'role'), textOf(first)]).toEqual(['status', plainChoice.notice])
  expect(textOf(element(document, 'title'))).toBe('Authorized applications')
})

/** Each section: its elements, the heading, the texts. */
function partsOf(model: AuthorizedApplicationsPageModel) {
  const all = elementsOf(authorizedApplicationsPage(model))
  const end = all.findIndex((node) => node.nodeName === 'form' && attribute(node, 'id') === 'chosen')
  const nodes = end < 0 ? all : all.slice(0, end)
  const starts = [...nodes.entries()].filter(([, { nodeName }]) => nodeName === 'section').map(([i]) => i)
  return starts.map((start, i) => {
    const part = nodes.slice(start, starts[i + 1])
    return {
      nodes: part,
      heading: part
        .filter(({ nodeName }) => nodeName === 'h2')
        .map(textOf)
        .join(),
      texts: part.map(textOf),
    }
  })
}

/** Terms and what is said of them, where there is one grant. */
function details(grant: AuthorizedGrant) {
  const nodes = partsOf(withGrants(grant))[0]?.nodes ?? []
  const textsOf = (name: string) => nodes.flatMap((node) => (node.nodeName === name ? [textOf(node).trim()] : []))
  const said = textsOf('dd')
  return textsOf('dt').map((term, i) => [term, said[i]])
}

function shownValues({ user, applications, notice, fault }: AuthorizedApplicationsPageModel) {
  return [
    user.name,
    ...(notice === undefined ? [] : [notice]),
    ...(fault === undefined ? [] : [fault]),
    ...applications.flatMap(({ name, website, grants, older }) => [
      name,
      website.startsWith('https://') ? new URL(website).href : website,
      ...[...grants, ...(older === undefined ? [] : [older])].flatMap(({ scopes, resources }) => [
        ...scopes.map(({ description }) => description),
        ...[resources].flat().flatMap(({ kind, items }) => (kind === 'specified' ? items : [])),
      ]),
    ]),
  ]
}

function sentValues({ applications, choiceForm, stylesheet, next }: AuthorizedApplicationsPageModel) {
  return [
    stylesheet,
    ...(choiceForm === undefined ? [] : formValues(choiceForm)),
    ...(next === undefined ? [] : [next]),
    ...applications.flatMap(sentOf),
  ]
}

function formValues({ action, fields }: AuthorizedApplication['form']) {
  return [action, ...fields.flatMap(({ name, value }) => [name, value])]
}

function sentOf({ website, logo, grants, older, form, choice }: AuthorizedApplication) {
  return [
    ...formValues(form),
    ...(choice === undefined ? [] : [choice.name, choice.value]),
    ...[...grants, ...(older === undefined ? [] : [older])].flatMap(({ scopes }) => scopes.map(({ scope }) => scope)),
    ...(website.startsWith('https://') ? [new URL(website).href] : []),
    ...(logo?.startsWith('data:') ? [logo] : []),
  ]
}
