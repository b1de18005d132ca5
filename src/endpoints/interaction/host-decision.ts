/**
 * The host's word on a permission, which may refuse it or make it narrower: the option `authorize`.
 * @module
 */
import type { PublishedApplication } from '../../core/application/application.js'
import type { Audience } from '../../core/audiences/audience.js'
import { audienceOf } from '../../core/audiences/audience.js'
import type { OAuthError } from '../../core/errors.js'
import { oauthError } from '../../core/errors.js'
import type { Resources } from '../../core/resource.js'
import { narrowScopes, normalizeScopes } from '../../core/scopes.js'
import type { Takes } from '../../core/takes.js'
import { isRecord } from '../../core/takes.js'
import { ownOf } from '../../core/values.js'
import { SPECIFIED_RESOURCES_MAX } from '../../protocol/pages/form-binding.js'
import { checkedAnswer, wrongAnswer } from '../../shell/host.js'
import type { AuthorizationServerOptions, User } from '../../shell/options.js'
import type { AskedPermission } from './consent-model.js'
import type { PageContext } from './context.js'
import { isSendable } from './texts.js'

/** The host's word on a permission. */
type AuthorizeVerdict = Awaited<ReturnType<NonNullable<AuthorizationServerOptions['authorize']>>>

const VERDICT: Takes = {
  words: 'true, false, or { scopes, resources } with lists that are no wider, at least one of the two',
  fits: (value) => typeof value === 'boolean' || isNarrower(value),
}

function isNarrower(value: unknown): boolean {
  // Anything but a plain object with one of the two is a mistake, and must not admit all.
  if (!isRecord(value)) return false
  const names = Object.keys(value)
  if (names.length === 0 || names.some((name) => name !== 'scopes' && name !== 'resources')) return false
  const { scopes, resources } = value
  return (scopes === undefined || Array.isArray(scopes)) && (resources === undefined || Array.isArray(resources))
}

/** Asks the host about a permission before its user is asked. Returns it as it may be given, or the refusal. */
export async function admitPermission<Asked extends AskedPermission>(
  context: PageContext<never>,
  user: User,
  asked: Asked,
): Promise<Asked | OAuthError> {
  const admitted = await askHost(context, user, asked, undefined)
  return 'type' in admitted ? admitted : ownOf({ ...asked, scopes: admitted.scopes })
}

/** A permission with the resources that its user chose. */
interface ChosenPermission<Asked> {
  readonly asked: Asked
  readonly resources: Resources
}

/** Asks the host about a permission that its user agreed to. Returns it as it may be given, or the refusal. */
export async function admitChoice<Asked extends AskedPermission>(
  context: PageContext<never>,
  user: User,
  asked: Asked,
  resources: Resources,
): Promise<ChosenPermission<Asked> | OAuthError> {
  const admitted = await askHost(context, user, asked, resources)
  if ('type' in admitted) return admitted
  return { asked: ownOf({ ...asked, scopes: admitted.scopes }), resources: admitted.resources ?? resources }
}

/** The part of a permission that the host admits. */
interface Admitted {
  readonly scopes: AskedPermission['scopes']
  readonly resources: Resources | undefined
}

/** @throws GrantwellError `ERR_CONFIGURATION` for an answer that is no verdict, or that is wider than what was asked */
async function askHost(
  { authorize, scopes: catalogue }: PageContext<never>,
  { subject, name }: User,
  { application, scopes, ...asked }: AskedPermission,
  resources: Resources | undefined,
): Promise<Admitted | OAuthError> {
  if (authorize === undefined) return { scopes, resources }
  const audience = audienceOf(asked)
  const given = await authorize({
    user: { subject, ...(name !== undefined && { name }) },
    application: describe(application),
    // Copies, so that a change by the host reaches nothing that was checked.
    scopes: [...scopes],
    ...(audience !== undefined && { audiences: [...audience] satisfies Audience }),
    ...(resources !== undefined && { resources: structuredClone(resources) }),
  })
  const verdict = checkedAnswer<AuthorizeVerdict>('authorize()', VERDICT, given)
  if (verdict === true) return { scopes, resources }
  if (verdict === false) return oauthError('access_denied', 'host_refused', 'The service does not permit this.')
  const wanted = verdict.scopes === undefined ? undefined : (normalizeScopes(catalogue, verdict.scopes) ?? [])
  const narrowed = wanted?.length === 0 && scopes.length > 0 ? undefined : narrowScopes(scopes, wanted, catalogue)
  const limited = narrowResources(resources, verdict.resources)
  if (narrowed === undefined || limited === 'wider') throw wrongAnswer('authorize()', VERDICT.words, given)
  return { scopes: narrowed, resources: limited }
}

/** Limits resources to those that the host names. Before the user chose there are none to limit. */
function narrowResources(
  resources: Resources | undefined,
  ids: readonly string[] | undefined,
): Resources | undefined | 'wider' {
  if (resources === undefined || ids === undefined) return resources
  const named = new Set(ids)
  if (named.size > SPECIFIED_RESOURCES_MAX || !ids.every((id) => isSendable(id) && id !== '')) return 'wider'
  const chosen = resources.kind === 'specified' ? new Set(resources.ids) : named
  const isWider = [...named].some((id) => !chosen.has(id))
  // In an order that does not depend on the host's, so that the same form gets the same answer.
  return isWider ? 'wider' : { kind: 'specified', ids: [...chosen].filter((id) => named.has(id)).sort() }
}

/** Describes an application to the host. */
function describe({ clientId, name, type, applicant }: PublishedApplication) {
  return { clientId, name, type, ...(applicant !== undefined && { applicant }) }
}
