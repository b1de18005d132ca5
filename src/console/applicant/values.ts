/**
 * The fields of the form that registers an application: from an application, from a form that was sent, and to a registration.
 * @module
 */
import type { ApplicationDetails } from '../../core/application/application.js'
import { registrationOf } from '../../core/application/life/amendment.js'
import { reasonOf } from '../../core/application/reason.js'
import type { ResourceScope } from '../../core/application/registration.js'
import { RESOURCE_CHOICES } from '../../core/application/registration.js'
import type { HttpRequest } from '../../protocol/message.js'
import { headerOf } from '../../protocol/message.js'
import { TOKEN_FIELD } from '../forms.js'
import type { Visit } from '../visit.js'

/** The fields of the form, but for the logo. */
export interface Values {
  readonly name: string
  readonly website: string
  readonly description: string
  readonly type: 'confidential' | 'public'
  /** One on each line. */
  readonly redirectUris: string
  readonly redirectMatching: 'domain' | 'exact'
  readonly authorizedDomain: string
  readonly allowSubdomains: boolean
  readonly deviceFlow: boolean
  readonly isMac: boolean
  readonly resourceScope: ResourceScope
  /** The scopes that are asked for, in the order of the form. */
  readonly scopes: readonly string[]
  /** The reasons by their scopes, of those that are not asked for as well. */
  readonly reasons: ReadonlyMap<string, string>
}

/** The fields of a new form. */
export const EMPTY: Values = {
  name: '',
  website: '',
  description: '',
  type: 'confidential',
  redirectUris: '',
  redirectMatching: 'domain',
  authorizedDomain: '',
  allowSubdomains: false,
  deviceFlow: false,
  isMac: false,
  resourceScope: 'all',
  scopes: [],
  reasons: new Map(),
}

/** Returns the fields for an application that is there already. */
export function valuesOf({ context }: Visit, details: ApplicationDetails): Values {
  const { authorizedDomain = '', redirectMatching = 'domain' } = registrationOf(details)
  const { name, website, description = '', type, redirectUris, allowSubdomains, deviceFlow, resourceScope } = details
  return {
    name,
    website,
    description,
    type,
    redirectUris: redirectUris.join('\n'),
    redirectMatching,
    authorizedDomain,
    allowSubdomains,
    deviceFlow,
    isMac: details.tokenType === 'mac',
    resourceScope,
    scopes: details.scopes,
    reasons: new Map(details.scopes.map((scope) => [scope, reasonOf(details.reasons, scope, context.scopes) ?? ''])),
  }
}

/** A form that was sent. */
export interface SentRegistration {
  readonly values: Values
  /** The logo that was sent with it, or kept from before; undefined for none. */
  readonly logo: Uint8Array | undefined
  readonly token: string | undefined
  readonly revision: number
  /** True if it asks for a preview alone. */
  readonly isPreview: boolean
}

/** Reads a form; undefined for a body that is none. */
export async function readRegistration(visit: Visit): Promise<SentRegistration | undefined> {
  const form = await readMultipart(visit.request)
  if (form === undefined) return undefined
  const text = (name: string): string => textIn(form, name)
  const known = [...visit.context.scopes.entries.keys()]
  const resourceScope = text('resourceScope')
  return {
    values: {
      name: text('name'),
      website: text('website').trim(),
      description: text('description'),
      type: text('type') === 'public' ? 'public' : 'confidential',
      redirectUris: text('redirectUris'),
      redirectMatching: text('redirectMatching') === 'exact' ? 'exact' : 'domain',
      authorizedDomain: text('authorizedDomain').trim(),
      allowSubdomains: text('allowSubdomains') !== '',
      deviceFlow: text('deviceFlow') !== '',
      isMac: text('isMac') !== '',
      resourceScope: isResourceScope(resourceScope) ? resourceScope : 'all',
      scopes: known.filter((scope) => form.getAll('scope').includes(scope)),
      reasons: new Map(known.map((scope) => [scope, text(`reason ${scope}`)])),
    },
    logo: (await fileIn(form, 'logo')) ?? bytesIn(text('keptLogo')),
    token: text(TOKEN_FIELD),
    revision: Number(text('revision')),
    isPreview: text('preview') !== '',
  }
}

/** Reads a form that may have files. */
async function readMultipart({ body, headers }: HttpRequest): Promise<FormData | undefined> {
  const contentType = headerOf(headers, 'content-type')
  if (body?.type !== 'bytes' || typeof contentType !== 'string') return undefined
  try {
    return await new Response(Uint8Array.from(body.bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    return undefined
  }
}

function textIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '' // browsers send line ends as CR LF
}

/** Reads a file. A field for one that was left empty comes as a file without a byte. */
async function fileIn(form: FormData, name: string): Promise<Uint8Array | undefined> {
  const value = form.get(name)
  return value === null || typeof value === 'string' || value.size === 0
    ? undefined
    : new Uint8Array(await value.arrayBuffer())
}

function bytesIn(base64: string): Uint8Array | undefined {
  if (base64 === '') return undefined
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function isResourceScope(text: string): text is ResourceScope {
  return Object.hasOwn(RESOURCE_CHOICES, text)
}

/** Returns the registration that the fields say, as `applications.submit` and `applications.change` check it. */
export function registrationFrom({ context }: Visit, values: Values, logo: Uint8Array | undefined): object {
  const { name, website, description, type, redirectMatching, authorizedDomain, resourceScope } = values
  const isExact = redirectMatching === 'exact'
  return {
    name,
    website,
    description: description === '' ? null : description,
    type,
    redirectUris: linesOf(values),
    redirectMatching: isExact ? 'exact' : null,
    authorizedDomain: authorizedDomain === '' ? null : authorizedDomain,
    allowSubdomains: values.allowSubdomains && !isExact,
    deviceFlow: values.deviceFlow,
    ...(context.macTokens && { tokenType: values.isMac ? 'mac' : null }),
    resourceScope,
    scopes: values.scopes.map((scope) => ({ scope, reason: values.reasons.get(scope) ?? '' })),
    ...(logo !== undefined && { logo }),
  }
}

/** Returns the redirect URIs of the form, in the order in which faults name them. */
export function linesOf({ redirectUris }: Pick<Values, 'redirectUris'>): readonly string[] {
  return redirectUris
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
