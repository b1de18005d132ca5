/** The pages (specification, 4.1 and 5.3), read back by an HTML parser. */
import * as fc from 'fast-check'
import {
  type ConsentPageModel,
  displayText,
  escapeHtml,
  html,
  renderHtml,
  type SafeHtml,
  stylesheet,
} from 'grantwell/pages'
import { describe, expect, it } from 'vitest'
import {
  authorizedApplicationsPage,
  consentPage,
  devicePage,
  deviceResultPage,
  errorPage,
  inaccessibleLink,
} from './english.js'
import {
  hostileModel,
  hostileText,
  plainApplication,
  plainApplications,
  plainChoice,
  plainComplete,
  plainDevice,
  plainDeviceConsent,
  plainDeviceResult,
  plainModel,
  tamed,
} from './models.js'
import { asParsed, attribute, contentsOf, element, elementsOf, skeletonOf, textOf } from './tree.js'

/** One of every kind and state. */
const documents: Readonly<Record<string, string>> = {
  consent: consentPage(plainModel),
  'consent with a fault': consentPage({ ...plainModel, fault: 'x' }),
  'consent on a device': consentPage(plainDeviceConsent),
  error: errorPage({ ...inaccessibleLink, stylesheet: plainModel.stylesheet }),
  device: devicePage(plainDevice),
  'device with a fault': devicePage({ ...plainDevice, userCode: 'x', fault: 'x' }),
  'device with the code of a link': devicePage(plainComplete),
  connected: deviceResultPage(plainDeviceResult),
  refused: deviceResultPage({ ...plainDeviceResult, decision: 'refuse' }),
  applications: authorizedApplicationsPage(plainApplications),
  'applications, of which some are chosen': authorizedApplicationsPage(plainChoice),
  'applications, none': authorizedApplicationsPage({ ...plainApplications, applications: [], more: true }),
}

it.each(Object.entries(documents))('%s: browsers do not fill in a form again', (_, document) => {
  const forms = elementsOf(document).filter(({ nodeName }) => nodeName === 'form')
  for (const form of forms) expect(attribute(form, 'autocomplete')).toBe('off')
})

