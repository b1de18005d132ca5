/**
 * The model of the consent page, of the authorization endpoint and of the device page alike.
 * @module
 */
import type { PublishedApplication } from '../../core/application/application.js'
import { selfRegisteredOf } from '../../core/application/application.js'
import { reasonOf } from '../../core/application/reason.js'
import { RESOURCE_CHOICES } from '../../core/application/registration.js'
import { checkedAtOf, isUnreviewed } from '../../core/application/self-registered/life.js'
import type { Audience } from '../../core/audiences/audience.js'
import { hasAudience } from '../../core/audiences/audience.js'
import type { OAuthError } from '../../core/errors.js'
import { oauthError } from '../../core/errors.js'
import type { Scope, ScopeDefinition } from '../../core/scopes.js'
import { coversScopes } from '../../core/scopes.js'
import { shownName } from '../../core/text.js'
import { shortened } from '../../pages/fragments.js'
import type {
  ConsentPageModel,
  ConsentScope,
  Language,
  ResourceKind,
  SignedInUser,
  TextName,
} from '../../pages/index.js'
import { fillText } from '../../pages/index.js'
import { en } from '../../pages/texts/en.js'
import { FORM_FIELDS, SPECIFIED_RESOURCES_MAX } from '../../protocol/pages/form-binding.js'
import { fittingLanguage, knownLanguages } from '../../protocol/pages/locale.js'
import type { LiveGrant } from '../../shell/consents.js'
import type { User } from '../../shell/options.js'
import { logoLink } from '../logo.js'
import type { PageContext } from './context.js'
import type { HiddenField } from './forms.js'
import type { OfferedResources, OpenChoice } from './resources.js'
import { formSize, readResources, selectOffered } from './resources.js'

/** The consent page but for its form and the place that the answer goes to. */
export type ConsentModel = Pick<
  ConsentPageModel,
  'application' | 'user' | 'scopes' | 'permittedAt' | 'audiences' | 'resources' | 'stylesheet' | 'fault'
>

/** The user whom a page asks. */
export interface AskedUser {
  readonly user: User
  /** The user as the page shows it. */
  readonly signedIn: SignedInUser
  /** The live grants of the user to the application that asks. */
  readonly granted: readonly LiveGrant[]
}

/** The permission that a page asks for. */
export interface AskedPermission {
  readonly application: PublishedApplication
  readonly scopes: readonly Scope[]
  readonly audience?: Audience
}

/** The fields of a consent form that the user fills in, resources apart, with their longest values. */
const LONGEST_ANSWER: readonly HiddenField[] = [
  { name: FORM_FIELDS.decision, value: 'refuse' },
  { name: FORM_FIELDS.resourceScope, value: 'specified' },
]

/**
 * Makes the model of a consent page.
 * @param fields - the hidden fields of its form
 * @param again - the choice in the form that came before, with a fault or a search; the page is shown again with it
 * @returns an error where the user has nothing to choose from, or the form would be too long to come back
 */
export async function createConsentModel(
  context: PageContext<never>,
  { user, signedIn, granted }: AskedUser,
  permission: AskedPermission,
  fields: readonly HiddenField[],
  again?: OpenChoice,
): Promise<ConsentModel | OAuthError> {
  const { application, audience } = permission
  const bytesLeft = context.bodyLimit - formSize([...fields, ...LONGEST_ANSWER])
  if (bytesLeft < 0) return oauthError('invalid_request', 'malformed_request', 'The request is too long for a form.')
  const offered = selectOffered(await readResources(context, user), bytesLeft, again)
  const choices = RESOURCE_CHOICES[application.resourceScope].filter(
    (kind) => kind !== 'specified' || context.resources !== undefined,
  )
  if (choices.length === 0) return oauthError('server_error', 'host_failed', 'There is nothing to choose from.')
  return {
    application: {
      name: application.name,
      ...(application.description !== undefined && { description: application.description }),
      website: application.website,
      ...logoLink(context, application),
      ...describeReview(application),
    },
    user: signedIn,
    ...describeAsked(context, permission, granted),
    ...describeAudience(context, audience),
    resources: describeResources(choices, application.resourceScope, offered, again),
    stylesheet: context.stylesheet,
    ...(again?.type === 'fault' && {
      fault: fillText(context.language.texts['resources.choose'], { most: SPECIFIED_RESOURCES_MAX }),
    }),
  }
}

