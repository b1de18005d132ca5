/**
 * What the pages have in common: who is signed in, forms that are bound to user and browser, what a user is shown of an
 * application, and the page for what went wrong.
 * @module
 */

import type { PublishedApplication } from '../core/application/application.js'
import { RESOURCE_CHOICES } from '../core/application/registration.js'
import type { OAuthError } from '../core/errors.js'
import { GrantwellError, hostFailed, oauthError } from '../core/errors.js'
import type { Resources } from '../core/resource.js'
import type { Scope } from '../core/scopes.js'
import type { Takes } from '../core/takes.js'
import { isObject } from '../core/takes.js'
import { shownName } from '../core/text.js'
import type { Seconds } from '../core/values.js'
import { shortened } from '../pages/fragments.js'
import type { ConsentScope, Pages } from '../pages/index.js'
import { type ConsentPageModel, inaccessibleLink } from '../pages/index.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { retryAfter } from '../protocol/message.js'
import type { FormBinding, VerifiedForm } from '../protocol/pages/consent.js'
import {
  BROWSER_KEY_BYTES,
  browserKeyOf,
  chosenResources,
  FORM_FIELDS,
  FORM_NONCE_BYTES,
  formToken,
  fromOwnPage,
  SPECIFIED_RESOURCES_MAX,
  setBrowserKey,
  verifyFormToken,
} from '../protocol/pages/consent.js'
import { pageResponse, redirectResponse, refreshTo } from '../protocol/pages/page.js'
import type { Parameters } from '../protocol/parameters.js'
import { listIn, valueIn } from '../protocol/parameters.js'
import { unavailable } from '../shell/checked-store.js'
import { checkedAnswer } from '../shell/host.js'
import type { Refused, RefusedEvent, Settings, SpecifiedResource, User } from '../shell/options.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from '../shell/shown-lists.js'
import { logoAddress } from './logo.js'

/** The settings of a server, with a page for everything that is shown. */
export type PageSettings<Native> = Settings<Native> & { readonly pages: Pages }

/** The endpoints that answer with pages. */
export type PageEndpoint = Extract<RefusedEvent['endpoint'], 'authorization' | 'device' | 'applications'>

/** What binds the forms of one page to who sees it. */
export interface FormBinder {
  /** The field of a form that shows something. */
  readonly field: (shown: FormBinding['shown']) => { readonly name: string; readonly value: string }
  /** For the browser, where it has no key yet. */
  readonly headers: Readonly<Record<string, string>>
}

/** What the consent page shows, wherever the consent was begun. */
export type ConsentModel = Pick<
  ConsentPageModel,
  'application' | 'user' | 'scopes' | 'resources' | 'stylesheet' | 'fault'
>

/** A consent form that came back with a choice of resources that cannot be. */
export interface ChoiceFault {
  readonly type: 'choice_fault'
  readonly choice: string | undefined
  readonly ids: readonly string[]
}

/** Verifies the form that came back; undefined for one that is not as it was made. */
export type VerifyForm<Native> = (
  request: HttpRequest<Native>,
  user: User,
  shown: FormBinding['shown'],
  token: string | undefined,
) => VerifiedForm | undefined

