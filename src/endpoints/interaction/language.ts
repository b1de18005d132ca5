/**
 * The language of a page: the host's choice, else that of the request, else that of the browser, else English.
 * @module
 */
import { configurationError } from '../../core/errors.js'
import type { Takes } from '../../core/takes.js'
import { came, isObject } from '../../core/takes.js'
import type { Language, Texts } from '../../pages/index.js'
import { loadTexts, pageLanguages } from '../../pages/index.js'
import { en } from '../../pages/texts/en.js'
import type { HttpRequest } from '../../protocol/message.js'
import { headerOf } from '../../protocol/message.js'
import { acceptedTags, fittingLanguage, knownLanguages, listedTags } from '../../protocol/pages/locale.js'
import { checkedAnswer } from '../../shell/host.js'
import type { Settings } from '../../shell/options/settings.js'

/** Finds the language of a request. Never rejects: where a function of the host fails, `onError` is told. */
export type FindLanguage<Native> = (request: HttpRequest<Native>, uiLocales: string | undefined) => Promise<Language>

const LOCALE: Takes = {
  words: "a language tag such as 'de', or undefined",
  fits: (value) => value === undefined || value === null || typeof value === 'string',
}

const ENGLISH: Language = { locale: 'en', texts: Object.freeze({ ...en }) }

/** The languages of this package. */
const OURS = knownLanguages(pageLanguages)

/** Makes the function that finds the language of a request, of those of this package and those that the host adds. */
export function createLanguages<Native>(
  settings: Pick<Settings<Native>, 'locale' | 'texts' | 'onError'>,
): FindLanguage<Native> {
  const { locale: choose, onError } = settings
  const own = soundTexts(settings)
  const known = own.size === 0 ? OURS : knownLanguages([...new Set([...pageLanguages, ...own.keys()])])
  const loaded = new Map<string, Promise<Texts>>()

  function load(language: string): Promise<Texts> {
    const before = loaded.get(language)
    if (before !== undefined) return before
    const base = fittingLanguage([language], OURS)?.language ?? 'en'
    // Frozen, since every page of the host gets the same.
    const loading = loadTexts(base).then((texts) => Object.freeze({ ...texts, ...own.get(language) }))
    loaded.set(language, loading)
    // The next page tries again.
    loading.catch(() => loaded.delete(language))
    return loading
  }

  /** Asks the host; nothing where its function fails. */
  async function choice(request: HttpRequest<Native>): Promise<string | undefined> {
    try {
      return checkedAnswer<string | null | undefined>('locale()', LOCALE, await choose?.(request)) ?? undefined
    } catch (error) {
      onError(error)
      return undefined
    }
  }

  return async (request, uiLocales = '') => {
    const chosen = await choice(request)
    const accepted = headerOf(request.headers, 'accept-language')
    const wanted = [
      ...(chosen === undefined ? [] : [chosen]),
      ...listedTags(uiLocales),
      ...(typeof accepted === 'string' ? acceptedTags(accepted) : []),
    ]
    const found = fittingLanguage(wanted, known)
    if (found === undefined) return load('en').then((texts) => ({ locale: 'en', texts }))
    try {
      return { locale: found.locale, texts: await load(found.language) }
    } catch (error) {
      onError(error)
      return ENGLISH
    }
  }
}

/** Returns the texts of the host by their languages, without those that no page has or can write. The host is told of each. */
function soundTexts({
  texts: given,
  onError,
}: Pick<Settings<never>, 'texts' | 'onError'>): ReadonlyMap<string, Partial<Texts>> {
  const told = (language: string, words: string): false => {
    onError(configurationError(`createAuthorizationServer, texts, ${language}: ${words}`))
    return false
  }
  const isSound = (language: string, name: string, text: unknown): boolean => {
    const usual = Object.getOwnPropertyDescriptor(en, name)?.value
    if (usual === undefined) return told(language, `no page has the text ${came(name)}`)
    if (typeof usual === 'string')
      return typeof text === 'string' || told(language, `${name} must be a string; got ${came(text)}`)
    return isPlural(text) || told(language, `${name} must be an object with the plural form other; got ${came(text)}`)
  }
  return new Map(
    Object.entries(given).map(([language, texts]) => {
      const sound = Object.entries(texts).filter(([name, text]) => isSound(language, name, text))
      return [language, Object.fromEntries(sound.map(([name, text]) => [name, Object.freeze(text)]))]
    }),
  )
}

/** True for the forms of a text that depends on a number. */
function isPlural(text: unknown): boolean {
  return isObject(text) && Object.hasOwn(text, 'other') && Object.values(text).every((form) => typeof form === 'string')
}
