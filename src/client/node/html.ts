/**
 * Text in HTML pages of a login.
 * @module
 */

/** Escapes text for an element, and for an attribute in either quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
