/**
 * Searches and counts applications. A store lists records by their labels alone, so each record of a list is looked at.
 * @module
 */
import type { Application, ApplicationDetails } from '../../core/application/application.js'
import { isPublished } from '../../core/application/application.js'
import { configurationError, isOAuthError } from '../../core/errors.js'
import { readStrictOptions } from '../../core/options.js'
import type { TakesOf } from '../../core/takes.js'
import { NAME, oneOf, TEXT } from '../../core/takes.js'
import type { PageWanted } from '../../shell/records/checked-store.js'
import { storeError } from '../../shell/records/checked-store.js'
import { recordAs } from '../../shell/records.js'
import { PAGE } from '../arguments.js'
import type { Applications, WantedApplications } from './interface.js'
import { STATES } from './lookup.js'
import type { ApplicationContext } from './records.js'

const WANTED: TakesOf<WantedApplications> = { state: oneOf(...STATES), applicant: NAME, text: TEXT }

/** The default length of a page. */
const PAGE_LENGTH = 100

/** The pages of the store that one call reads, at most: then its page ends, and the next one goes on. */
const PAGES_READ = 100

/** Creates the functions that search and count. */
export function createSearchFunctions(context: ApplicationContext): Pick<Applications, 'search' | 'count'> {
  return {
    search: async (which = {}, page = {}) => {
      const wanted = readStrictOptions<WantedApplications>('applications.search', which, WANTED)
      const { limit = PAGE_LENGTH, cursor } = readStrictOptions<PageWanted>('applications.search, page', page, PAGE)
      const place = cursor === undefined ? START : parsePlace(cursor)
      if (place === undefined)
        throw configurationError('applications.search, page: the option cursor must be one of a search')
      const { found, next } = await searchFrom(context, wanted, place, limit)
      return { applications: structuredClone(found), ...(next !== undefined && { cursor: printPlace(next) }) }
    },

    count: async (which = {}) => {
      const wanted = readStrictOptions<WantedApplications>('applications.count', which, WANTED)
      let count = 0
      let place: Place | undefined = START
      while (place !== undefined) {
        const page: Found = await searchFrom(context, wanted, place, Number.MAX_SAFE_INTEGER)
        count += page.found.length
        place = page.next
      }
      return count
    },
  }
}

/** A place in the lists that a search goes through, one after the other. */
interface Place {
  readonly list: number
  /** The cursor of the store; absent at the beginning of the list. */
  readonly cursor?: string
}

const START: Place = { list: 0 }

/** The applications that were found, and the place to go on at; absent at the end. */
interface Found {
  readonly found: readonly Application[]
  readonly next?: Place
}

async function searchFrom(
  { transactions }: ApplicationContext,
  wanted: WantedApplications,
  from: Place,
  limit: number,
): Promise<Found> {
  const lists = listsOf(wanted)
  const matches = matcherOf(wanted)
  const found: Application[] = []
  let pages = 0
  let place: Place | undefined = from
  // The place in the middle of a store's page has no cursor: each page is as long as what may still be found.
  while (place !== undefined && found.length < limit && pages < PAGES_READ) {
    const { list, cursor }: Place = place
    const searched = lists[list]
    if (searched === undefined) return { found }
    const length = Math.min(limit - found.length, PAGE_LENGTH)
    const page = await transactions.list(searched.label, { limit: length, ...(cursor !== undefined && { cursor }) })
    if (isOAuthError(page)) throw storeError(page)
    pages++
    const listed = page.records.flatMap(({ value }) => recordAs.application(value) ?? [])
    found.push(...listed.filter((application) => searched.counts(application) && matches(application)))
    if (page.cursor !== undefined) place = { list, cursor: page.cursor }
    else place = list + 1 < lists.length ? { list: list + 1 } : undefined
  }
  return { found, ...(place !== undefined && { next: place }) }
}

/** A list of the store, and the applications of it that count. */
interface SearchedList {
  readonly label: string
  readonly counts: (application: Application) => boolean
}

/** Returns the lists that have all wanted applications, each in one of them. */
function listsOf({ state, applicant }: WantedApplications): readonly SearchedList[] {
  const isOf = (wanted: Application['state']) => (application: Application) =>
    application.state === wanted || (wanted === 'pending' && application.review?.state === 'pending')
  if (applicant !== undefined)
    return [{ label: `applicant:${applicant}`, counts: state === undefined ? () => true : isOf(state) }]
  if (state !== undefined) return [{ label: `applications:${state}`, counts: isOf(state) }]
  // What waits has changes of published applications too, which are on another list as well.
  return STATES.map((each) => ({ label: `applications:${each}`, counts: (found) => found.state === each }))
}

/** Makes the test of the text of an application. */
function matcherOf({ text = '' }: WantedApplications): (application: Application) => boolean {
  const words = plain(text).split(/\s+/).filter(Boolean)
  return (application) => {
    const texts = plain(textsOf(application).join('\n'))
    // An identifier is random, so that any few letters may be in it: it is found as a whole.
    const id = plain(application.id)
    return words.every((word) => texts.includes(word) || id === word)
  }
}

/** Returns the texts of an application that a search looks into: in force, and in review. */
function textsOf(application: Application): readonly string[] {
  const details = [
    ...(isPublished(application) ? [application] : []),
    ...(application.review === undefined ? [] : [application.review.details]),
  ]
  const { applicant = '' } = application
  return [
    applicant,
    ...details.flatMap(({ name, website, redirectUris }: ApplicationDetails) => [name, website, ...redirectUris]),
  ]
}

/** Returns a text without the differences of case and width. */
function plain(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Prints a place as the cursor of a search. */
function printPlace({ list, cursor }: Place): string {
  return cursor === undefined ? `${list}` : `${list}.${cursor}`
}

/** Parses the cursor of a search; undefined for another text. */
function parsePlace(text: string): Place | undefined {
  const [, list, cursor] = /^([0-3])(?:\.(.*))?$/s.exec(text) ?? []
  if (list === undefined) return undefined
  return { list: Number(list), ...(cursor !== undefined && { cursor }) }
}
