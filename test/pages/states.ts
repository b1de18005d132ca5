/**
 * The table of all pages in all their states, for tests in a browser and for the screenshots of the site. A page that is added to the
 * package has its states here.
 * @module
 */
import type {
  Appearance,
  AuthorizedResources,
  ConsentScope,
  DefaultPageInput,
  ErrorPageModel,
  Language,
  PageErrorCode,
  Pages,
} from 'grantwell/pages'
import { countedText, defaultPages, faultText } from 'grantwell/pages'
import { describeError } from '../../src/endpoints/interaction/error-page.js'
import { CONSOLE_STATES } from '../console/states.js'
import {
  plainApplication,
  plainApplications,
  plainComplete,
  plainDevice,
  plainDeviceConsent,
  plainDeviceResult,
  plainGrant,
  plainModel,
} from './models.js'

/** A page in a state: writes its HTML in a language. */
export type PageState = (language: Language) => string | Promise<string>

/** The states of one page by their names. */
type States = Readonly<Record<string, PageState>>

/** A look of a host's own, with its stylesheet and its logo at these paths. */
export const BRAND: Appearance & { readonly stylesheet: string; readonly logo: string } = {
  name: 'Acme Git',
  logo: '/assets/acme.svg',
  stylesheet: '/assets/acme.css',
  colours: {
    light: { primary: '#5b2bb5', 'primary-hover': '#4a2296', link: '#5b2bb5' },
    dark: { primary: '#6d44c0', 'primary-hover': '#5b2bb5', link: '#c4a8ff' },
  },
  homeUrl: '/',
  helpUrl: '/help',
  termsUrl: '/terms',
  privacyUrl: '/privacy',
}

/** Makes a state of a page from the model that it has in a language. */
function stateOf<Model>(
  page: (input: DefaultPageInput<Model>) => string,
  modelIn: (language: Language) => Model,
  appearance: Appearance = {},
): PageState {
  return (language) => page({ ...language, model: modelIn(language), appearance })
}

const { consent, device, deviceResult, authorizedApplications, error } = defaultPages

const LAST_PERMITTED = plainGrant.createdAt
const AUDIENCES = [{ name: 'Packages', resource: 'https://packages.example' }] as const
const ITEMS = Array.from({ length: 40 }, (_, index) => ({
  id: `${index}`,
  name: `ada/repository-${index}`,
  checked: index % 7 === 0,
}))

/** Returns scopes as the server describes them in a language. */
function scopesIn({ texts }: Language): readonly [ConsentScope, ConsentScope, ConsentScope] {
  return [
    { scope: 'repo-code:rw', permission: 'rw', description: texts['scope.repo-code'] },
    { scope: 'repo-issue:r', permission: 'r', description: texts['scope.repo-issue'] },
    { scope: 'repo-basic-info:r', permission: 'r', description: texts['scope.repo-basic-info'] },
  ]
}

type Change = Partial<typeof plainModel>

function consentState(change: (language: Language) => Change = () => ({}), appearance?: Appearance): PageState {
  return stateOf(consent, (of) => ({ ...plainModel, scopes: scopesIn(of), ...change(of) }), appearance)
}

/** Returns scopes with the reasons of an application, the first of them new. */
function reasonedScopes(language: Language): Change['scopes'] {
  const [code, issues, info] = scopesIn(language)
  return [
    { ...code, isNew: true, reason: 'Loom pushes the branches that it weaves.' },
    { ...issues, reason: 'Loom shows your open issues beside the branch.' },
    info,
  ]
}

const { application, resources } = plainModel
const LONG_LIST = { ...resources, items: ITEMS, notShown: 5, search: '' }

const CONSENTS: States = {
  plain: consentState(),
  device: stateOf(consent, (of) => ({ ...plainDeviceConsent, scopes: scopesIn(of) })),
  unchecked: consentState(() => ({ application: { ...application, host: 'loom.example', unchecked: true } })),
  checked: consentState(() => ({ application: { ...application, checkedAt: LAST_PERMITTED } })),
  reasons: consentState((of) => ({ scopes: reasonedScopes(of) ?? [], permittedAt: LAST_PERMITTED })),
  'nothing-new': consentState(() => ({ permittedAt: LAST_PERMITTED })),
  long: consentState(() => ({ resources: LONG_LIST })),
  'long-found': consentState(() => ({ resources: { ...LONG_LIST, items: ITEMS.slice(0, 3), search: 'repo' } })),
  'long-none-found': consentState(() => ({ resources: { ...LONG_LIST, items: [], notShown: 0, search: 'x' } })),
  'long-without-search': consentState(() => ({ resources: { ...resources, items: ITEMS, notShown: 5 } })),
  'no-resources': consentState(() => ({ resources: { ...resources, items: [] } })),
  'one-choice': consentState(() => ({ resources: { ...resources, choices: ['all'], selected: 'all' } })),
  fault: consentState(({ texts }) => ({ fault: texts['resources.choose'].replace('{most}', '256') })),
  'no-permissions': consentState(() => ({ scopes: [] })),
  audiences: consentState(() => ({ audiences: AUDIENCES })),
  'other-account': consentState(() => ({ user: { name: 'ada', switchAccountUrl: '/switch' } })),
  branded: consentState(
    () => ({ stylesheet: BRAND.stylesheet, application: { ...application, checkedAt: LAST_PERMITTED } }),
    BRAND,
  ),
}