/** What the endpoints with pages share. */
export interface Interaction<Native> {
  /** Who is signed in; undefined for nobody. */
  readonly signedIn: (request: HttpRequest<Native>) => Promise<User | undefined>
  /** Sends the browser to sign in, and back to an endpoint with a query; from a form by way of a page. */
  readonly signIn: (request: HttpRequest<Native>, endpoint: PageEndpoint, query: string) => HttpResponse
  /** Binds the forms of a page to the user, the browser, and what is shown. */
  readonly bind: (request: HttpRequest<Native>, user: User) => FormBinder
  /** Checks what can be known of a form before anything is looked up: without it no form verifies. */
  readonly canBeOurs: (request: HttpRequest<Native>, token: string | undefined) => boolean
  /** Returns the form that came back, if it is as it was made, not too old, and from this browser. */
  readonly verify: VerifyForm<Native>
  /** Does the same for a form of any age, where an old one may ask what came of it. */
  readonly verifyOfAnyAge: VerifyForm<Native>
  /**
   * Makes what the consent page shows, its form apart; an error where the user has nothing to choose from, or the form could not come back.
   * @param fields - hidden ones of the form
   */
  readonly consentModel: (
    user: User,
    application: PublishedApplication,
    scopes: readonly Scope[],
    fields: readonly HiddenField[],
    again?: ChoiceFault,
  ) => Promise<ConsentModel | OAuthError>
  /** The resources that the user chose in a consent form. */
  readonly chosen: (user: User, application: PublishedApplication, form: Parameters) => Promise<Resources | ChoiceFault>
  /** What the host says that a user can specify. */
  readonly resourcesOf: (user: User) => Promise<readonly SpecifiedResource[]>
  /** Scopes as a page shows them, in the order of the catalogue, which is theirs as well. */
  readonly shownScopes: (scopes: readonly Scope[]) => readonly ConsentScope[]
  /** The page for what went wrong, noted in the audit trail with what more is known. */
  readonly errorPage: (
    endpoint: PageEndpoint,
    error: OAuthError,
    more?: { readonly clientId?: string; readonly rule?: string },
  ) => HttpResponse
  /** Answers by a function of an endpoint; with a page where a function of the host or the store fails in it. */
  readonly guarded: (
    endpoint: PageEndpoint,
    answer: (request: HttpRequest<Native>) => Promise<HttpResponse>,
  ) => (request: HttpRequest<Native>) => Promise<HttpResponse>
}

