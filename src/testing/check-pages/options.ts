/**
 * The options of the check of pages.
 * @module
 */
import type { Appearance, PageLanguage } from '../../pages/index.js'

/** Options of `checkPages`. */
export interface CheckPagesOptions {
  /** The language of the reader, one of `pageLanguages`; `en` by default. */
  readonly locale?: PageLanguage
  /** The look that the pages get; none by default. */
  readonly appearance?: Appearance
  /** The request of the platform, for pages that read it; undefined by default. */
  readonly native?: unknown
}
