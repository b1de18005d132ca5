/**
 * The check of the redirect URIs of a registration, and of the domain that they must have.
 * @module
 * @see Specification, section 2.1
 */

import { FLAG, TEXT } from '../takes.js'
import { brokenRule, wrongType } from './faults.js'
import type { RedirectRegistration, RedirectRules } from './redirect-uri.js'
import { parseRedirectUri, redirectUriRule } from './redirect-uri.js'
import type { Registration } from './registration.js'
import type { Check, RegistrationForm } from './registration-form.js'
import { LIST, SUBMISSION_LIMITS } from './registration-form.js'

const DOMAIN = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

/** Settings for the check of redirect URIs. */
export interface RedirectCheckRules {
  readonly redirect: RedirectRules
  /**
   * `required` asks for at least one redirect URI: a resource server has none. `exact` asks for one as well, and takes any hosts: unless
   * a domain is given there is none, and each URI stands for itself alone.
   */
  readonly redirectUris: 'required' | 'exact' | 'none'
}

/** Checks the redirect URIs of a registration and its authorized domain. */
export function checkRedirects(
  { read, check }: RegistrationForm,
  type: Registration['type'] | undefined,
  rules: RedirectCheckRules,
): Omit<RedirectRegistration, 'type'> {
  const given = read('redirectUris', LIST)
  const { redirectUris, hosts } = soundRedirectUris(given ?? [], type, rules.redirect, check)
  const isEnough = given === undefined || given.length > 0 || rules.redirectUris === 'none'
  check(isEnough, 'redirectUris', brokenRule('redirect_uris_none'))
  const givenDomain = read('authorizedDomain', TEXT, true)
  const allowSubdomains = read('allowSubdomains', FLAG, true) ?? false
  const isExact = readMatching({ read, check }, givenDomain) || rules.redirectUris === 'exact'
  // Where only registered URIs count, a domain is of no use: several hosts need none.
  const needsNone = isExact || (rules.redirect.matching === 'exact' && hosts.size > 1)
  if (needsNone && givenDomain === undefined) return { redirectUris, allowSubdomains: false }
  const authorizedDomain = givenDomain ?? (hosts.size === 1 ? [...hosts][0] : undefined)
  checkDomain(authorizedDomain, allowSubdomains, hosts, check)
  return { redirectUris, ...(authorizedDomain !== undefined && { authorizedDomain }), allowSubdomains }
}

/** Reads how redirect URIs are matched. Returns true for `exact`. */
function readMatching({ read, check }: Pick<RegistrationForm, 'read' | 'check'>, domain: string | undefined): boolean {
  const matching = read('redirectMatching', TEXT, true) ?? 'domain'
  check(matching === 'domain' || matching === 'exact', 'redirectMatching', brokenRule('redirect_matching'))
  const isExact = matching === 'exact'
  check(!isExact || domain === undefined, 'authorizedDomain', brokenRule('domain_of_exact'))
  return isExact
}

/** Returns the sound ones of redirect URIs, and the hosts of those that are https. */
function soundRedirectUris(
  given: readonly unknown[],
  type: Registration['type'] | undefined,
  rules: RedirectRules,
  check: Check,
): { readonly redirectUris: readonly string[]; readonly hosts: ReadonlySet<string> } {
  const { redirectUris: limit } = SUBMISSION_LIMITS
  check(given.length <= limit, 'redirectUris', brokenRule('redirect_uris_count', { most: limit }))
  const redirectUris: string[] = []
  const hosts = new Set<string>()
  for (const [index, uri] of given.slice(0, limit).entries()) {
    const path = `redirectUris[${index}]`
    if (typeof uri !== 'string') {
      check(false, path, wrongType(TEXT, uri))
      continue
    }
    const parsed = parseRedirectUri(uri, rules)
    if (parsed === undefined) {
      check(false, path, redirectUriRule(uri, rules))
      continue
    }
    check(parsed.kind !== 'private-use' || type !== 'confidential', path, brokenRule('redirect_uri_confidential'))
    redirectUris.push(uri)
    if (parsed.kind === 'https') hosts.add(parsed.url.hostname)
  }
  return { redirectUris, hosts }
}

/** Checks an authorized domain against the hosts of the redirect URIs. */
function checkDomain(
  domain: string | undefined,
  allowSubdomains: boolean,
  hosts: ReadonlySet<string>,
  check: Check,
): void {
  if (domain === undefined) {
    check(hosts.size === 0, 'authorizedDomain', brokenRule('domain_missing'))
    return
  }
  check(DOMAIN.test(domain), 'authorizedDomain', brokenRule('domain_name'))
  check(!allowSubdomains || domain.includes('.'), 'allowSubdomains', brokenRule('domain_top_level'))
  for (const host of hosts) {
    const inside = host === domain || (allowSubdomains && host.endsWith(`.${domain}`))
    check(inside, 'redirectUris', brokenRule('domain_other_host', { host }))
  }
}
