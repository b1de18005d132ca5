/**
 * The option `pageSources`, as the pages use it.
 * @module
 */
import { configurationError } from '../../core/errors.js'
import { readOptions } from '../../core/options.js'
import type { Takes, TakesOf } from '../../core/takes.js'
import { mustBe } from '../../core/takes.js'
import type { PageSources } from '../../protocol/pages/page.js'
import { isPageSource } from '../../protocol/pages/page.js'
import type { Settings } from '../../shell/options/settings.js'

const PLACE = 'createAuthorizationServer, pageSources'

const LIST: Takes = {
  words: 'a list of at most 16 https origins',
  // The header must stay shorter than what proxies take.
  fits: (value) => Array.isArray(value) && value.length <= 16,
}

const TAKES: TakesOf<PageSources> = { images: LIST, fonts: LIST, styles: LIST }

/**
 * Reads the option. `onError` is told of what is wrong in it, and the pages then load from the server's own origin alone: a host may
 * take an error for nothing, and the stricter policy harms nobody.
 */
export function readPageSources({
  pageSources,
  onError,
}: Pick<Settings<never>, 'pageSources' | 'onError'>): PageSources {
  try {
    const own = readOptions<PageSources>(PLACE, pageSources, TAKES)
    const lists = Object.entries(own).map(([name, given]) => [name, readOrigins(name, given)])
    // Into the object without a prototype, so that a polluted one widens nothing.
    return Object.freeze(Object.assign(own, Object.fromEntries(lists)))
  } catch (error) {
    onError(error)
    return readOptions<PageSources>(PLACE, {}, TAKES)
  }
}

/** Copies a list, and checks each origin of the copy. */
function readOrigins(name: string, given: readonly unknown[]): readonly string[] {
  return Array.from(given, (origin, index) => {
    if (isPageSource(origin)) return origin
    const words = "an https origin such as 'https://cdn.example', without path and wildcard"
    throw configurationError(`${PLACE}: the option ${name}[${index}] ${mustBe({ words }, origin)}`)
  })
}
