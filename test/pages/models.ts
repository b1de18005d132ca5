/**
 * Models of the pages, plain and hostile.
 * @module
 */
import * as fc from 'fast-check'
import type {
  AuthorizedApplication,
  AuthorizedApplicationsPageModel,
  AuthorizedGrant,
  AuthorizedResources,
  ConsentPageModel,
  DevicePageModel,
  DeviceResultPageModel,
  SignedInUser,
} from 'grantwell/pages'
import { unicodeText } from '../unicode.js'

/** The consent that ends with a redirect. */
export const plainModel: Extract<ConsentPageModel, { readonly redirectHost: string }> = {
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

const { redirectHost: _, ...withoutRedirect } = plainModel

/** The consent that was begun on a device. */
export const plainDeviceConsent: Extract<ConsentPageModel, { readonly userCode: string }> = {
  ...withoutRedirect,
  userCode: 'WDJB-MJHT',
}

export const plainDevice: DevicePageModel = {
  user: { name: 'ada' },
  complete: false,
  form: { action: '/oauth2/device', fields: [{ name: 'request', value: 'abc' }] },
  stylesheet: '/oauth2/style.css',
}

/** The device page after a link with a code in it. */
export const plainComplete: DevicePageModel = { ...plainDevice, userCode: 'WDJB-MJHT', complete: true }

export const plainDeviceResult: DeviceResultPageModel = {
  decision: 'agree',
  application: { name: 'Loom', website: 'https://loom.example/' },
  stylesheet: '/oauth2/style.css',
}

/** 21 November 2026, noon. */
const NOON = 1_795_262_400

export const plainGrant: AuthorizedGrant = {
  scopes: plainModel.scopes,
  resources: { kind: 'specified', items: ['ada/engine', 'ada/notes'] },
  createdAt: NOON,
  lastUsedAt: NOON + 86_400,
  expiresAt: NOON + 30 * 86_400,
}

export const plainApplication: AuthorizedApplication = {
  name: 'Loom',
  website: 'https://loom.example/',
  suspended: false,
  grants: [plainGrant],
  form: { action: '/oauth2/applications', fields: [{ name: 'application', value: 'loom' }] },
}

const shuttle: AuthorizedApplication = { ...plainApplication, name: 'Shuttle', website: 'shuttle', suspended: true }

/** The page with the form of several applications, after one was sent. */
export const plainChoice: AuthorizedApplicationsPageModel = {
  user: { name: 'ada' },
  applications: [
    { ...plainApplication, choice: { name: 'client_id', value: 'loom' } },
    { ...shuttle, choice: { name: 'client_id', value: 'shuttle' } },
  ],
  choiceForm: { action: '/oauth2/applications', fields: [{ name: 'decision', value: 'chosen' }] },
  notice: 'Access was revoked: 2 applications.',
  stylesheet: '/oauth2/style.css',
  more: false,
}

export const plainApplications: AuthorizedApplicationsPageModel = {
  user: { name: 'ada' },
  applications: [plainApplication, shuttle],
  stylesheet: '/oauth2/style.css',
  more: false,
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
  unicodeText({ maxLength: 30 }),
  fc
    .array(fc.oneof(fc.constantFrom(...breakers), unicodeText({ maxLength: 3 })), { maxLength: 5 })
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
  hostileText.map((text) => `/oauth2/logo?logo=${text}`),
  hostileText.map((text) => `https://evil.example/${text}`),
)

const scopes = fc.array(
  fc.record(
    {
      scope: hostileText,
      permission: fc.constantFrom('r' as const, 'rw' as const),
      description: hostileText,
      reason: hostileText,
    },
    { requiredKeys: ['scope', 'permission', 'description'] },
  ),
  { maxLength: 4 },
)
const form = fc.record({
  action: hostileText,
  fields: fc.array(fc.record({ name: hostileText, value: hostileText }), { maxLength: 3 }),
})
const user = fc.record({ name: hostileText, switchAccountUrl: hostileText }, { requiredKeys: ['name'] })

/** A model in which every value is hostile. */
export const hostileModel: fc.Arbitrary<ConsentPageModel> = fc
  .record(
    {
      application: fc.record(
        {
          name: hostileText,
          description: hostileText,
          website,
          logo,
          host: hostileText,
          unchecked: fc.constant(true as const),
          checkedAt: fc.nat(),
        },
        { requiredKeys: ['name', 'website'] },
      ),
      user,
      scopes,
      resources: fc.record(
        {
          choices: fc.subarray([...kinds], { minLength: 1 }),
          selected: fc.constantFrom(...kinds),
          items: fc.array(fc.record({ id: hostileText, name: hostileText, checked: fc.boolean() }), { maxLength: 15 }),
          search: hostileText,
        },
        { requiredKeys: ['choices', 'selected', 'items'] },
      ),
      form,
      stylesheet: hostileText,
      fault: hostileText,
    },
    { requiredKeys: ['application', 'user', 'scopes', 'resources', 'form', 'stylesheet'] },
  )
  .chain((model) =>
    fc.tuple(fc.boolean(), hostileText).map(([device, text]) => {
      return device ? { ...model, userCode: text } : { ...model, redirectHost: text }
    }),
  )

export const hostileDevice: fc.Arbitrary<DevicePageModel> = fc.record(
  { user, userCode: hostileText, complete: fc.boolean(), form, stylesheet: hostileText, fault: hostileText },
  { requiredKeys: ['user', 'complete', 'form', 'stylesheet'] },
)

export const hostileDeviceResult: fc.Arbitrary<DeviceResultPageModel> = fc.record({
  decision: fc.constantFrom('agree' as const, 'refuse' as const),
  application: fc.record({ name: hostileText, website }, { requiredKeys: ['name'] }),
  stylesheet: hostileText,
})

const hostileResources: fc.Arbitrary<AuthorizedResources> = fc.record(
  { kind: fc.constantFrom(...kinds), items: fc.array(hostileText, { maxLength: 15 }), notShown: fc.nat() },
  { requiredKeys: ['kind', 'items'] },
)

const hostileGrant: fc.Arbitrary<AuthorizedGrant> = fc.record(
  {
    scopes,
    resources: hostileResources,
    createdAt: fc.nat(),
    lastUsedAt: fc.nat(),
    expiresAt: fc.nat(),
  },
  { requiredKeys: ['scopes', 'resources', 'createdAt', 'expiresAt'] },
)

const hostileApplication: fc.Arbitrary<AuthorizedApplication> = fc.record(
  {
    name: hostileText,
    website,
    logo,
    host: hostileText,
    suspended: fc.boolean(),
    grants: fc.array(hostileGrant, { maxLength: 3 }),
    older: fc.record({
      count: fc.integer({ min: 1 }),
      scopes,
      resources: fc.array(hostileResources, { maxLength: 3 }),
    }),
    form,
    choice: fc.record({ name: hostileText, value: hostileText }),
  },
  { requiredKeys: ['name', 'website', 'suspended', 'grants', 'form'] },
)

export const hostileApplications: fc.Arbitrary<AuthorizedApplicationsPageModel> = fc.record(
  {
    user,
    applications: fc.array(hostileApplication, { maxLength: 3 }),
    stylesheet: hostileText,
    next: hostileText,
    more: fc.boolean(),
    choiceForm: form,
    notice: hostileText,
    fault: hostileText,
  },
  { requiredKeys: ['user', 'applications', 'stylesheet', 'more'] },
)

/** The same model with harmless values: same lists, same choices, same things left out. */
export function tamed(model: ConsentPageModel): ConsentPageModel {
  const { application, resources } = model
  const { description, host, unchecked, checkedAt } = application
  return {
    application: {
      name: 'x',
      ...tamedLooks(application),
      ...(description === undefined ? {} : { description: tame(description) }),
      ...(host === undefined ? {} : { host: 'x' }),
      ...(unchecked === undefined ? {} : { unchecked }),
      ...(checkedAt === undefined ? {} : { checkedAt }),
    },
    user: tamedUser(model.user),
    ...(model.userCode === undefined ? { redirectHost: 'x' } : { userCode: 'x' }),
    scopes: tamedScopes(model.scopes),
    resources: {
      ...resources,
      items: resources.items.map(({ checked }) => ({ id: 'x', name: 'x', checked })),
      ...(resources.search === undefined ? {} : { search: tame(resources.search) }),
    },
    form: tamedForm(model.form),
    stylesheet: 'x',
    ...(model.fault === undefined ? {} : { fault: 'x' }),
  }
}

/** As {@link tamed}. */
export function tamedDevice({ user, userCode, complete, form, fault }: DevicePageModel): DevicePageModel {
  return {
    user: tamedUser(user),
    ...(userCode === undefined ? {} : { userCode: tame(userCode) }),
    complete,
    form: tamedForm(form),
    stylesheet: 'x',
    ...(fault === undefined ? {} : { fault: 'x' }),
  }
}

/** As {@link tamed}. */
export function tamedApplications(model: AuthorizedApplicationsPageModel): AuthorizedApplicationsPageModel {
  return {
    user: tamedUser(model.user),
    applications: model.applications.map((application) => ({
      name: 'x',
      ...tamedLooks(application),
      ...(application.host === undefined ? {} : { host: 'x' }),
      suspended: application.suspended,
      grants: application.grants.map((grant) => ({
        ...grant,
        scopes: tamedScopes(grant.scopes),
        resources: tamedResources(grant.resources),
      })),
      ...(application.older !== undefined && {
        older: {
          count: application.older.count,
          scopes: tamedScopes(application.older.scopes),
          resources: application.older.resources.map(tamedResources),
        },
      }),
      form: tamedForm(application.form),
      ...(application.choice === undefined ? {} : { choice: { name: 'x', value: 'x' } }),
    })),
    stylesheet: 'x',
    ...(model.next === undefined ? {} : { next: 'x' }),
    more: model.more,
    ...(model.choiceForm === undefined ? {} : { choiceForm: tamedForm(model.choiceForm) }),
    ...(model.notice === undefined ? {} : { notice: 'x' }),
    ...(model.fault === undefined ? {} : { fault: 'x' }),
  }
}

function tamedUser({ switchAccountUrl }: SignedInUser): SignedInUser {
  return { name: 'x', ...(switchAccountUrl === undefined ? {} : { switchAccountUrl: 'x' }) }
}

function tamedLooks({ website, logo }: { readonly website: string; readonly logo?: string }) {
  return {
    // None is shown where there is none.
    website: website === '' ? '' : website.startsWith('https://') ? 'https://x.example/' : 'x',
    ...(logo === undefined ? {} : { logo: logo.startsWith('/') ? '/x' : 'x' }),
  }
}

function tamedResources({ items, ...rest }: AuthorizedResources): AuthorizedResources {
  return { ...rest, items: items.map(() => 'x') }
}

function tamedScopes(scopes: ConsentPageModel['scopes']) {
  return scopes.map(({ permission, reason }) => ({
    scope: 'x',
    permission,
    description: 'x',
    ...(reason === undefined ? {} : { reason: 'x' }),
  }))
}

function tamedForm({ fields }: ConsentPageModel['form']) {
  return { action: 'x', fields: fields.map(() => ({ name: 'x', value: 'x' })) }
}

// What is empty may be left out.
function tame(text: string): string {
  return text === '' ? '' : 'x'
}
