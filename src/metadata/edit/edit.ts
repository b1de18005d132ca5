/**
 * Changes to a text that leave all other bytes as they are.
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

/** Options of {@link editText}. */
export interface EditTextOptions {
  /** Other names for values of enums, which the change may use too. */
  readonly enumAliases?: EnumAliases
  /** The longest text that is read, in UTF-16 units; 4 MiB by default. */
  readonly maxBytes?: number
}

/**
 * Sets, adds and removes fields of a text. Every other byte stays as it is: comments, order, blanks, line ends, and the wrapping of
 * strings. A value that is there already changes nothing. A new field goes to its place in the canonical order, in the style of its
 * neighbours. A comment is removed only with the message or list that it is in.
 * @param text - in text format; it need not match the schema
 * @param change - values by path. `null` removes a field, `undefined` changes nothing. The value of an enum is its name. A message is
 * an object, and its fields are set in the message that is there. `list[0]` is one item, counted in the text as it was given; `list[+]`
 * is a new item after the last; `list` with an array is all items. Removals are made last. If a message that may come once comes
 * several times, the last one is changed, and a removal without an index is made in all of them
 * @throws {MetadataError} `syntax` if the text is not text format; `invalid_path` if a path names nothing; `invalid_value` and
 * `unknown_enum_value` if a value does not suit its field
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
