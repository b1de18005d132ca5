/**
 * Text in pages of a login.
 * @module
 */

/** Writes text so that it stays text, in an element and in an attribute with either quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