/** Binds what the pages have in common to a server. */
export function interactionOf<Native>(settings: PageSettings<Native>, refused: Refused): Interaction<Native> {
  const { issuer, issuerPath, clock, entropy, digests, pages } = settings
  const stylesheet = issuerPath + ENDPOINT_PATHS.stylesheet

  async function resourcesOf(user: User): Promise<readonly SpecifiedResource[]> {
    if (settings.resources === undefined) return []
    return checkedAnswer('resources()', RESOURCES, await settings.resources(user))
  }

  /**
   * Returns the resources that a consent page offers: as many as it can show, and as its form can bring back when all are chosen.
   * @param bytes - that the form may have for them
   */
  function offered(
    all: readonly SpecifiedResource[],
    bytes: number,
  ): {
    readonly shown: readonly SpecifiedResource[]
    readonly notShown: number
  } {
    const isFirstSendable = all[0] !== undefined && fieldSize(all[0]) <= bytes
    const { shown: sendable } = beginningOf(all, fieldSize, {
      characters: bytes,
      most: isFirstSendable ? RESOURCES_SHOWN : 0,
    })
    const { shown } = beginningOf(sendable, ({ id, name }) => entrySize(id, shortened(shownName(name, id))), {
      characters: LIST_CHARACTERS,
      most: RESOURCES_SHOWN,
    })
    return { shown, notShown: all.length - shown.length }
  }

  function shownScopes(scopes: readonly Scope[]): readonly ConsentScope[] {
    return [...settings.scopes.entries.values()]
      .filter(({ scope }) => scopes.includes(scope))
      .map(({ scope, permission, definition }) => ({ scope, permission, description: definition.description }))
  }

  /** Returns the browser's key for a form that can be one of ours. */
  function keyOfForm({ headers }: HttpRequest<Native>, token: string | undefined): Uint8Array | undefined {
    return token !== undefined && fromOwnPage(headers, issuer) ? browserKeyOf(headers, issuer) : undefined
  }

  const verifyOfAnyAge: VerifyForm<Native> = (request, { subject }, shown, token) => {
    const browserKey = keyOfForm(request, token)
    if (browserKey === undefined || token === undefined) return undefined
    const form = verifyFormToken({ issuer, subject, browserKey, shown }, token, digests)
    // No form of ours ends later, on a server whose clock is right.
    return form !== undefined && form.expiresAt <= clock() + settings.consentLifetime + CLOCKS_APART ? form : undefined
  }

  function errorPage(
    endpoint: PageEndpoint,
    error: OAuthError,
    more: { readonly clientId?: string; readonly rule?: string } = {},
  ): HttpResponse {
    refused(endpoint, error.reason, error.code, more.clientId, undefined, more.rule)
    const busy = error.code === 'temporarily_unavailable' || error.code === 'server_error'
    const model = busy
      ? { title: 'The service is busy', message: 'Please try again in a moment.' }
      : { ...inaccessibleLink, ...(error.reason === 'consent_invalid' && { message: FORM_INVALID[endpoint] }) }
    return pageResponse(error.status, pages.error({ ...model, stylesheet }), [], retryAfter(error))
  }

  return {
    resourcesOf,
    shownScopes,
    errorPage,

    signedIn: async (request) => {
      const user = await settings.user(request)
      if (user === undefined || user === null) return undefined // a session without a user is often null
      return checkedAnswer('user()', USER, user)
    },

    signIn: ({ method }, endpoint, query) => {
      const url = settings.signInUrl(`${issuer}${ENDPOINT_PATHS[endpoint]}${query === '' ? '' : `?${query}`}`)
      const address = checkedAnswer<string>('signInUrl()', SIGN_IN_URL, url)
      if (method !== 'POST') return redirectResponse(address)
      const model = { ...SIGNED_OUT, link: { href: address, text: 'Sign in' }, stylesheet }
      return pageResponse(403, pages.error(model), [], refreshTo(address))
    },

    bind: (request, { subject }) => {
      const kept = browserKeyOf(request.headers, issuer)
      const browserKey = kept ?? entropy(BROWSER_KEY_BYTES)
      const expiresAt = clock() + settings.consentLifetime
      const field: FormBinder['field'] = (shown) => {
        const binding = { issuer, subject, browserKey, shown }
        return { name: FORM_FIELDS.consent, value: formToken(binding, expiresAt, entropy(FORM_NONCE_BYTES), digests) }
      }
      return kept === undefined
        ? { field, headers: { 'Set-Cookie': setBrowserKey(browserKey, issuer) } }
        : { field, headers: {} }
    },

    canBeOurs: (...form) => keyOfForm(...form) !== undefined,

    verifyOfAnyAge,

    verify: (...form) => {
      const verified = verifyOfAnyAge(...form)
      return verified !== undefined && clock() < verified.expiresAt ? verified : undefined
    },

    consentModel: async (user, application, scopes, fields, again) => {
      const bytesLeft = settings.bodyLimit - formSize([...fields, ...LONGEST_ANSWER])
      if (bytesLeft < 0)
        return oauthError('invalid_request', 'malformed_request', 'The request is too long for a form.')
      const items = offered(await resourcesOf(user), bytesLeft)
      const choices = RESOURCE_CHOICES[application.resourceScope].filter(
        (kind) => kind !== 'specified' || settings.resources !== undefined,
      )
      if (choices.length === 0) return oauthError('server_error', 'host_failed', 'There is nothing to choose from.')
      return {
        application: {
          name: application.name,
          ...(application.description !== undefined && { description: application.description }),
          website: application.website,
          logo: issuerPath + logoAddress(application),
        },
        user: { name: shownName(user.name, user.subject) },
        scopes: shownScopes(scopes),
        resources: {
          choices,
          selected: choices.find((kind) => kind === again?.choice) ?? application.resourceScope,
          items: items.shown.map(({ id, name }) => ({
            id,
            name: shortened(shownName(name, id)),
            checked: again?.ids.includes(id) ?? false,
          })),
          ...(items.notShown > 0 && { notShown: items.notShown }),
        },
        stylesheet,
        ...(again !== undefined && { fault: CHOICE_FAULT }),
      }
    },

    chosen: async (user, application, form) => {
      const ids = listIn(form, FORM_FIELDS.resource)
      const value = valueIn(form, FORM_FIELDS.resourceScope)
      const choice = typeof value === 'string' ? value : undefined
      const offered = new Set(choice === 'specified' ? (await resourcesOf(user)).map(({ id }) => id) : [])
      return chosenResources(choice, ids, application.resourceScope, offered) ?? { type: 'choice_fault', choice, ids }
    },

    guarded: (endpoint, answer) => async (request) => {
      try {
        return await answer(request)
      } catch (error) {
        // Told already by whoever asked the store.
        if (error instanceof GrantwellError && error.code === 'ERR_STORE') {
          return errorPage(endpoint, unavailable('store_failed'))
        }
        settings.onError(error)
        return errorPage(endpoint, hostFailed())
      }
    },
  }
}

