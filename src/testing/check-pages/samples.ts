/**
 * The models that the check of pages renders: of each page one with every optional field, and one with none.
 * @module
 */
import type {
  AuthorizedApplication,
  AuthorizedApplicationsPageModel,
  ConsentPageModel,
  DevicePageModel,
  DeviceResultPageModel,
  ErrorPageModel,
} from '../../pages/index.js'

/** The attribute and the element that a page has if it does not escape a name. */
export const UNESCAPED = 'x-unescaped'

/** Markup that a page shows as text, if it escapes it. */
const MARKUP = `"${UNESCAPED}="<${UNESCAPED}>`

const user = { name: `Ada ${MARKUP}` }
const stylesheet = '/oauth2/style.css'
const form = {
  action: '/oauth2/sample',
  fields: [
    { name: 'request', value: 'client_id=sample&state="x"' },
    { name: 'consent', value: 'c2FtcGxl' },
  ],
}
const scopes = [
  { scope: 'repo-code:rw', permission: 'rw', description: 'Sample code' },
  { scope: 'repo-issue:r', permission: 'r', description: 'Sample issues' },
] as const
const audiences = [{ name: `Packages ${MARKUP}`, resource: 'https://packages.example' }]
const whole = {
  name: `Sample ${MARKUP}`,
  description: `A sample ${MARKUP}`,
  website: 'https://sample.example/',
  logo: '/oauth2/logo?logo=sample',
  host: 'sample-client.example',
} as const
const bare = { name: 'Bare', website: '' }

const web: Extract<ConsentPageModel, { readonly redirectHost: string }> = {
  application: bare,
  user,
  redirectHost: 'callback.example',
  scopes,
  resources: {
    choices: ['all', 'public', 'specified'],
    selected: 'specified',
    items: [
      { id: 'engine"', name: `Engine ${MARKUP}`, checked: false },
      { id: 'notes', name: 'Notes', checked: true },
    ],
  },
  form,
  stylesheet,
}
const { redirectHost: _, ...withoutRedirect } = web

/** The consent pages: with no optional field, with a fault, for a device, and with all fields. */
export const CONSENTS: {
  readonly [State in 'plain' | 'fault' | 'device' | 'whole']: ConsentPageModel
} = {
  plain: web,
  fault: { ...web, fault: 'A sample fault.' },
  device: {
    ...withoutRedirect,
    userCode: 'WDJB-MJHT',
    scopes: [],
    resources: { choices: ['all'], selected: 'all', items: [] },
  },
  whole: {
    ...web,
    application: { ...whole, unchecked: true },
    audiences,
    resources: { ...web.resources, notShown: 2 },
    fault: 'A sample fault.',
  },
}

const device: DevicePageModel = { user, complete: false, form, stylesheet }

/** The device pages: an empty field, a code that was refused, and the code of a link. */
export const DEVICES: { readonly [State in 'plain' | 'typed' | 'fault' | 'complete']: DevicePageModel } = {
  plain: device,
  typed: { ...device, userCode: 'WDJB"' },
  fault: { ...device, userCode: 'WDJB"', fault: 'A sample fault.' },
  complete: { ...device, userCode: 'WDJB-MJHT', complete: true },
}

/** The pages after a decision on a device. */
export const RESULTS: { readonly [Decision in 'agree' | 'refuse']: DeviceResultPageModel } = {
  agree: { decision: 'agree', application: { name: 'Sample', website: whole.website }, stylesheet },
  refuse: { decision: 'refuse', application: { name: 'Sample', website: whole.website }, stylesheet },
}

const SPECIFIED = { kind: 'specified', items: [`Engine ${MARKUP}`], notShown: 2, isMore: true } as const
const grant = {
  scopes,
  resources: { kind: 'all', items: [] },
  createdAt: 1_700_000_000,
  expiresAt: 1_702_592_000,
} as const
const formOf = (application: string): AuthorizedApplication['form'] => ({
  action: '/oauth2/sample',
  fields: [{ name: 'application', value: application }, ...form.fields],
})
const applications: readonly AuthorizedApplication[] = [
  { ...bare, suspended: false, grants: [grant], form: formOf('bare') },
  {
    ...whole,
    suspended: true,
    grants: [{ ...grant, resources: SPECIFIED, audiences, lastUsedAt: 1_700_086_400 }, grant],
    older: { count: 3, scopes, audiences, resources: [SPECIFIED, grant.resources] },
    form: formOf('whole'),
  },
]
const choosable = applications.map((each, index) => ({
  ...each,
  choice: { name: 'client_id', value: `sample"${index}` },
}))
const choiceForm = { action: '/oauth2/sample', fields: [{ name: 'decision', value: 'sample"' }] }
const listed: AuthorizedApplicationsPageModel = { user, applications, stylesheet, more: false }

/** The lists of applications: none, some, more on another page, more than can be shown, an incomplete one, a choice, and an outcome. */
export const LISTS: {
  readonly [State in
    | 'empty'
    | 'plain'
    | 'next'
    | 'more'
    | 'incomplete'
    | 'choice'
    | 'notice']: AuthorizedApplicationsPageModel
} = {
  empty: { ...listed, applications: [] },
  plain: listed,
  next: { ...listed, next: '/oauth2/applications?from=2&sample', more: true },
  more: { ...listed, more: true },
  incomplete: { ...listed, isIncomplete: true },
  choice: { ...listed, applications: choosable, choiceForm },
  notice: { ...listed, notice: `An outcome ${MARKUP}` },
}

const error: ErrorPageModel = { code: 'link', title: `A title ${MARKUP}`, message: 'A message.', stylesheet }

/** The error pages: without a link, with one, and about an application. */
export const ERRORS: { readonly [State in 'plain' | 'link' | 'application']: ErrorPageModel } = {
  plain: error,
  link: { ...error, code: 'signedOut', link: { href: '/sign-in?return_to=%2Foauth2&sample', text: 'Sign in' } },
  application: { ...error, application: { name: whole.name, website: whole.website } },
}
