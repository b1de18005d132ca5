/**
 * The model of the applications page: each application with its grants, and as many as fit on a page.
 * @module
 */
import { normalizeScopes } from '../../core/scopes.js'
import type { ClientId } from '../../core/values.js'
import { ownOf } from '../../core/values.js'
import type {
  KeptGrant,
  KeptResources,
  OlderGrants,
  PermittedApplication,
} from '../../management/permitted-applications.js'
import { IDS_KEPT } from '../../management/permitted-applications.js'
import { shortened } from '../../pages/fragments.js'
import type { AuthorizedApplication, AuthorizedGrant, AuthorizedResources } from '../../pages/index.js'
import { FORM_FIELDS } from '../../protocol/pages/form-binding.js'
import { documentUrl } from '../../protocol/registration/client-id-url.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from '../../shell/shown-lists.js'
import { describeAudience, describeScopes } from '../interaction/consent-model.js'
import type { PageContext } from '../interaction/context.js'
import type { HiddenField } from '../interaction/forms.js'
import type { LogoLink } from '../logo.js'

/** Applications that a page shows at most. */
export const APPLICATIONS_SHOWN = 100

/** Limits to the resources of one grant. */
const RESOURCES_SHOWN = { characters: 8192, most: IDS_KEPT } as const

/** Kinds of resources, the widest first. */
const KINDS = ['all', 'public', 'specified'] as const

/** Characters of HTML of an application's form, and of what is around its grants. */
const FORM_CHARACTERS = 1000

/** An application with its checkbox, which the page has only where there is a choice. */
export type ChoosableApplication = AuthorizedApplication & Required<Pick<AuthorizedApplication, 'choice'>>

/** Names of resources, by their identifiers. */
export type ResourceNames = ReadonlyMap<string, string>

/** Describes an application and what the user permitted it. */
export function describeApplication(
  context: PageContext<never>,
  permitted: PermittedApplication,
  logo: LogoLink | undefined,
  names: ResourceNames,
  form: AuthorizedApplication['form'],
): ChoosableApplication {
  const { application, clientId, newest, older } = ownOf(permitted)
  const host = documentUrl(clientId)?.host
  return {
    name: application.name,
    website: application.website,
    ...(host !== undefined && { host }),
    ...logo,
    suspended: application.state === 'suspended',
    grants: newest.map((grant) => describeGrant(context, grant, names)),
    ...(older !== undefined && { older: describeOlder(context, older, names) }),
    form,
    choice: clientField(clientId),
  }
}

/** Makes the field of a form that names an application. */
export function clientField(clientId: ClientId): HiddenField {
  return { name: FORM_FIELDS.clientId, value: clientId }
}

/** Takes as many applications from the beginning as fit on a page. */
export function takeFitting(applications: readonly ChoosableApplication[]): readonly ChoosableApplication[] {
  return beginningOf(applications, sizeOf, { characters: LIST_CHARACTERS, most: APPLICATIONS_SHOWN }).shown
}

function describeGrant(
  context: PageContext<never>,
  { scopes, resources, audience, createdAt, lastUsedAt, expiresAt }: KeptGrant,
  names: ResourceNames,
): AuthorizedGrant {
  return {
    scopes: describeScopes(context, scopes),
    resources: describeResources(resources, names),
    ...describeAudience(context, audience),
    createdAt,
    expiresAt,
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  }
}

/** Describes several grants as one, so that no wide one is hidden behind newer ones. */
function describeOlder(
  context: PageContext<never>,
  { count, scopes, resources, audience }: OlderGrants,
  names: ResourceNames,
): NonNullable<AuthorizedApplication['older']> {
  const kinds = KINDS.flatMap((kind) => resources.get(kind) ?? [])
  return {
    count,
    scopes: describeScopes(context, normalizeScopes(context.scopes, [...scopes]) ?? []),
    resources: kinds.map((each) => describeResources(each, names)),
    ...describeAudience(context, audience),
  }
}

/** Names the resources that a grant opens, as many as are shown. */
function describeResources({ kind, ids, count, isMore }: KeptResources, names: ResourceNames): AuthorizedResources {
  const all = [...ids].map((id) => shortened(names.get(id) ?? id))
  const { shown } = beginningOf(all, (name) => entrySize(name), RESOURCES_SHOWN)
  const notShown = count - shown.length
  return { kind, items: shown, ...(notShown > 0 && { notShown }), ...(isMore && { isMore }) }
}

/** Returns the characters of HTML that an application takes on the page. */
function sizeOf(application: ChoosableApplication): number {
  const { name, website, host = '', logo = '', grants, older, choice } = ownOf(application)
  const permissions = [...grants, ...(older === undefined ? [] : [older])].flatMap(({ scopes }) => scopes)
  const audiences = [...grants, ...(older === undefined ? [] : [older])].flatMap((each) => ownOf(each).audiences ?? [])
  const places = [...grants.map(({ resources }) => resources), ...(older?.resources ?? [])]
  return (
    entrySize(name, name, name, host, website, website, logo, choice.value, choice.value) +
    FORM_CHARACTERS +
    audiences.reduce((size, { resource, name }) => size + entrySize(resource, name), 0) +
    permissions.reduce((size, { scope, description }) => size + entrySize(scope, description), 0) +
    places.reduce((size, { items }) => items.reduce((sum, item) => sum + entrySize(item), size + entrySize()), 0)
  )
}
