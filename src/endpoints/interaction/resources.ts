/**
 * The resources that a user can specify: those that the host names, those that a page offers, and those that the user chose.
 * @module
 */
import type { PublishedApplication } from '../../core/application/application.js'
import type { Resources } from '../../core/resource.js'
import type { Takes } from '../../core/takes.js'
import { isObject, isTaken } from '../../core/takes.js'
import { shownName } from '../../core/text.js'
import { shortened } from '../../pages/fragments.js'
import { chosenResources, FORM_FIELDS } from '../../protocol/pages/form-binding.js'
import type { Parameters } from '../../protocol/parameters.js'
import { listIn, valueIn } from '../../protocol/parameters.js'
import type { SpecifiedResource, User } from '../../shell/options.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from '../../shell/shown-lists.js'
import type { PageContext } from './context.js'
import type { HiddenField } from './forms.js'
import { isSendable, isTextOrNone, wrongFields } from './texts.js'

/** A choice of resources that was not offered, or that names none or too many. */
export interface ChoiceFault {
  readonly type: 'choice_fault'
  readonly choice: string | undefined
  readonly ids: ReadonlySet<string>
}

/** The resources that a page offers. */
export interface OfferedResources {
  readonly shown: readonly SpecifiedResource[]
  /** The number of those that the page cannot offer. */
  readonly notShown: number
}

/** Resources that a consent page offers at most. */
const RESOURCES_SHOWN = 1000

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
 * Selects the resources that a consent page offers: as many as it can show, and as its form can bring back when all are chosen.
 * @param bytes - that the form may have for them
 */
export function selectOffered(all: readonly SpecifiedResource[], bytes: number): OfferedResources {
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

/** Reads the user's choice of resources from a consent form. The host is asked again what the user can specify. */
export async function readChoice(
  context: PageContext<never>,
  user: User,
  { resourceScope }: PublishedApplication,
  form: Parameters,
): Promise<Resources | ChoiceFault> {
  const ids = listIn(form, FORM_FIELDS.resource)
  const value = valueIn(form, FORM_FIELDS.resourceScope)
  const choice = typeof value === 'string' ? value : undefined
  const offered = new Set(choice === 'specified' ? (await readResources(context, user)).map(({ id }) => id) : [])
  return chosenResources(choice, ids, resourceScope, offered) ?? { type: 'choice_fault', choice, ids: new Set(ids) }
}

/** True for a choice that cannot be granted. */
export function isChoiceFault(chosen: Resources | ChoiceFault): chosen is ChoiceFault {
  return 'type' in chosen
}

/** Returns the bytes that fields take in the body of a form. */
export function formSize(fields: readonly HiddenField[]): number {
  return new URLSearchParams(fields.map(({ name, value }): [string, string] => [name, value])).toString().length
}

/** Returns the bytes that a chosen resource takes in a form, behind other fields. */
function fieldSize({ id }: SpecifiedResource): number {
  return formSize([{ name: FORM_FIELDS.resource, value: id }]) + '&'.length
}
