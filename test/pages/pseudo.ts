/**
 * A language of which no text has a letter of the alphabet, and the texts of a page that its user can read.
 * @module
 */
import type { PluralText, Texts } from 'grantwell/pages'
import { en } from '../../src/pages/texts/en.js'
import { attribute, elementsOf } from './tree.js'

/** Values in braces stay as they are, and so does the direction. */
function veiled(text: string): string {
  return text
    .split(/(\{\w+\})/)
    .map((part) => (part.startsWith('{') ? part : part.replace(/[a-z]/gi, 'ж')))
    .join('')
}

/** The texts of the language: every letter of the English ones is another one. */
export const pseudoTexts: Texts = Object.fromEntries(
  Object.entries<string | PluralText>(en).map(([name, text]) => [
    name,
    name === 'direction'
      ? text
      : typeof text === 'string'
        ? veiled(text)
        : Object.fromEntries(Object.entries(text).map(([form, each]) => [form, veiled(each)])),
  ]),
) as unknown as Texts // of the same names

/** Attributes that a user reads, or hears. */
const READ = ['aria-label', 'alt', 'title', 'placeholder', 'content'] as const

/** The texts of a page that its user reads or hears: its title, its words, and the names for assistive technology. */
export function readableIn(document: string): readonly string[] {
  return elementsOf(document).flatMap((node) => {
    const own = (node.childNodes ?? []).flatMap(({ nodeName, value }) => (nodeName === '#text' && value ? [value] : []))
    const isMeta = node.nodeName === 'meta'
    const said = isMeta ? [] : READ.flatMap((name) => attribute(node, name) ?? [])
    return [...own, ...said].map((text) => text.trim()).filter((text) => text !== '')
  })
}

/** A text without what every language has: the example of a code. */
export function translated(text: string): string {
  return text.replaceAll('WDJB-MJHT', '')
}
