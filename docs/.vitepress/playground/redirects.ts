/**
 * The judgement of a redirect URI, with the rule that decides.
 * @module
 */

import { faultSentence } from '../../../src/core/application/faults.js'
import { checkRedirects } from '../../../src/core/application/redirect-registration.js'
import type { RedirectRegistration, RedirectRules } from '../../../src/core/application/redirect-uri.js'
import { brokenRedirectRule, matchRedirectUri, parseRedirectUri } from '../../../src/core/application/redirect-uri.js'
import { createForm } from '../../../src/core/application/registration-form.js'

/** A section of the rules: the words of its link, and where it is. */
export interface Rule {
  readonly title: string
  readonly link: string
}

/** Makes the link to a section of the rules of the service. */
export function ruleOf(section: string, title: string): Rule {
  return {
    title: `Section ${section}: ${title}`,
    link: `/rules/authorization-service#section-${section.replace('.', '-')}`,
  }
}

export const REGISTRATION_RULE = ruleOf('2.1', 'the registration')
export const REQUEST_RULE = ruleOf('4.1', 'the authorization request')
export const CLIENTS_RULE = ruleOf('5.1', 'how clients are known')
export const ERRORS_RULE = ruleOf('7', 'errors')

/** The form of the page, as the reader fills it. */
export interface RedirectForm {
  /** The redirect URI of the request; empty where it has none. */
  readonly requested: string
  /** Registered redirect URIs, one on a line. */
  readonly registered: string
  /** The authorized domain; empty for the one that the registered URIs share. */
  readonly domain: string
  readonly allowSubdomains: boolean
  readonly type: RedirectRegistration['type']
  readonly matching: RedirectRules['matching']
  readonly allowLocalhost: boolean
}

/** The form with which the page begins. */
export const FIRST_REDIRECT_FORM: RedirectForm = {
  requested: 'https://app.example/deep/callback?from=grantwell',
  registered: 'https://app.example/callback\nhttp://127.0.0.1/callback',
  domain: '',
  allowSubdomains: false,
  type: 'public',
  matching: 'domain',
  allowLocalhost: true,
}

/** Requests to try, and the words of their buttons. */
export const TRIED_REDIRECTS: readonly (readonly [title: string, uri: string])[] = [
  ['Another path', 'https://app.example/deep/callback?from=grantwell'],
  ['A subdomain', 'https://old.app.example/callback'],
  ['Another port on loopback', 'http://127.0.0.1:51004/callback'],
  ['localhost', 'http://localhost:51004/callback'],
  ['A parameter of the answer', 'https://app.example/callback?code=1'],
  ['A look-alike', 'https://app.example.evil.example/callback'],
]

/** The verdict on a redirect URI. */
export interface RedirectVerdict {
  readonly isAccepted: boolean
  /** One sentence: accepted or refused. */
  readonly summary: string
  /** The rule in words. */
  readonly because: string
  /** The sections that have the rule. */
  readonly rules: readonly Rule[]
  /** Faults of the registration: these URIs could not be registered. */
  readonly faults: readonly string[]
  /** The domain that counts; absent where there is none. */
  readonly domain?: string
}

/** Judges the redirect URI of a request by a registration. */
export function judgeRedirect(form: RedirectForm): RedirectVerdict {
  const rules: RedirectRules = { matching: form.matching, allowLocalhost: form.allowLocalhost }
  const { registration, faults } = readRegistration(form, rules)
  const requested = form.requested === '' ? undefined : form.requested
  const answered = matchRedirectUri(registration, requested, rules)
  const { authorizedDomain } = registration
  const shared = { faults, ...(authorizedDomain !== undefined && { domain: authorizedDomain }) }
  if (answered === undefined) {
    const broken = brokenRedirectRule(registration, requested, rules)
    const because = `The redirect URI ${broken === undefined ? 'breaks no rule' : faultSentence(broken)}.`
    const summary = 'Refused. The page says that the link cannot be accepted, and nothing is sent to the URI.'
    return { isAccepted: false, summary, because, rules: rulesAgainst(requested, rules), ...shared }
  }
  return {
    isAccepted: true,
    summary: 'Accepted. The answer goes to it.',
    ...grounds(registration, requested, rules),
    ...shared,
  }
}

/** Reads the registration with the check of the server. Only its sound redirect URIs count. */
function readRegistration(
  { registered, domain, allowSubdomains, type }: RedirectForm,
  redirect: RedirectRules,
): { readonly registration: RedirectRegistration; readonly faults: readonly string[] } {
  const redirectUris = registered
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const given = { redirectUris, allowSubdomains, ...(domain !== '' && { authorizedDomain: domain }) }
  const registrationForm = createForm(given)
  const checked = checkRedirects(registrationForm, type, { redirect, redirectUris: 'required' })
  const faults = registrationForm.faults.map(({ path, message }) => `${path} ${message}`)
  return { registration: { type, ...checked }, faults }
}

/** Tells the rule by which a redirect URI was accepted. */
function grounds(
  { redirectUris, authorizedDomain }: RedirectRegistration,
  requested: string | undefined,
  rules: RedirectRules,
): Pick<RedirectVerdict, 'because' | 'rules'> {
  if (requested === undefined)
    return { because: 'None was sent, and exactly one is registered: it is used.', rules: [REQUEST_RULE] }
  if (redirectUris.includes(requested))
    return { because: 'It is exactly a registered redirect URI.', rules: [REGISTRATION_RULE, REQUEST_RULE] }
  if (parseRedirectUri(requested, rules)?.kind === 'loopback')
    return {
      because:
        'It is a registered redirect URI on loopback, but for its port, which may differ (RFC 8252, section 7.3).',
      rules: [REGISTRATION_RULE],
    }
  return {
    because: `It is https, and has the authorized domain ${authorizedDomain} and the port of a registered redirect URI.`,
    rules: [REGISTRATION_RULE, CLIENTS_RULE],
  }
}

/** Lists the sections against a redirect URI. */
function rulesAgainst(requested: string | undefined, rules: RedirectRules): readonly Rule[] {
  if (requested === undefined) return [REQUEST_RULE, ERRORS_RULE]
  return parseRedirectUri(requested, rules)?.kind === 'https' && rules.matching === 'domain'
    ? [REGISTRATION_RULE, CLIENTS_RULE, ERRORS_RULE]
    : [REGISTRATION_RULE, ERRORS_RULE]
}
