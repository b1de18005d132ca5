/**
 * The languages that the pages are written in. Each is loaded when the first page in it is asked for.
 * @module
 */
import { en } from './en.js'
import type { Texts } from './texts.js'

/** The tags of the languages of this package. */
export type PageLanguage = 'en' | 'de' | 'fr' | 'es' | 'pt' | 'ja' | 'zh-Hans' | 'ar'

// English is there at once: it is the last resort.
const LOADERS: Readonly<Record<PageLanguage, () => Promise<Texts>>> = {
  en: async () => en,
  de: async () => (await import('./de.js')).de,
  fr: async () => (await import('./fr.js')).fr,
  es: async () => (await import('./es.js')).es,
  pt: async () => (await import('./pt.js')).pt,
  ja: async () => (await import('./ja.js')).ja,
  'zh-Hans': async () => (await import('./zh-hans.js')).zhHans,
  ar: async () => (await import('./ar.js')).ar,
}

/** The languages of this package. */
export const pageLanguages: readonly PageLanguage[] = Object.keys(LOADERS) as PageLanguage[] // its own keys

/** Loads the texts of a language. */
export function loadTexts(language: PageLanguage): Promise<Texts> {
  return LOADERS[language]()
}
