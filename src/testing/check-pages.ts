/**
 * The check of pages of a host's own: renders each with sample models, and tells what it lacks.
 * @module
 */
import type { Pages } from '../pages/index.js'
import type { CheckPagesOptions } from './check-pages/options.js'

/** The faults of pages of a host's own; its message is a list of them. */
export class PagesError extends Error {
  /** The name of the class. */
  override readonly name = 'PagesError'
  /** The faults, each a sentence that begins with the name of the page. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(`the pages have ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`)
    this.faults = faults
  }
}

/**
 * Checks pages of a host's own: renders each some times with sample models. A fault is a page that throws, gives no string, has no
 * doctype, does not escape a value or shows "undefined", and a page without the form, fields, links and words that it must keep.
 *
 * It is a function for tests, and no server does this by itself: a page may read a session that no sample request has, or count
 * its calls.
 * @param pages - the option `pages` of the server; pages that are left out are not checked
 * @throws PagesError with all faults; GrantwellError `ERR_CONFIGURATION` for a wrong argument
 */
export async function checkPages(pages: Partial<Pages>, options: CheckPagesOptions = {}): Promise<void> {
  const { findFaults } = await import('./check-pages/check.js')
  const faults = await findFaults(pages, options)
  if (faults.length > 0) throw new PagesError(faults)
}