/** Says who has checked an application, and what a user must know of one that registered itself. */
function describeReview(
  application: PublishedApplication,
): Pick<ConsentPageModel['application'], 'host' | 'unchecked' | 'checkedAt'> {
  const checkedAt = checkedAtOf(application)
  return {
    ...(checkedAt !== undefined && { checkedAt }),
    ...(selfRegisteredOf(application)?.document !== undefined && { host: new URL(application.clientId).host }),
    ...(isUnreviewed(application) && { unchecked: true }),
  }
}

/**
 * Describes the scopes that an application asks for, each with its reason, and marks those that no live grant has. A grant for other
 * protected resources is another permission.
 */
function describeAsked(
  context: PageContext<never>,
  { application: { reasons }, scopes, audience }: AskedPermission,
  granted: readonly LiveGrant[],
): Pick<ConsentPageModel, 'scopes' | 'permittedAt'> {
  const grants = granted.map(({ grant }) => grant)
  const comparable = grants.filter((grant) => hasAudience(grant, audience))
  const isNew = (scope: Scope): boolean =>
    grants.length > 0 && !comparable.some((grant) => coversScopes(grant.scopes, [scope], context.scopes))
  return {
    scopes: describeScopes(context, scopes).map((each) => {
      const reason = reasonOf(reasons, each.scope, context.scopes)
      return { ...each, ...(reason !== undefined && { reason }), ...(isNew(each.scope) && { isNew: true }) }
    }),
    ...(grants.length > 0 && { permittedAt: Math.max(...grants.map(({ createdAt }) => createdAt)) }),
  }
}

/** Describes scopes to a user, in the order of the catalogue. */
export function describeScopes(
  { scopes: catalogue, language }: PageContext<never>,
  scopes: readonly Scope[],
): readonly ConsentScope[] {
  return [...catalogue.entries.values()]
    .filter(({ scope }) => scopes.includes(scope))
    .map(({ scope, permission, definition }) => ({
      scope,
      permission,
      description: describeIn(language, definition.description),
    }))
}

/** The names of the texts that describe the scopes of the specification, by what `serviceScopes` says of them. */
const SCOPE_TEXTS: ReadonlyMap<string, TextName> = new Map(
  (Object.keys(en) as TextName[]) // its own keys
    .filter((name) => name.startsWith('scope.'))
    .map((name) => [String(en[name]), name]),
)

/** Returns the description of a scope in a language: the host's own where it gives several, else the one of this package. */
function describeIn({ locale, texts }: Language, description: ScopeDefinition['description']): string {
  if (typeof description === 'string') {
    const name = SCOPE_TEXTS.get(description)
    return name === undefined ? description : String(texts[name])
  }
  const { language = 'en' } = fittingLanguage([locale], knownLanguages(Object.keys(description))) ?? {}
  return description[language] ?? Object.values(description)[0] ?? ''
}

/** Describes the protected resources of a permission; nothing where it has none. */
export function describeAudience(
  { audiences }: PageContext<never>,
  audience: Audience | undefined,
): Pick<ConsentPageModel, 'audiences'> {
  if (audience === undefined) return {}
  return { audiences: audience.map((resource) => ({ resource, name: audiences.get(resource)?.name ?? resource })) }
}

/** Describes the choice of resources: as it was made before, else the registered one. */
function describeResources(
  choices: readonly ResourceKind[],
  registered: ResourceKind,
  { shown, notShown, search }: OfferedResources,
  again: OpenChoice | undefined,
): ConsentPageModel['resources'] {
  return {
    choices,
    selected: choices.find((kind) => kind === again?.choice) ?? registered,
    items: shown.map(({ id, name }) => ({
      id,
      name: shortened(shownName(name, id)),
      checked: again?.ids.has(id) ?? false,
    })),
    ...(notShown > 0 && { notShown }),
    ...(search !== undefined && { search }),
  }
}
