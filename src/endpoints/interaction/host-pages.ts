/**
 * All pages of a server: the host's where it has some, else ours.
 * @module
 */
import type { Takes } from '../../core/takes.js'
import type { Pages } from '../../pages/index.js'
import { defaultPages } from '../../pages/index.js'
import { checkedAnswer } from '../../shell/host.js'
import type { Settings } from '../../shell/options/settings.js'

const HTML: Takes = { words: 'a string of HTML, at once', fits: (value) => typeof value === 'string', secret: true }

/** Completes the host's pages with ours, and checks that each gives HTML. Our error page stands in for one that fails. */
export function completePages({ pages, onError }: Pick<Settings<never>, 'pages' | 'onError'>): Pages {
  const { error } = pages
  const checked: Pages = {
    consent: checkPage('consent', pages.consent ?? defaultPages.consent),
    error: checkPage('error', error ?? defaultPages.error),
    device: checkPage('device', pages.device ?? defaultPages.device),
    deviceResult: checkPage('deviceResult', pages.deviceResult ?? defaultPages.deviceResult),
    authorizedApplications: checkPage(
      'authorizedApplications',
      pages.authorizedApplications ?? defaultPages.authorizedApplications,
    ),
  }
  if (error === undefined) return checked
  return {
    ...checked,
    error: (model) => {
      try {
        // A copy: if the host's page changes it and then fails, our page still gets the original.
        return checked.error(structuredClone(model))
      } catch (failure) {
        onError(failure)
        return defaultPages.error(model)
      }
    },
  }
}

/** Wraps a page so that it throws where it does not give HTML. */
function checkPage<Model>(name: keyof Pages, page: (model: Model) => string): (model: Model) => string {
  return (model) => checkedAnswer(`pages.${name}()`, HTML, page(model))
}
