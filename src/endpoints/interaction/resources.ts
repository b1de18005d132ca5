/**
 * The resources that a user can specify: those that the host names, those that a page offers, and those that the user chose.
 * @module
 */
import type { PublishedApplication } from '../../core/application/application.js'
import type { Resources } from '../../core/resource.js'
import type { Takes } from '../../core/takes.js'
import { isObject, isTaken } from '../../core/takes.js'
import { shownName } from '../../core/text.js'
import { LONG_LIST, SEARCH_CHARACTERS } from '../../pages/consent.js'
import { shortened } from '../../pages/fragments.js'
import { chosenResources, FORM_FIELDS } from '../../protocol/pages/form-binding.js'
import type { Parameters } from '../../protocol/parameters.js'
import { listIn, valueIn } from '../../protocol/parameters.js'
import type { AuthorizationServerOptions, User } from '../../shell/options.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from '../../shell/shown-lists.js'
import type { PageContext } from './context.js'
import type { HiddenField } from './forms.js'
import { isSendable, isTextOrNone, wrongFields } from './texts.js'

/** A resource that a user can specify. */
type SpecifiedResource = Awaited<ReturnType<NonNullable<AuthorizationServerOptions['resources']>>>[number]

/** A choice of resources with which the page is shown again. */
export interface OpenChoice {
  /** `fault`: it was not offered, or names none or too many. `search`: the user searches for more. */
  readonly type: 'fault' | 'search'
  readonly choice: string | undefined
  readonly ids: ReadonlySet<string>
  /** The words in the field of the search. */
  readonly search: string
}

/** The resources that a page offers. */
export interface OfferedResources {
  readonly shown: readonly SpecifiedResource[]
  /** The number of those that the page cannot offer. */
  readonly notShown: number
  /** The words that the user searched for; absent where the list is so short that the page has no search. */
  readonly search?: string
}

/** Resources that a consent page offers at most. */
const RESOURCES_SHOWN = 1000

/** Bytes of the field of the search in a form, at most: a character takes up to 12. */
const LONGEST_SEARCH = SEARCH_CHARACTERS * 12 + `&${FORM_FIELDS.search}=`.length

const RESOURCES: Takes = {
  words: 'a list of { id, name }, a string without line ends, NUL and half characters, and one that may be left out',
  fits: (value) =>
    Array.isArray(value) &&
    value.every((each) => isObject(each) && isSendable(each['id']) && isTextOrNone(each['name'])),
}

/** Asks the host what a user can specify. */
export async function readResources(context: PageContext<never>, user: User): Promise<readonly SpecifiedResource[]> {
  if (context.resources === undefined) return []
  const resources = await context.resources(user)
  if (!isTaken(RESOURCES, resources)) throw wrongFields('resources()', RESOURCES, resources)
  return resources
}

/**
 * Selects the resources that a consent page offers: as many as it can show, and as its form can bring back when all are chosen. Of a long
 * list these are the chosen ones, and then those that have the words which the user searched for.
 * @param bytes - that the form may have for them
 */
export function selectOffered(
  all: readonly SpecifiedResource[],
  bytes: number,
  again: OpenChoice | undefined,
): OfferedResources {
  // Where bodies are very small, the field of a search would take the room of what it finds.
  if (all.length <= LONG_LIST || bytes < 2 * LONGEST_SEARCH) return selectFirst(all, bytes)
  const search = again?.search ?? ''
  const isChosen = ({ id }: SpecifiedResource): boolean => again?.ids.has(id) ?? false
  const chosen = all.filter(isChosen)
  // Not by the size of the page: none that was chosen may get lost. They came in a form, so another one can bring them back.
  const kept = chosen.slice(0, RESOURCES_SHOWN)
  const found = all.filter((each) => !isChosen(each) && hasWords(each, search))
  const left = bytes - LONGEST_SEARCH - kept.reduce((size, each) => size + fieldSize(each), 0)
  const { shown, notShown } = selectFirst(found, left, RESOURCES_SHOWN - kept.length)
  return { shown: [...kept, ...shown], notShown: notShown + chosen.length - kept.length, search }
}

/** Selects the resources at the beginning of a list. */
function selectFirst(all: readonly SpecifiedResource[], bytes: number, most = RESOURCES_SHOWN): OfferedResources {
  const isFirstSendable = all[0] !== undefined && fieldSize(all[0]) <= bytes
  const { shown: sendable } = beginningOf(all, fieldSize, {
    characters: bytes,
    most: isFirstSendable ? most : 0,
  })
  const { shown } = beginningOf(sendable, ({ id, name }) => entrySize(id, shortened(shownName(name, id))), {
    characters: LIST_CHARACTERS,
    most: RESOURCES_SHOWN,
  })
  return { shown, notShown: all.length - shown.length }
}

/** Reads the user's choice of resources from a consent form. The host is asked again what the user can specify. */
export async function readChoice(
  context: PageContext<never>,
  user: User,
  { resourceScope }: PublishedApplication,
  form: Parameters,
): Promise<Resources | OpenChoice> {
  const ids = listIn(form, FORM_FIELDS.resource)
  const value = valueIn(form, FORM_FIELDS.resourceScope)
  const choice = typeof value === 'string' ? value : undefined
  const offered = new Set(choice === 'specified' ? (await readResources(context, user)).map(({ id }) => id) : [])
  return chosenResources(choice, ids, resourceScope, offered) ?? readOpenChoice(form, 'fault')
}

/** Reads the choice so far from a consent form, to show its page again. */
export function readOpenChoice(form: Parameters, type: OpenChoice['type']): OpenChoice {
  const choice = valueIn(form, FORM_FIELDS.resourceScope)
  const words = form.get(FORM_FIELDS.search)
  return {
    type,
    choice: typeof choice === 'string' ? choice : undefined,
    ids: new Set(listIn(form, FORM_FIELDS.resource)),
    search: typeof words === 'string' ? [...words].slice(0, SEARCH_CHARACTERS).join('').trim() : '',
  }
}

/** True for a choice with which the page is shown again. */
export function isOpenChoice(chosen: Resources | OpenChoice): chosen is OpenChoice {
  return 'type' in chosen
}

/** True if each of the words is in the name or the identifier of a resource, in any case and any normal form of Unicode. */
function hasWords({ id, name }: SpecifiedResource, search: string): boolean {
  const texts = [folded(shownName(name, id)), folded(id)]
  return folded(search)
    .split(/\s+/)
    .every((word) => texts.some((text) => text.includes(word)))
}

/** Folds the case of a text. In upper case, `ß` and `ss` are one, and so are both kinds of a small sigma. */
function folded(text: string): string {
  return text.normalize('NFKC').toUpperCase().normalize('NFKC')
}

/** Returns the bytes that fields take in the body of a form. */
export function formSize(fields: readonly HiddenField[]): number {
  return new URLSearchParams(fields.map(({ name, value }): [string, string] => [name, value])).toString().length
}

/** Returns the bytes that a chosen resource takes in a form, behind other fields. */
function fieldSize({ id }: SpecifiedResource): number {
  return formSize([{ name: FORM_FIELDS.resource, value: id }]) + '&'.length
}