describe('12: every value is escaped', () => {
  it('no value of a consent page makes an element or an attribute', () => {
    fc.assert(
      fc.property(hostileModel, (model) => {
        expect(skeletonOf(consentPage(model))).toBe(skeletonOf(consentPage(tamed(model))))
      }),
      { numRuns: 300 },
    )
  })

  it('every value of a consent page is there, as text or as the whole of an attribute', () => {
    fc.assert(
      fc.property(hostileModel, (model) => {
        const document = consentPage(model)
        const { texts, attributes } = contentsOf(document)
        for (const text of shownValues(model)) expect(texts).toContain(displayText(text))
        for (const value of sentValues(model)) expect(attributes).toContain(asParsed(value))
      }),
      { numRuns: 300 },
    )
  })

  it('no value of an error page makes an element, and each is there', () => {
    fc.assert(
      fc.property(hostileText, hostileText, hostileText, hostileText, (title, message, stylesheet, href) => {
        const link = { href, text: message }
        const detail = { parameter: href, rule: title }
        const application = { name: title, website: 'https://x.example/' }
        const document = errorPage({ title, message, stylesheet, detail, link, application })
        const { texts, attributes } = contentsOf(document)
        const x = {
          detail: { parameter: 'x', rule: 'x' },
          link: { href: 'x', text: 'x' },
          application: { name: 'x', website: 'https://x.example/' },
        }
        const plain = errorPage({ title: 'x', message: 'x', stylesheet: 'x', ...x })
        expect(skeletonOf(document)).toBe(skeletonOf(plain))
        expect(attributes).toContain(asParsed(href))
        expect(textOf(element(document, 'main'))).toContain(`Back to ${displayText(title)}`)
        for (const name of ['title', 'h1']) expect(textOf(element(document, name))).toBe(displayText(title))
        expect(texts).toContain(displayText(message))
        expect(textOf(element(document, 'code'))).toBe(asParsed(href))
        expect(attributes).toContain(asParsed(stylesheet))
      }),
    )
  })

  it('a template gives a parser back what was put into it, NUL as U+FFFD', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const document = `<!doctype html>${renderHtml(html`<p title="${text}" lang='${text}'>${text}</p>`)}`
        const paragraph = element(document, 'p')
        expect(textOf(paragraph)).toBe(asParsed(text))
        expect(attribute(paragraph, 'title')).toBe(asParsed(text))
        expect(attribute(paragraph, 'lang')).toBe(asParsed(text))
      }),
    )
  })

  it('escapes the characters that end text or a quoted attribute', () => {
    expect(escapeHtml(`<a href="x" title='y'>&`)).toBe('&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;')
  })

  it('joins fragments, leaves out undefined, writes numbers', () => {
    const list = [html`<i>${1}</i>`, html`<b>${undefined}</b>`]
    expect(renderHtml(html`${list}${undefined}`)).toBe('<i>1</i><b></b>')
  })

  it('takes nothing for a fragment but what a template made', () => {
    const key = Symbol.for('grantwell.pages.markup')
    const forged: readonly (readonly [unknown, string])[] = [
      [JSON.parse(`{"${String(key)}":"<b>","markup":"<b>"}`), '[object Object]'],
      [Object.create({ [key]: '<b>' }), '[object Object]'],
      [{ toString: () => '<b>' }, '&lt;b&gt;'],
      [['<b>', ['<i>']], '&lt;b&gt;&lt;i&gt;'],
      [null, 'null'],
      [true, 'true'],
    ]
    for (const [value, expected] of forged) {
      // A caller without types passes such values.
      expect(renderHtml(html`${value as SafeHtml}`)).toBe(expected)
    }
  })

  it('refuses to be called as a function', () => {
    // As above: what a caller without types could write.
    const called = html as unknown as (text: string | readonly string[]) => SafeHtml
    expect(() => called(['<b>'])).toThrow(TypeError)
    expect(() => called('<b>')).toThrow(TypeError)
  })
})

/** The pages that show what an application registered. */
const pagesOfApplications: [string, (application: { readonly website?: string; readonly logo?: string }) => string][] =
  [
    ['consent', (changes) => consentPage({ ...plainModel, application: { name: 'x', website: 'x', ...changes } })],
    [
      'applications',
      (changes) =>
        authorizedApplicationsPage({
          ...plainApplications,
          applications: [{ ...plainApplication, ...changes }],
        }),
    ],
  ]

describe('12: the pages work under a strict policy', () => {
  it.each(Object.entries(documents))('%s: no script, no inline style, no frame, no event handler', (_, document) => {
    for (const node of elementsOf(document)) {
      expect(['script', 'style', 'iframe', 'object', 'embed', 'base', 'template']).not.toContain(node.nodeName)
      for (const { name } of node.attrs ?? []) expect(name).not.toMatch(/^(on.*|style|srcdoc|srcset)$/)
    }
  })

  it('loads nothing but the stylesheet, which loads nothing', () => {
    for (const document of Object.values(documents)) {
      const loading = elementsOf(document).filter(({ nodeName }) => ['link', 'img', 'source'].includes(nodeName))
      expect(loading.map((node) => attribute(node, 'href'))).toEqual([plainModel.stylesheet])
    }
    expect(stylesheet).not.toMatch(/url\(|@import|@font-face|\\|</)
  })

  it.each(pagesOfApplications)(
    '%s: links to http and https alone, without referrer, opener or user info',
    (_, page) => {
      const linkOf = (website: string) => elementsOf(page({ website })).find((node) => node.nodeName === 'a')
      for (const website of [
        'javascript:alert(1)',
        ' JavaScript:alert(1)',
        'data:text/html,x',
        'ftp://x/',
        '//x/',
        'x',
        '',
      ]) {
        expect(linkOf(website)).toBeUndefined()
      }
      expect(attribute(linkOf('HTTP://loom.example'), 'href')).toBe('http://loom.example/')
      expect(attribute(linkOf('https://loom.example'), 'rel')).toBe('noreferrer noopener')
      expect(attribute(linkOf('https://bank.example:x@evil.example/?a#b'), 'href')).toBe('https://evil.example/?a#b')
      expect(attribute(linkOf('https://b\u0430nk.example/'), 'href')).toBe('https://xn--bnk-6cd.example/')
    },
  )

  it.each(pagesOfApplications)('%s: a logo is shown from a path of this server alone', (_, page) => {
    const logoOf = (logo: string) => elementsOf(page({ logo })).find((node) => node.nodeName === 'img')
    expect(attribute(logoOf('/oauth2/logo?client_id=a&logo=b'), 'src')).toBe('/oauth2/logo?client_id=a&logo=b')
    for (const logo of [
      'https://evil.example/x.png',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      '/\r\n\\evil.example',
      'data:image/png;base64,AA==',
      '',
    ]) {
      expect(logoOf(logo)).toBeUndefined()
    }
    const pieces = fc.constantFrom(
      '/',
      '\\',
      '\t',
      '\n',
      '\r',
      '\f',
      '\0',
      ' ',
      '.',
      ':',
      '?',
      '#',
      '@',
      'evil.example',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 6 }), (parts) => {
        const shown = attribute(logoOf(`/${parts.join('')}`), 'src')
        // A text that is no path of this origin is not shown at all.
        expect(new URL(shown ?? '/', 'https://git.example/oauth2/auth').origin).toBe('https://git.example')
      }),
      { numRuns: 500 },
    )
  })
})

