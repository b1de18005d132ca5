/**
 * The screenshots of the pages that the site shows.
 * @module
 */
import type { PageLanguage } from 'grantwell/pages'
import { PAGE_STATES, type PageState } from './states.js'
import type { Screen } from './viewer.js'

/** A picture of a page in a state, on a screen. */
export interface Screenshot extends Screen {
  /** The name of the file: `consent-de-light-390.webp`. */
  readonly file: string
  readonly state: PageState
  readonly language: PageLanguage
}

type Row = readonly [language: PageLanguage, colours: Screen['colours'], width: Screen['width']]

/** Some of the languages and screens of each page, so that each is there with several of the others. */
const ROWS: Readonly<Record<string, readonly [state: PageState | undefined, rows: readonly Row[]]>> = {
  consent: [
    PAGE_STATES.consent['plain'],
    [
      ['en', 'light', 1280],
      ['en', 'dark', 1280],
      ['en', 'light', 390],
      ['de', 'light', 390],
      ['ja', 'light', 390],
      ['ar', 'light', 390],
      ['de', 'dark', 1280],
      ['ar', 'dark', 1280],
    ],
  ],
  brand: [
    PAGE_STATES.consent['branded'],
    [
      ['en', 'light', 1280],
      ['en', 'dark', 1280],
      ['ja', 'light', 390],
      ['ar', 'dark', 390],
    ],
  ],
  device: [
    PAGE_STATES.device['compare'],
    [
      ['en', 'light', 390],
      ['de', 'dark', 390],
      ['ja', 'light', 1280],
      ['ar', 'light', 390],
    ],
  ],
  applications: [
    PAGE_STATES.authorizedApplications['plain'],
    [
      ['en', 'light', 1280],
      ['de', 'light', 390],
      ['ja', 'dark', 390],
      ['ar', 'dark', 1280],
    ],
  ],
  'console-form': [
    PAGE_STATES['console']?.['faults'],
    [
      ['en', 'light', 1280],
      ['de', 'light', 390],
    ],
  ],
  'console-application': [
    PAGE_STATES['console']?.['application'],
    [
      ['en', 'light', 1280],
      ['ja', 'dark', 390],
    ],
  ],
  'console-queue': [
    PAGE_STATES['console']?.['queue'],
    [
      ['en', 'light', 1280],
      ['en', 'light', 390],
    ],
  ],
  'console-review': [
    PAGE_STATES['console']?.['difference'],
    [
      ['en', 'light', 1280],
      ['ar', 'light', 390],
      ['de', 'dark', 1280],
    ],
  ],
  error: [
    PAGE_STATES.error['detail'],
    [
      ['en', 'light', 390],
      ['de', 'dark', 1280],
      ['ja', 'light', 390],
      ['ar', 'light', 390],
    ],
  ],
}

/** All screenshots. `npm run docs:screenshots` writes them. */
export const SCREENSHOTS: readonly Screenshot[] = Object.entries(ROWS).flatMap(([page, [state, rows]]) => {
  if (state === undefined) throw new Error(`${page} has no such state`)
  return rows.map(([language, colours, width]) => {
    return { file: `${page}-${language}-${colours}-${width}.webp`, state, language, colours, width }
  })
})