const DEVICES: States = {
  enter: stateOf(device, () => plainDevice),
  compare: stateOf(device, () => plainComplete),
  fault: stateOf(device, ({ texts }) => ({ ...plainDevice, userCode: 'WDJB', fault: texts['device.unknownCode'] })),
  'too-many': stateOf(device, (of) => ({ ...plainDevice, fault: countedText(of, 'device.tooManyCodes', 3) })),
}

const RESULTS: States = {
  agreed: stateOf(deviceResult, () => plainDeviceResult),
  refused: stateOf(deviceResult, () => ({ ...plainDeviceResult, decision: 'refuse' as const })),
}

const MANY: AuthorizedResources = {
  kind: 'specified',
  items: ITEMS.slice(0, 14).map(({ name }) => name),
  notShown: 2,
  isMore: true,
}

type Listed = Parameters<typeof authorizedApplications>[0]['model']

function listState(change: Partial<Listed> = {}): PageState {
  return stateOf(authorizedApplications, (of) => {
    const grants = [{ ...plainGrant, scopes: scopesIn(of) }]
    const applications = plainApplications.applications.map((each) => ({ ...each, grants, suspended: false }))
    return { ...plainApplications, applications, ...change }
  })
}

/** Returns eight applications: with many resources, older permissions, no permission, and stopped. */
function manyApplications(language: Language): Listed['applications'] {
  const scopes = scopesIn(language)
  const { lastUsedAt: _, ...unused } = { ...plainGrant, scopes, audiences: AUDIENCES }
  const older = { count: 3, scopes, resources: [plainGrant.resources, { kind: 'public', items: [] } as const] }
  const named = Array.from({ length: 8 }, (_, index) => ({
    ...plainApplication,
    name: `Loom ${index}`,
    suspended: index === 3,
    grants: index === 0 ? [{ ...unused, resources: MANY }, plainGrant] : [{ ...plainGrant, scopes }],
    ...(index === 1 && { older }),
    ...(index === 2 && { host: 'loom.example', website: '', grants: [{ ...plainGrant, scopes: [] }] }),
  }))
  return named
}

const LISTS: States = {
  empty: listState({ applications: [] }),
  plain: listState(),
  many: (language) => listState({ applications: manyApplications(language), next: '/next', more: true })(language),
  suspended: (language) => {
    const grants = [{ ...plainGrant, scopes: scopesIn(language) }]
    return listState({ applications: [{ ...plainApplication, grants, suspended: true }] })(language)
  },
  incomplete: listState({ isIncomplete: true }),
  fault: (language) => listState({ fault: language.texts['error.applicationsForm'] })(language),
}

/** The parts of each error that only some of them have. */
const ERRORS: Readonly<Record<PageErrorCode, (language: Language) => Partial<ErrorPageModel>>> = {
  link: () => ({}),
  consentForm: () => ({}),
  deviceForm: () => ({}),
  applicationsForm: () => ({}),
  notApproved: () => ({}),
  clientRefused: () => ({}),
  hostRefused: () => ({}),
  clientUnreadable: () => ({}),
  notFound: () => ({}),
  forbidden: () => ({}),
  busy: () => ({}),
  signedOut: ({ texts }) => ({ link: { href: '/sign-in', text: texts['error.signIn'] } }),
}

function errorState(code: PageErrorCode, more: (language: Language) => Partial<ErrorPageModel>): PageState {
  const { stylesheet } = plainModel
  return stateOf(error, (of) => ({ ...describeError(of, code), stylesheet, ...more(of) }))
}

const wrongHost = { code: 'redirect_uri_host', values: { domain: 'loom.example' } } as const

/** The states of all pages. A page of the package that has none does not compile. */
export const PAGE_STATES: Readonly<Record<keyof Pages, States>> & Readonly<Record<string, States>> = {
  consent: CONSENTS,
  device: DEVICES,
  deviceResult: RESULTS,
  authorizedApplications: LISTS,
  console: CONSOLE_STATES,
  error: {
    ...Object.fromEntries(
      Object.entries(ERRORS).map(([code, more]) => [code, errorState(code as PageErrorCode, more)]), // its own keys
    ),
    detail: errorState('link', (of) => ({ detail: { parameter: 'redirect_uri', rule: faultText(of, wrongHost) } })),
  },
}

/** All states by the names of their page and their own: `consent plain`. */
export const ALL_STATES: readonly (readonly [name: string, state: PageState])[] = Object.entries(PAGE_STATES).flatMap(
  ([page, states]) => Object.entries(states).map(([name, state]) => [`${page} ${name}`, state] as const),
)