describe('a name cannot rearrange the words around it', () => {
  it('shows directional controls, separators and control characters as U+FFFD and keeps the rest', () => {
    expect(displayText('a\u202Ab\u202Ec\u2066d\u2069e\u2028f\u2029g\u0085h\0i\u009Fj')).toBe(
      'a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf\uFFFDg\uFFFDh\uFFFDi\uFFFDj',
    )
    expect(displayText('a\tb\nc\r\nd')).toBe('a b c  d')
    const marks = 'مُنشئ \u200Fעדה\u200E 👩\u200D💻 می\u200Cخواهم e\u0301'
    expect(displayText(marks)).toBe(marks)
  })

  it('isolates every name and every description', () => {
    const isolated = elementsOf(consentPage({ ...plainModel, application: { name: 'Loom', website: 'x:y' } }))
      .filter(({ nodeName }) => nodeName === 'bdi')
      .map(textOf)
    const { user, redirectHost, scopes, resources } = plainModel
    const descriptions = scopes.map(({ description }) => description)
    const names = resources.items.map(({ name }) => name)
    expect(new Set(isolated)).toEqual(new Set(['Loom', user.name, 'x:y', redirectHost, ...descriptions, ...names]))
  })
})

describe('13: what is shown is what is granted', () => {
  it('lists every scope once, under the words for its permission', () => {
    fc.assert(
      fc.property(hostileModel, (model) => {
        const listed = elementsOf(consentPage(model)).filter(({ nodeName }) => nodeName === 'data')
        const changing = model.scopes.filter(({ permission }) => permission === 'rw')
        const reading = model.scopes.filter(({ permission }) => permission === 'r')
        const expected = [...changing, ...reading]
        expect(listed.map((node) => attribute(node, 'value'))).toEqual(expected.map(({ scope }) => asParsed(scope)))
        expect(listed.map(textOf)).toEqual(expected.map(({ description }) => displayText(description)))
      }),
    )
    const titles = elementsOf(consentPage(plainModel)).filter(({ nodeName }) => nodeName === 'h3')
    expect(titles.map(textOf)).toEqual(['Read and change', 'Read'])
  })
})