/** A field of a form that its page does not show. */
interface HiddenField {
  readonly name: string
  readonly value: string
}

/** Seconds by which the clocks of two servers may differ. */
const CLOCKS_APART: Seconds = 300

/** Resources that a consent page offers at most. */
const RESOURCES_SHOWN = 1000

/** The fields of a consent form that the user fills in, resources apart, with their longest values. */
const LONGEST_ANSWER: readonly HiddenField[] = [
  { name: FORM_FIELDS.decision, value: 'refuse' },
  { name: FORM_FIELDS.resourceScope, value: 'specified' },
]

/** Returns the bytes that fields take in the body of a form. */
function formSize(fields: readonly HiddenField[]): number {
  return new URLSearchParams(fields.map(({ name, value }): [string, string] => [name, value])).toString().length
}

/** Returns the bytes that a chosen resource takes in a form, behind other fields. */
function fieldSize({ id }: SpecifiedResource): number {
  return formSize([{ name: FORM_FIELDS.resource, value: id }]) + '&'.length
}

const USER: Takes = {
  words:
    '{ subject, name }, a string that is not empty and one that may be left out, or undefined where nobody is signed in',
  fits: (value) =>
    isObject(value) && isText(value['subject']) && value['subject'] !== '' && isTextOrNone(value['name']),
}

const RESOURCES: Takes = {
  words: 'a list of { id, name }, a string without line ends, NUL and half characters, and one that may be left out',
  fits: (value) =>
    Array.isArray(value) &&
    value.every((each) => isObject(each) && isSendable(each['id']) && isTextOrNone(each['name'])),
}

/** Nothing else can stand in a header. */
const SIGN_IN_URL: Takes = {
  words: 'a path or URL of visible ASCII characters, at once',
  fits: (value) => isText(value) && /^[\x21-\x7e]+$/.test(value),
  secret: true,
}

/** A form brings other line ends than it was given, and no NUL and no half of a character. */
function isSendable(value: unknown): boolean {
  return isText(value) && !/[\r\n\0\p{Cs}]/u.test(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || isText(value)
}

const CHOICE_FAULT = `Choose which resources the application may use: at least one, and at most ${SPECIFIED_RESOURCES_MAX}.`

const SIGNED_OUT = {
  title: 'You were signed out',
  message: 'Nothing was changed. Sign in again to go on.',
} as const

const FORM_INVALID: { readonly [Endpoint in PageEndpoint]: string } = {
  authorization:
    'This form was sent before, is too old, or belongs to another session. Go back to the application and start again.',
  device: 'This form was sent before, is too old, or belongs to another session. Start again on your device.',
  applications: 'This form is too old, or belongs to another session. Nothing was changed. Open the page again.',
}

/** Whether a choice of resources cannot be. */
export function isChoiceFault(chosen: Resources | ChoiceFault): chosen is ChoiceFault {
  return 'type' in chosen
}
