/**
 * All pages of a server: the host's where it has some, else ours.
 * @module
 */
import type { Takes } from '../../core/takes.js'
import type { Language, PageInput, Pages } from '../../pages/index.js'
import { defaultPages } from '../../pages/index.js'
import type { HttpRequest } from '../../protocol/message.js'
import { checkedAnswer } from '../../shell/host.js'
import type { Settings } from '../../shell/options/settings.js'

const HTML: Takes = {
  words: 'a string of HTML, or a promise of one',
  fits: (value) => typeof value === 'string',
  secret: true,
}

/** The pages of one request: each takes its model alone. */
export type ShownPages = {
  readonly [Name in keyof Pages]: (model: Parameters<Pages[Name]>[0]['model']) => Promise<string>
}

/** Makes the pages of one request. Each is checked to be HTML. Our error page stands in for the host's if that fails. */
export function pagesOf(
  { pages, appearance, onError }: Pick<Settings<never>, 'pages' | 'appearance' | 'onError'>,
  language: Language,
  request: HttpRequest,
): ShownPages {
  const input = <Model>(model: Model): PageInput<Model> => ({ model, ...language, appearance, request })

  /** Writes a page, and checks that it is HTML. */
  function shown<Model>(name: keyof Pages, page: (input: PageInput<Model>) => string | Promise<string>) {
    return async (model: Model) => checkedAnswer<string>(`pages.${name}()`, HTML, await page(input(model)))
  }

  const { error } = pages
  const own = error === undefined ? undefined : shown('error', error)
  return {
    consent: shown('consent', pages.consent ?? defaultPages.consent),
    error: async (model) => {
      if (own === undefined) return defaultPages.error(input(model))
      try {
        // A copy: if the host's page changes it and then fails, our page still gets the original.
        return await own(structuredClone(model))
      } catch (failure) {
        onError(failure)
        return defaultPages.error(input(model))
      }
    },
    device: shown('device', pages.device ?? defaultPages.device),
    deviceResult: shown('deviceResult', pages.deviceResult ?? defaultPages.deviceResult),
    authorizedApplications: shown(
      'authorizedApplications',
      pages.authorizedApplications ?? defaultPages.authorizedApplications,
    ),
  }
}
