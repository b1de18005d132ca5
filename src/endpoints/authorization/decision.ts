/**
 * The decision on an authorization request: the user's, or the one that an earlier consent makes.
 * @module
 * @see Specification, section 4.1; RFC 6749, section 4.1.2
 */
import type { PublishedApplication } from '../../core/application/application.js'
import { selfRegisteredOf } from '../../core/application/application.js'
import { lifetimesFor, termsOf } from '../../core/application/life/terms.js'
import { RESOURCE_CHOICES } from '../../core/application/registration.js'
import { isUnreviewed } from '../../core/application/self-registered/life.js'
import { audienceOf, hasAudience } from '../../core/audiences/audience.js'
import { isOAuthError, oauthError } from '../../core/errors.js'
import type { ApproveCommand } from '../../core/grant/approve.js'
import type { Grant } from '../../core/grant/grant.js'
import { withoutChange } from '../../core/grant/outcome.js'
import { transition } from '../../core/grant/transition.js'
import type { Resources } from '../../core/resource.js'
import { coversScopes } from '../../core/scopes.js'
import type { GrantId } from '../../core/values.js'
import type { AuthorizationRequest } from '../../protocol/authorization.js'
import { authorizationResponse, notAccessible } from '../../protocol/authorization.js'
import type { HttpResponse } from '../../protocol/message.js'
import type { VerifiedForm } from '../../protocol/pages/form-binding.js'
import type { Deciding } from '../../shell/consents/grants.js'
import type { LiveGrant } from '../../shell/consents.js'
import type { User } from '../../shell/options.js'
import type { PageContext } from '../interaction/context.js'
import { describeWayBack } from '../interaction/error-page.js'
import { redirectError, showLinkError } from './errors.js'

/** The form by which a grant is made, or what stands in for it where nobody is asked. */
export type ApprovedBy = Pick<ApproveCommand, 'grantId' | 'formSecret' | 'formExpiresAt' | 'unasked'>

/**
 * Makes the grant, and redirects the browser to the application with its code.
 * @param sparing - the grant by which this decision spared its user a question
 */
export async function approve(
  context: PageContext<never>,
  asked: AuthorizationRequest,
  user: User,
  resources: Resources,
  by: ApprovedBy,
  sparing?: GrantId,
): Promise<HttpResponse> {
  const who = decidingOf(context, asked, user)
  const notAdmitted = await context.consents.admit(who, { decision: 'agree', ...by }, sparing)
  if (notAdmitted !== undefined) return showLinkError(context, notAdmitted, describeWayBack(asked.application))
  const command = createApprove(who, asked, resources, by)
  const { rules } = context
  const reply = await context.consents.onGrant(who, by.grantId, (application, grant, now, entropy) =>
    application?.state === 'approved'
      ? transition(grant, command, now, entropy, rules)
      : withoutChange(notAccessible('client_suspended')),
  )
  return isOAuthError(reply)
    ? showLinkError(context, reply, describeWayBack(asked.application))
    : authorizationResponse(asked, reply, context.issuer)
}

/** Stores the user's refusal, and redirects the browser to the application with it. */
export async function refuse(
  context: PageContext<never>,
  asked: AuthorizationRequest,
  user: User,
  { grantId, expiresAt: formExpiresAt }: VerifiedForm,
): Promise<HttpResponse> {
  const who = decidingOf(context, asked, user)
  const notAdmitted = await context.consents.admit(who, { decision: 'refuse', grantId, formExpiresAt })
  if (notAdmitted !== undefined) return showLinkError(context, notAdmitted, describeWayBack(asked.application))
  return redirectError(context, {
    ...asked,
    error: oauthError('access_denied', 'consent_refused', 'The user refused.'),
  })
}

/** A question that the user is spared. */
export interface SparedQuestion {
  /** The resources of the new grant. */
  readonly resources: Resources
  /** The earlier grant that spares the question; absent for an application of the service itself. */
  readonly grantId?: GrantId
}

/** Finds out if the user is spared the question: by the terms of the application, or by an earlier grant. */
export function findSpared(
  context: PageContext<never>,
  asked: AuthorizationRequest,
  granted: readonly LiveGrant[],
): SparedQuestion | undefined {
  const { resourceScope } = asked.application
  if (isFirstParty(asked) && resourceScope !== 'specified') return { resources: { kind: resourceScope } }
  const earlier = findConsent(context, asked, granted)
  return earlier === undefined ? undefined : { resources: earlier.resources, grantId: earlier.id }
}

/**
 * True for an application of the service itself, where the answer goes to an `https` redirect URI that is registered as it is. Any other
 * program can take over a loopback port or a private-use scheme (RFC 8252, section 8.6), and any page of a domain may redirect further, so
 * there its user is always asked. So is that of a client that registered itself, which may change what it says.
 */
function isFirstParty({ application, redirectUri }: AuthorizationRequest): boolean {
  return (
    termsOf(application).firstParty === true &&
    selfRegisteredOf(application) === undefined &&
    redirectUri.startsWith('https:') &&
    application.redirectUris.includes(redirectUri)
  )
}

/**
 * Finds the live grant that spares the user the question, with `consent: 'once'`. The user gave it by a form of this endpoint within the
 * lifetime of a refresh token, it covers what is asked for, and its answer went to the same redirect URI. A grant of a device, or one
 * without a question to the user, spares no question.
 */
function findConsent(
  context: PageContext<never>,
  asked: AuthorizationRequest,
  granted: readonly LiveGrant[],
): Grant | undefined {
  const { application, scopes, redirectUri } = asked
  const audience = audienceOf(asked)
  if (!isRemembered(context, application)) return undefined
  const now = context.clock()
  const { refreshTokenLifetime } = lifetimesFor(application, context.rules)
  const covers = ({ grant, wasAsked }: LiveGrant): boolean =>
    wasAsked &&
    now < grant.createdAt + refreshTokenLifetime &&
    grant.code.redirectUri === redirectUri &&
    coversScopes(grant.scopes, scopes, context.scopes) &&
    // A grant for other protected resources, or for none, is another permission.
    hasAudience(grant, audience) &&
    RESOURCE_CHOICES[application.resourceScope].includes(grant.resources.kind)
  return granted.find(covers)?.grant
}

/**
 * True if consents count again. Another program can take over a public client's redirect, so its user is always asked (RFC 8252, 8.6);
 * and a client that nobody reviewed may say of a secret that all its copies share that it keeps it.
 */
function isRemembered({ consent }: PageContext<never>, application: PublishedApplication): boolean {
  return consent === 'once' && application.type === 'confidential' && !isUnreviewed(application)
}

function decidingOf(
  { clientKeyOf }: PageContext<never>,
  { application }: AuthorizationRequest,
  { subject }: User,
): Deciding {
  return { clientKey: clientKeyOf(application.clientId), subject }
}

function createApprove(
  { clientKey, subject }: Deciding,
  { application, redirectUri, scopes, audience, codeChallenge }: AuthorizationRequest,
  resources: Resources,
  by: ApprovedBy,
): ApproveCommand {
  return {
    type: 'approve',
    clientId: application.clientId,
    clientKey,
    subject,
    scopes,
    resources,
    ...(audience !== undefined && { audience }),
    redirectUri,
    codeChallenge,
    ...by,
  }
}
