/**
 * The terms that administrators set for an application. Apart from the rest, since only what is loaded after the start asks for it.
 * @module
 */
import type { Seconds } from '../../values.js'
import { ownOf } from '../../values.js'
import type { ApplicationTerms, PublishedApplication } from '../application.js'

/** Returns the terms of an application. Reads own properties, so that a polluted prototype grants none. */
export function termsOf(application: PublishedApplication): ApplicationTerms {
  return ownOf((Object.hasOwn(application, 'terms') && application.terms) || {})
}

/** Returns rules with the lifetimes of tokens that an application has: its own where it has some, else those of the server. */
export function lifetimesFor<Rules extends Lifetimes>(application: PublishedApplication, rules: Rules): Rules {
  if (!Object.hasOwn(application, 'terms')) return rules
  const { accessTokenLifetime, refreshTokenLifetime } = { ...rules, ...termsOf(application) }
  // The options may be others than when the terms were set: no access token outlives the refresh token beside it.
  return { ...rules, accessTokenLifetime, refreshTokenLifetime: Math.max(accessTokenLifetime, refreshTokenLifetime) }
}

/** Lifetimes of tokens, in seconds. */
interface Lifetimes {
  readonly accessTokenLifetime: Seconds
  readonly refreshTokenLifetime: Seconds
}