describe('the consent form', () => {
  it('posts to the action with the hidden fields', () => {
    const nodes = elementsOf(consentPage(plainModel))
    const form = nodes.find(({ nodeName }) => nodeName === 'form')
    expect([attribute(form, 'method'), attribute(form, 'action')]).toEqual(['post', '/oauth2/auth'])
    expect(fields(plainModel, 'hidden')).toEqual([['request', 'abc', false]])
  })

  it('has the buttons Agree and Refuse, in this order', () => {
    expect(decisionButtons().map((node) => [attribute(node, 'value'), textOf(node)])).toEqual([
      ['agree', 'Agree'],
      ['refuse', 'Refuse'],
    ])
  })

  it('lets no link and no Enter key elsewhere press a button', () => {
    for (const button of decisionButtons()) {
      expect(attribute(button, 'id')).toBeUndefined()
      expect(attribute(button, 'autofocus')).toBeUndefined()
    }
    const first = elementsOf(consentPage(plainModel)).find((node) => attribute(node, 'type') === 'submit')
    expect([attribute(first, 'formmethod'), attribute(first, 'name'), attribute(first, 'hidden')]).toEqual([
      'dialog',
      undefined,
      '',
    ])
  })

  it('lets a user refuse without having chosen', () => {
    expect(decisionButtons().map((node) => attribute(node, 'formnovalidate'))).toEqual([undefined, ''])
  })

  it('offers the choices as radio buttons with the selected one checked', () => {
    expect(fields(plainModel, 'radio')).toEqual([
      ['resource_scope', 'all', false],
      ['resource_scope', 'public', false],
      ['resource_scope', 'specified', true],
    ])
  })

  it('makes the user choose when the selected one is not offered', () => {
    const model = withResources({ choices: ['all', 'public'] })
    expect(fields(model, 'radio').map(([, , checked]) => checked)).toEqual([false, false])
    const radios = elementsOf(consentPage(model)).filter((node) => attribute(node, 'type') === 'radio')
    expect(radios.map((node) => attribute(node, 'required'))).toEqual(['', ''])
  })

  it('says a single choice in words and sends it along', () => {
    for (const [kind, words] of [
      ['all', 'All resources of your account'],
      ['public', 'All public resources of your account'],
      ['specified', 'Only the resources that you choose'],
    ] as const) {
      const model = withResources({ choices: [kind], selected: kind })
      expect(fields(model, 'radio')).toEqual([])
      expect(fields(model, 'hidden')).toContainEqual(['resource_scope', kind, false])
      expect(contentsOf(consentPage(model)).texts).toContain(words)
    }
  })

  it('names resources as checkboxes, where the user may choose them', () => {
    expect(fields(plainModel, 'checkbox')).toEqual([
      ['resource', '1', false],
      ['resource', '2', true],
    ])
    expect(fields(withResources({ choices: ['all', 'public'] }), 'checkbox')).toEqual([])
    expect(consentPage(withResources({ items: [] }))).toContain('You have no resources to choose from.')
  })

  it('says that a user has no resources only where there are none', () => {
    const document = consentPage(withResources({ items: [], notShown: 2 }))
    expect(document).toContain('None of your resources can be chosen here.')
    expect(document).not.toContain('You have no resources')
  })

  it('lets a keyboard skip a long list', () => {
    const items = (length: number) => Array.from({ length }, (_, i) => ({ id: `${i}`, name: `${i}`, checked: false }))
    expect(consentPage(withResources({ items: items(12) }))).not.toContain('href="#decision"')
    expect(consentPage(withResources({ items: items(13) }))).toContain('href="#decision"')
  })

  it('says what was wrong, in the title too', () => {
    const document = consentPage({ ...plainModel, fault: 'Choose a resource.' })
    const alert = elementsOf(document).find((node) => attribute(node, 'role') === 'alert')
    expect(alert && textOf(alert)).toBe('Choose a resource.')
    expect(textOf(element(document, 'title'))).toBe('Error: Authorize Loom')
    expect(textOf(element(consentPage(plainModel), 'title'))).toBe('Authorize Loom')
  })

  it('says so when nothing is asked for', () => {
    expect(consentPage({ ...plainModel, scopes: [] })).toContain('do nothing more than know that you agreed.')
  })

  it('leaves out an empty description', () => {
    const application = { ...plainModel.application, description: '' }
    expect(consentPage({ ...plainModel, application })).not.toContain('<figure>')
  })
})

