/**
 * Models of the consent page, plain and hostile.
 * @module
 */
import * as fc from 'fast-check'
import type { ConsentPageModel } from 'grantwell/pages'

export const plainModel: ConsentPageModel = {
  application: { name: 'Loom', description: 'Builds looms.', website: 'https://loom.example/' },
  user: { name: 'ada' },
  redirectHost: 'app.loom.example',
  scopes: [
    { scope: 'repo-issue:r', permission: 'r', description: 'Issues' },
    { scope: 'repo-code:rw', permission: 'rw', description: 'Repository code through Git commands' },
  ],
  resources: {
    choices: ['all', 'public', 'specified'],
    selected: 'specified',
    items: [
      { id: '1', name: 'ada/engine', checked: false },
      { id: '2', name: 'ada/notes', checked: true },
    ],
  },
  form: { action: '/oauth2/auth', fields: [{ name: 'request', value: 'abc' }] },
  stylesheet: '/oauth2/style.css',
}

const breakers = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' autofocus onfocus='alert(1)",
  '</title></bdi></main><h1>',
  '<!--',
  ']]>',
  '<![CDATA[',
  '<plaintext>',
  '&lt;b&gt;&#0;&amp;amp;&notit',
  '`',
  '\0',
  '\r\n\t\f\v',
  '\u2028\u2029\u0085',
  '\u2069\u202Etneilc',
  '=',
  '/',
]

/** Text that tries to be more than text. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc
    .array(fc.oneof(fc.constantFrom(...breakers), fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 5 })
    .map((parts) => parts.join('')),
)

const kinds = ['all', 'public', 'specified'] as const
const website = fc.oneof(
  hostileText.map((text) => `https://loom.example/${text}`),
  fc
    .tuple(fc.constantFrom('javascript:', 'data:text/html,', 'ftp://x/', '//', ''), hostileText)
    .map((two) => two.join('')),
)
const logo = fc.oneof(
  hostileText.map((text) => `data:image/png;base64,${text}`),
  hostileText.map((text) => `https://evil.example/${text}`),
)

/** A model in which every value is hostile. */
export const hostileModel: fc.Arbitrary<ConsentPageModel> = fc
  .record({
    application: fc.record(
      { name: hostileText, description: hostileText, website, logo },
      { requiredKeys: ['name', 'website'] },
    ),
    user: fc.record({ name: hostileText }),
    redirectHost: hostileText,
    scopes: fc.array(
      fc.record({ scope: hostileText, permission: fc.constantFrom('r', 'rw'), description: hostileText }),
      { maxLength: 4 },
    ),
    resources: fc.record({
      choices: fc.subarray([...kinds], { minLength: 1 }),
      selected: fc.constantFrom(...kinds),
      items: fc.array(fc.record({ id: hostileText, name: hostileText, checked: fc.boolean() }), { maxLength: 15 }),
    }),
    form: fc.record({
      action: hostileText,
      fields: fc.array(fc.record({ name: hostileText, value: hostileText }), { maxLength: 3 }),
    }),
    stylesheet: hostileText,
  })
  .chain((model) =>
    fc.option(hostileText, { nil: undefined }).map((fault) => (fault === undefined ? model : { ...model, fault })),
  )

/** The same model with harmless values: same lists, same choices, same things left out. */
export function tamed(model: ConsentPageModel): ConsentPageModel {
  const { application, resources, form } = model
  const { description, logo } = application
  return {
    application: {
      name: 'x',
      website: application.website.startsWith('https://') ? 'https://x.example/' : 'x',
      ...(description === undefined ? {} : { description: tame(description) }),
      ...(logo === undefined ? {} : { logo: logo.startsWith('data:') ? 'data:image/png,x' : 'x' }),
    },
    user: { name: 'x' },
    redirectHost: 'x',
    scopes: model.scopes.map(({ permission }) => ({ scope: 'x', permission, description: 'x' })),
    resources: { ...resources, items: resources.items.map(({ checked }) => ({ id: 'x', name: 'x', checked })) },
    form: { action: 'x', fields: form.fields.map(() => ({ name: 'x', value: 'x' })) },
    stylesheet: 'x',
    ...(model.fault === undefined ? {} : { fault: 'x' }),
  }
}

// A description may be empty, and is left out then.
function tame(text: string): string {
  return text === '' ? '' : 'x'
}
