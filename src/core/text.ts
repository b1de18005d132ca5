/**
 * Text that one person writes and others are shown: how long it is for whoever reads it, and what it must not hold.
 * @module
 * @see UAX #29, section 3 (grapheme clusters); UAX #9, section 2 (directional formatting characters)
 */

/** The longest emoji of a person's keyboard have 15 UTF-16 code units. */
const CODE_UNITS_PER_CHARACTER = 16

/** Control characters, line ends, halves of characters, and marks that reorder the words around them. */
const UNSOUND = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

/** Characters that no text of several lines may have. */
const UNSOUND_IN_LINES = /[\p{Cs}\u202a-\u202e\u2066-\u2069]|(?![\t\r\n])\p{Cc}/u

/**
 * Something to see: neither a space nor one of the letters and symbols that are drawn as nothing, which no property of Unicode
 * tells: the blanks of Braille and Egyptian, a half space, the place of an object, and a note without a head.
 */
const VISIBLE =
  /(?![\p{Default_Ignorable_Code_Point}\u2800\u303f\ufffc\u{13441}\u{13442}\u{1d159}])[\p{L}\p{N}\p{P}\p{S}]/u

/** The most code units of one character: with more, its marks would be drawn over its neighbours, or past the end of the line. */
const CODE_UNITS_OF_ONE_CHARACTER = 32

/** Without line ends, of which two make one character. */
const ASCII = /^[\x20-\x7e]*$/

/** Checks that a person sees at most so many characters; and, since marks can be piled up without end, their size. */
export function isWithin(text: string, limit: number): boolean {
  if (text.length > limit * CODE_UNITS_PER_CHARACTER) return false
  // Most names are ASCII, in which each code unit is a character.
  if (ASCII.test(text)) return text.length <= limit
  // Counted no further than the limit: V8 takes 60 ms to segment 5,600 letters, and more than twice as long for twice as many.
  let left = limit
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text))
    if (left-- === 0 || segment.length > CODE_UNITS_OF_ONE_CHARACTER) return false
  return true
}

/** True if a text has something to see. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text)
}

/** Returns a name of the host's if there is something to see of it, else the identifier that it stands for. */
export function shownName(name: string | null | undefined, identifier: string): string {
  return name && isVisible(name) ? name : identifier
}

/** Returns the code of the fault of a text with a character that nobody sees, though it could mislead; line ends are none. */
export function unseenFault(text: string): 'half_character' | 'unseen_mark' | undefined {
  if (/\p{Cs}/u.test(text)) return 'half_character'
  return isLine(text.split(/[\n\r\p{Zl}\p{Zp}]/u).join('')) ? undefined : 'unseen_mark'
}

/** True if a text is one line of whole characters and does not reorder the text around it. */
export function isLine(text: string): boolean {
  return !UNSOUND.test(text)
}

/** True if a text has whole characters and does not reorder the text around it; it may have line ends and tabs. */
export function isLines(text: string): boolean {
  return !UNSOUND_IN_LINES.test(text)
}