describe('the consent page of a device (RFC 8628, 3.3 and 5.4)', () => {
  it('shows the code in place of where the user returns to, and asks to compare it', () => {
    const { texts } = contentsOf(consentPage(plainDeviceConsent))
    expect(termsOf(consentPage(plainDeviceConsent))).toEqual([
      ['Website', 'https://loom.example/'],
      ['Code on your device', 'WDJB-MJHT'],
    ])
    expect(texts).toContain(
      'Agree only if a device that is yours and in front of you shows this very code. It is that device which gets ' +
        'the access.',
    )
  })

  it('says nothing of a device where there is none', () => {
    expect(termsOf(consentPage(plainModel))).toEqual([
      ['Website', 'https://loom.example/'],
      ['You will return to', 'app.loom.example'],
    ])
    expect(consentPage(plainModel)).not.toMatch(/your device|class="warning"/)
  })

  it('says beside the buttons what they are about', () => {
    const inShort = (document: string) =>
      elementsOf(document)
        .filter((node) => attribute(node, 'id') === 'asked')
        .map(textOf)
    const asked = 'Loom wants to access the account ada.'
    expect(inShort(consentPage(plainModel))).toEqual([`${asked} Your answer goes to app.loom.example.`])
    expect(inShort(consentPage(plainDeviceConsent))).toEqual([
      `${asked} Agree only if your own device shows the code WDJB-MJHT.`,
    ])
  })

  it('differs in nothing else', () => {
    const common = (document: string) =>
      document
        .split('\n')
        .filter((line) => !/You will return to|Code on your device|class="(warning|asked)"/.test(line))
    expect(common(consentPage(plainDeviceConsent))).toEqual(common(consentPage(plainModel)))
  })
})

describe('the error page', () => {
  it('says that the link cannot be accessed (4.1)', () => {
    const document = errorPage({ ...inaccessibleLink, stylesheet: '/s' })
    expect(textOf(element(document, 'h1'))).toBe('This link cannot be accessed')
    expect(textOf(element(document, 'title'))).toBe('This link cannot be accessed')
  })
})

describe('everybody can read the pages', () => {
  it('has a language, a title, one heading of the first level and one main landmark', () => {
    for (const document of Object.values(documents)) {
      const nodes = elementsOf(document)
      expect(attribute(element(document, 'html'), 'lang')).toBe('en')
      for (const name of ['title', 'h1', 'main'])
        expect(nodes.filter(({ nodeName }) => nodeName === name).length).toBe(1)
    }
  })

  it('has headings without a gap between their levels, and no id twice', () => {
    for (const document of Object.values(documents)) {
      const nodes = elementsOf(document)
      const levels = nodes.flatMap(({ nodeName }) => (/^h[1-6]$/.test(nodeName) ? [Number(nodeName[1])] : []))
      for (const [i, level] of levels.entries()) expect(level - (levels[i - 1] ?? 0)).toBeLessThanOrEqual(1)
      const ids = nodes.flatMap((node) => attribute(node, 'id') ?? [])
      expect(ids).toEqual([...new Set(ids)])
      const named = nodes.flatMap((node) =>
        ['aria-labelledby', 'aria-describedby'].flatMap((name) => attribute(node, name)?.split(' ') ?? []),
      )
      for (const id of named) expect(ids).toContain(id)
    }
  })

  it('gives no field and no button an id or the focus, which a link could use', () => {
    for (const document of Object.values(documents)) {
      for (const node of elementsOf(document).filter(({ nodeName }) => /^(input|button|summary)$/.test(nodeName))) {
        for (const name of ['id', 'autofocus', 'accesskey', 'tabindex']) expect(attribute(node, name)).toBeUndefined()
      }
    }
  })

  it('has a legend for every group of fields and a label around every field', () => {
    const nodes = elementsOf(consentPage(plainModel))
    for (const group of nodes.filter(({ nodeName }) => nodeName === 'fieldset')) {
      expect(group.childNodes?.find(({ nodeName }) => nodeName !== '#text')?.nodeName).toBe('legend')
    }
    const labelled = nodes
      .filter(({ nodeName }) => nodeName === 'label')
      .map((node) => attribute(node.childNodes?.[0], 'type'))
    expect(labelled).toEqual(['radio', 'radio', 'radio', 'checkbox', 'checkbox'])
  })

  it('has the contrast of WCAG 2.2 AA, in light and in dark', () => {
    const [light = new Map(), dark = new Map()] = [...stylesheet.matchAll(/:root \{([^}]*)\}/g)].map(([, rules]) =>
      palette(rules ?? ''),
    )
    for (const colours of [light, new Map([...light, ...dark])]) {
      const ratio = (a: string, b: string) => contrast(colours.get(a) ?? '', colours.get(b) ?? '')
      for (const page of ['page', 'card']) {
        for (const text of ['text', 'muted', 'link']) expect(ratio(text, page)).toBeGreaterThanOrEqual(4.5)
      }
      expect(ratio('change', 'card')).toBeGreaterThanOrEqual(4.5)
      expect(ratio('fault', 'fault-page')).toBeGreaterThanOrEqual(4.5)
      for (const state of ['primary', 'primary-hover']) expect(ratio('on-primary', state)).toBeGreaterThanOrEqual(4.5)
      for (const state of ['secondary', 'secondary-hover']) expect(ratio('text', state)).toBeGreaterThanOrEqual(4.5)
      expect(ratio('muted', 'secondary')).toBeGreaterThanOrEqual(4.5)
      for (const state of ['secondary', 'secondary-hover']) expect(ratio('fault', state)).toBeGreaterThanOrEqual(4.5)
      for (const border of ['control', 'fault']) expect(ratio(border, 'card')).toBeGreaterThanOrEqual(3)
      expect(ratio('primary', 'card')).toBeGreaterThanOrEqual(3)
    }
  })
})

