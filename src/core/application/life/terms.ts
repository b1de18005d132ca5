/**
 * What administrators decide on for an application. Apart from the rest, since only what is loaded after the start asks for it.
 * @module
 */
import { ownOf } from '../../values.js'
import type { ApplicationTerms, PublishedApplication } from '../application.js'

/** Returns the terms of an application. Reads own properties, so that a polluted prototype grants none. */
export function termsOf(application: PublishedApplication): ApplicationTerms {
  return ownOf((Object.hasOwn(application, 'terms') && application.terms) || {})
}

/** Returns rules with the lifetimes of tokens that an application has: its own where it has some, else those of the server. */
export function lifetimesFor<Rules extends object>(application: PublishedApplication, rules: Rules): Rules {
  return { ...rules, ...termsOf(application) }
}
