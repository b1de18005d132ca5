/**
 * Changes to a text that leave every byte alone that they do not concern.
 * @module
 */

import { refuse } from '../errors.js'
import { checkOptions } from '../options.js'
import type { EnumAliases } from '../schema/aliases.js'
import { makeEnumNames } from '../schema/aliases.js'
import { MetaDataSchema } from '../schema/schema.js'
import { parseSyntax } from '../text/syntax.js'
import type { Change } from './change.js'
import type { Container } from './occurrences.js'
import { isFields, makePlan } from './plan.js'
import { findRemoved, makeOffsetMap, removeOccurrences } from './removal.js'
import { Setter } from './setting.js'
import { applySplices } from './splices.js'

/** What `editText` may be told. */
export interface EditTextOptions {
  /** Other names for values of enums, which may then be given too. */
  readonly enumAliases?: EnumAliases
  /** A longer text is refused, in UTF-16 units; 4 MiB by default. */
  readonly maxBytes?: number
}

/**
 * Sets, adds and removes fields of a text, and leaves every other byte as it is: comments, order, blanks, line ends, the way
 * in which strings are wrapped. A value that is there already changes nothing. A new field lands where the canonical order
 * puts it, written as its neighbours are. A comment goes only with what it is inside of.
 * @param text - in text format; it need not suit the schema
 * @param change - values by path. `null` removes, `undefined` changes nothing. An enum's value is its name. A message is an
 * object, whose fields are set in the one that is there. `list[0]` is one of several, of the text as it was given; `list[+]`
 * a new one after the last; `list` with an array is all of them. What is removed is removed last. Of a block that may come
 * once and comes again, the last is changed, and a removal without an index is made in all
 * @throws {MetadataError} `syntax` when the text is none; `invalid_path` when a path leads nowhere; `invalid_value` and
 * `unknown_enum_value` when a value does not suit its field
 * @example
 * editText(text, {
 *   'third_party.version': '1.3.2',
 *   'third_party.last_upgrade_date': { year: 2026, month: 11, day: 21 },
 *   'third_party.security.tag[0]': 'NVD-CPE2.3:cpe:/a:zlib:zlib:1.3.2',
 * })
 */
export function editText(text: string, change: Change, options?: EditTextOptions): string {
  if (typeof text !== 'string') refuse('the text', 'a string', text)
  if (typeof change !== 'object' || change === null || Array.isArray(change) || !isFields(change))
    refuse('the change', 'an object of values by path', change)
  const { enumAliases, maxBytes } = checkOptions(options, { enumAliases: 'object', maxBytes: 'number' })
  const { plan, removals } = makePlan(change)
  const root: Container = { fields: parseSyntax(text, maxBytes), message: undefined, type: MetaDataSchema }
  const setting = new Setter(text, root, makeEnumNames(enumAliases))
  setting.setMessage(root, plan)
  const gone = [...findRemoved(root, removals), ...setting.surplus]
  const changed = applySplices(text, setting.splices)
  return gone.length === 0 ? changed : removeOccurrences(changed, gone, makeOffsetMap(setting.splices))
}