function termsOf(document: string) {
  const textsOf = (name: string) => elementsOf(document).flatMap((node) => (node.nodeName === name ? textOf(node) : []))
  const details = textsOf('dd')
  return textsOf('dt').map((term, i) => [term, details[i]])
}

function decisionButtons() {
  return elementsOf(consentPage(plainModel)).filter((node) => attribute(node, 'name') === 'decision')
}

function withResources(resources: Partial<ConsentPageModel['resources']>): ConsentPageModel {
  return { ...plainModel, resources: { ...plainModel.resources, ...resources } }
}

function fields(model: ConsentPageModel, type: string) {
  return elementsOf(consentPage(model))
    .filter((node) => attribute(node, 'type') === type)
    .map((node) => [attribute(node, 'name'), attribute(node, 'value'), attribute(node, 'checked') !== undefined])
}

function shownValues({ application, user, redirectHost, userCode, scopes, resources, fault }: ConsentPageModel) {
  const { name, description, website } = application
  return [
    name,
    user.name,
    userCode === undefined ? redirectHost : userCode,
    website.startsWith('https://') ? new URL(website).href : website,
    ...scopes.flatMap(({ description, reason }) => (reason === undefined ? [description] : [description, reason])),
    ...(resources.choices.includes('specified') ? resources.items.map(({ name }) => name) : []),
    ...(description === undefined || description === '' ? [] : [description]),
    ...(fault === undefined ? [] : [fault]),
  ]
}

function sentValues({ application, user, scopes, resources, form, stylesheet }: ConsentPageModel) {
  const { website, logo } = application
  return [
    form.action,
    stylesheet,
    ...form.fields.flatMap(({ name, value }) => [name, value]),
    ...(user.switchAccountUrl === undefined ? [] : [user.switchAccountUrl]),
    ...scopes.map(({ scope }) => scope),
    ...(resources.choices.includes('specified') ? resources.items.map(({ id }) => id) : []),
    ...(website.startsWith('https://') ? [new URL(website).href] : []),
    ...(logo?.startsWith('data:') ? [logo] : []),
  ]
}

function palette(rules: string): ReadonlyMap<string, string> {
  return new Map(
    [...rules.matchAll(/--([a-z-]+): #([0-9a-f]{6})/g)].map(([, name = '', colour = '']) => [name, colour]),
  )
}

// WCAG 2.2, "contrast ratio" and "relative luminance".
function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [0, 2, 4]
    .map((i) => Number.parseInt(colour.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
