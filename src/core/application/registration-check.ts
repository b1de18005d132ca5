/**
 * The validation of a submitted registration.
 * @module
 * @see Specification, sections 2.1, 5.3 and 8; RFC 6749, section 2
 */

import { holdsOptions } from '../options.js'
import { FLAG, TEXT } from '../takes.js'
import { isLine, isLines, isVisible, isWithin } from '../text.js'
import { parseUrl } from '../url.js'
import type { BrokenRule, RegistrationFault, RegistrationFaultCode } from './faults.js'
import { brokenRule, registrationFault, unseenRule, wrongType } from './faults.js'
import { imageSize, imageType } from './image.js'
import type { RedirectCheckRules } from './redirect-registration.js'
import { checkRedirects } from './redirect-registration.js'
import type { Registration, RegistrationDetails, ResourceScope } from './registration.js'
import type { RegistrationForm } from './registration-form.js'
import { APPLICATION_LIMITS, BYTES, createForm } from './registration-form.js'
import type { ScopesCheckRules } from './scopes-check.js'
import { checkScopes } from './scopes-check.js'

/** Settings for the check of a registration. */
export interface RegistrationRules extends RedirectCheckRules, ScopesCheckRules {
  /** True if the service can let users specify resources. */
  readonly specifiedResources: boolean
  /** True if the service gives out tokens of the type `mac`. */
  readonly macTokens: boolean
  readonly logo: 'required' | 'optional'
  /** Given to take a client that names no website. */
  readonly website?: 'optional'
}

/**
 * Validates a submitted registration.
 * @param given - of any shape, as a form or a JSON document had it
 * @returns the checked registration, or all its faults, each with its path
 */
export function checkRegistration(
  given: unknown,
  rules: RegistrationRules,
):
  | { readonly type: 'details'; readonly details: RegistrationDetails; readonly logo: Uint8Array | undefined }
  | { readonly type: 'faults'; readonly faults: readonly RegistrationFault[] } {
  if (!holdsOptions(given))
    return { type: 'faults', faults: [registrationFault('', wrongType({ words: 'an object' }, given))] }
  const form = createForm(given)
  // In the order in which the faults are told.
  const name = checkName(form)
  const logo = checkLogo(form, rules)
  const description = checkDescription(form)
  const website = checkWebsite(form, rules)
  const type = checkType(form)
  const redirects = checkRedirects(form, type, rules)
  const scopes = checkScopes(form, rules)
  const resourceScope = checkResourceScope(form, rules)
  const deviceFlow = form.read('deviceFlow', FLAG, true) ?? false
  const tokenType = checkTokenType(form, rules)
  const { faults } = form
  const isWhole =
    name !== undefined &&
    website !== undefined &&
    type !== undefined &&
    scopes !== undefined &&
    resourceScope !== undefined
  if (faults.length > 0 || !isWhole) return { type: 'faults', faults }
  return {
    type: 'details',
    logo,
    details: {
      type,
      name,
      ...(description !== undefined && description !== '' && { description }),
      website,
      ...redirects,
      ...scopes,
      resourceScope,
      deviceFlow,
      ...(tokenType === 'mac' && { tokenType }),
    },
  }
}

function checkName({ read, check }: RegistrationForm): string | undefined {
  const name = read('name', TEXT)
  if (name === undefined) return undefined
  const { name: most } = APPLICATION_LIMITS
  const isSound = isVisible(name) && isWithin(name, most) && isLine(name)
  check(isSound, 'name', unseenRule(name) ?? brokenRule('name_length', { least: 1, most }))
  return name
}

function checkLogo({ read, check }: RegistrationForm, rules: RegistrationRules): Uint8Array | undefined {
  const logo = read('logo', BYTES, rules.logo === 'optional')
  if (logo === undefined) return undefined
  const { logo: most } = APPLICATION_LIMITS
  check(logo.length <= most, 'logo', brokenRule('logo_bytes', { most }))
  const fault = imageFault(logo)
  if (fault !== undefined) check(false, 'logo', fault)
  return logo
}

/** Finds the fault of a logo as an image; undefined where it has none. */
function imageFault(logo: Uint8Array): BrokenRule<RegistrationFaultCode> | undefined {
  const type = imageType(logo)
  if (type === undefined) return brokenRule('logo_type')
  const size = imageSize(logo, type)
  if (size === undefined) return brokenRule('logo_header')
  // One that is larger when decoded than its bytes tell could take a browser's memory (CWE-409).
  const { logoSide: most } = APPLICATION_LIMITS
  return Math.max(size.width, size.height) <= most ? undefined : brokenRule('logo_pixels', { ...size, most })
}

function checkDescription({ read, check }: RegistrationForm): string | undefined {
  const description = read('description', TEXT, true)
  if (description === undefined) return undefined
  const { description: most } = APPLICATION_LIMITS
  const isSound = isWithin(description, most) && isLines(description)
  check(isSound, 'description', unseenRule(description) ?? brokenRule('description_length', { most }))
  return description
}

function checkWebsite({ read, check }: RegistrationForm, rules: RegistrationRules): string | undefined {
  const website = read('website', TEXT, rules.website === 'optional')
  if (website === undefined) return rules.website === 'optional' ? '' : undefined
  const rule = unseenRule(website) ?? brokenRule('website_url', { most: APPLICATION_LIMITS.website })
  check(isWebsite(website), 'website', rule)
  return website
}

function isWebsite(text: string): boolean {
  if (!isWithin(text, APPLICATION_LIMITS.website) || !isLine(text) || /\s/.test(text)) return false
  const url = parseUrl(text)
  if (url === undefined) return false
  const { protocol, username, password } = url
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

function checkType({ read, check }: RegistrationForm): Registration['type'] | undefined {
  const given = read('type', TEXT)
  const type = given === 'confidential' || given === 'public' ? given : undefined
  check(given === undefined || type !== undefined, 'type', brokenRule('client_type'))
  return type
}

const RESOURCE_SCOPES: readonly ResourceScope[] = ['all', 'public', 'specified']

function checkResourceScope({ read, check }: RegistrationForm, rules: RegistrationRules): ResourceScope | undefined {
  const given = read('resourceScope', TEXT)
  const resourceScope = RESOURCE_SCOPES.find((each) => each === given)
  check(given === undefined || resourceScope !== undefined, 'resourceScope', brokenRule('resource_scope'))
  check(
    resourceScope !== 'specified' || rules.specifiedResources,
    'resourceScope',
    brokenRule('resource_scope_specified'),
  )
  return resourceScope
}

function checkTokenType({ read, check }: RegistrationForm, rules: RegistrationRules): string {
  const tokenType = read('tokenType', TEXT, true) ?? 'bearer'
  check(tokenType === 'bearer' || tokenType === 'mac', 'tokenType', brokenRule('token_type'))
  check(tokenType !== 'mac' || rules.macTokens, 'tokenType', brokenRule('token_type_mac'))
  return tokenType
}
