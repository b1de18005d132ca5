/**
 * The input of every page: the things that it shows, and the language that it is written in.
 * @module
 */
import type { Appearance } from './appearance/appearance.js'
import { ownModel } from './fragments.js'
import type { Frame } from './layout.js'
import { en } from './texts/en.js'
import type { Texts } from './texts/texts.js'

/** The request of a browser, as the adapter read it. */
export interface PageRequest {
  /** The method, such as `GET`. */
  readonly method: string
  /** The path and the query. */
  readonly url: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The platform's own request. */
  readonly native: unknown
}

/** The input of a page. */
export interface PageInput<Model> {
  /** The things to show. */
  readonly model: Model
  /** The tag of the reader's language, such as `pt-BR`, for `lang` and for numbers and days. */
  readonly locale: string
  /** The texts in the reader's language. */
  readonly texts: Texts
  /** The look of the pages, from the option `appearance`. */
  readonly appearance: Appearance
  /** The request of the browser. */
  readonly request: PageRequest
}

/** The input of a page of this package: English by default. */
export type DefaultPageInput<Model> = Pick<PageInput<Model>, 'model'> & Partial<PageInput<Model>>

/** Reads the input of a page of this package. */
export function readInput<Model>({
  model,
  locale = 'en',
  texts = en,
  appearance = {},
}: DefaultPageInput<Model>): Frame & { readonly model: Model } {
  return { model: ownModel(model), locale, texts, appearance: ownModel(appearance) }
}
