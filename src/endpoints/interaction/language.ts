/**
 * The language of a page: the host's choice, else that of the request, else that of the browser, else English.
 * @module
 */
import { configurationError } from '../../core/errors.js'
import type { Takes } from '../../core/takes.js'
import { came } from '../../core/takes.js'
import type { Language, Texts } from '../../pages/index.js'
import { loadTexts, pageLanguages } from '../../pages/index.js'
import { en } from '../../pages/texts/en.js'
import type { HttpRequest } from '../../protocol/message.js'
import { headerOf } from '../../protocol/message.js'
import { acceptedTags, fittingLanguage, listedTags } from '../../protocol/pages/locale.js'
import { checkedAnswer } from '../../shell/host.js'
import type { Settings } from '../../shell/options/settings.js'

/** Finds the language of a request. Never rejects: where a function of the host fails, `onError` is told. */
export type FindLanguage<Native> = (request: HttpRequest<Native>, uiLocales: string | undefined) => Promise<Language>

const LOCALE: Takes = {
  words: "a language tag such as 'de', or undefined",
  fits: (value) => value === undefined || value === null || typeof value === 'string',
}

const ENGLISH: Language = { locale: 'en', texts: en }

/** Makes the function that finds the language of a request, of those of this package and those that the host adds. */
export function createLanguages<Native>(
  settings: Pick<Settings<Native>, 'locale' | 'texts' | 'onError'>,
): FindLanguage<Native> {
  const { locale: choose, texts: own, onError } = settings
  const known = [...new Set([...pageLanguages, ...Object.keys(own)])]
  const loaded = new Map<string, Promise<Texts>>()
  reportUnknownTexts(own, onError)

  function load(language: string): Promise<Texts> {
    const before = loaded.get(language)
    if (before !== undefined) return before
    const base = fittingLanguage([language], pageLanguages)?.language ?? 'en'
    const loading = loadTexts(base).then((texts) => ({ ...texts, ...own[language] }))
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

/** Tells the host of texts that no page has, such as a misspelt name. */
function reportUnknownTexts(own: Settings<never>['texts'], onError: (error: unknown) => void): void {
  for (const [language, texts] of Object.entries(own))
    for (const name of Object.keys(texts))
      if (!Object.hasOwn(en, name))
        onError(configurationError(`createAuthorizationServer, texts, ${language}: no page has the text ${came(name)}`))
}
