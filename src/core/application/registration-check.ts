/**
 * The validation of a submitted registration.
 * @module
 * @see Specification, sections 2.1, 5.3 and 8; RFC 6749, section 2
 */

import { FLAG, mustBe, TEXT } from '../takes.js'
import { isLine, isLines, isVisible, isWithin, unseenFault } from '../text.js'
import { parseUrl } from '../url.js'
import { imageSize, imageType } from './image.js'
import type { RedirectCheckRules } from './redirect-registration.js'
import { checkRedirects } from './redirect-registration.js'
import type { Registration, RegistrationDetails, RegistrationFault, ResourceScope } from './registration.js'
import { APPLICATION_LIMITS } from './registration.js'
import type { RegistrationForm } from './registration-form.js'
import { BYTES, createForm } from './registration-form.js'
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
  if (typeof given !== 'object' || given === null)
    return { type: 'faults', faults: [{ path: '', message: mustBe({ words: 'an object' }, given) }] }
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
  const isSound = isVisible(name) && isWithin(name, APPLICATION_LIMITS.name) && isLine(name)
  check(isSound, 'name', unseenFault(name) ?? 'must have 1 to 50 characters, on one line')
  return name
}

function checkLogo({ read, check }: RegistrationForm, rules: RegistrationRules): Uint8Array | undefined {
  const logo = read('logo', BYTES, rules.logo === 'optional')
  if (logo === undefined) return undefined
  check(logo.length <= APPLICATION_LIMITS.logo, 'logo', 'must have at most 1,048,576 bytes')
  const fault = imageFault(logo)
  if (fault !== undefined) check(false, 'logo', fault)
  return logo
}

/** Finds the fault of a logo as an image; undefined where it has none. */
function imageFault(logo: Uint8Array): string | undefined {
  const type = imageType(logo)
  if (type === undefined) return 'must be a PNG, JPEG, GIF or WebP image'
  const size = imageSize(logo, type)
  if (size === undefined) return 'must be an image whose header has its width and height'
  // One that is larger when decoded than its bytes tell could take a browser's memory (CWE-409).
  const fits = Math.max(size.width, size.height) <= APPLICATION_LIMITS.logoSide
  return fits ? undefined : `has ${size.width} x ${size.height} pixels; must have at most 4,096 x 4,096`
}

function checkDescription({ read, check }: RegistrationForm): string | undefined {
  const description = read('description', TEXT, true)
  if (description === undefined) return undefined
  const isSound = isWithin(description, APPLICATION_LIMITS.description) && isLines(description)
  check(isSound, 'description', unseenFault(description) ?? 'must have at most 350 characters')
  return description
}

function checkWebsite({ read, check }: RegistrationForm, rules: RegistrationRules): string | undefined {
  const website = read('website', TEXT, rules.website === 'optional')
  if (website === undefined) return rules.website === 'optional' ? '' : undefined
  const rule = 'must be an http or https URL of at most 128 characters, without user info'
  check(isWebsite(website), 'website', unseenFault(website) ?? rule)
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
  check(given === undefined || type !== undefined, 'type', 'must be confidential or public')
  return type
}

const RESOURCE_SCOPES: readonly ResourceScope[] = ['all', 'public', 'specified']

function checkResourceScope({ read, check }: RegistrationForm, rules: RegistrationRules): ResourceScope | undefined {
  const given = read('resourceScope', TEXT)
  const resourceScope = RESOURCE_SCOPES.find((each) => each === given)
  check(given === undefined || resourceScope !== undefined, 'resourceScope', 'must be all, public or specified')
  check(
    resourceScope !== 'specified' || rules.specifiedResources,
    'resourceScope',
    'must not be specified: the server has no option resources',
  )
  return resourceScope
}

function checkTokenType({ read, check }: RegistrationForm, rules: RegistrationRules): string {
  const tokenType = read('tokenType', TEXT, true) ?? 'bearer'
  check(tokenType === 'bearer' || tokenType === 'mac', 'tokenType', 'must be bearer or mac')
  check(tokenType !== 'mac' || rules.macTokens, 'tokenType', 'must not be mac: the server has no option macTokens')
  return tokenType
}
