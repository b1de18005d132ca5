/**
 * The questions of `init`, for what the command line does not say.
 * @module
 */
import type { CANCEL_SYMBOL } from '@clack/prompts'
import { isCancel, select } from '@clack/prompts'
import type { FrameworkName } from './frameworks.js'
import { FRAMEWORK_NAMES, FRAMEWORKS } from './frameworks.js'
import type { StoreName } from './stores.js'
import { STORE_NAMES, STORES } from './stores.js'

/** The decisions that make a service. */
export interface Choices {
  readonly framework: FrameworkName
  readonly store: StoreName
}

/** The answer of a user who gives none. */
type Cancelled = typeof CANCEL_SYMBOL

/** Whether there is somebody to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}

/** Asks for what is missing; undefined if the user cancels, as by Ctrl-C. */
export async function askMissing(given: Partial<Choices>): Promise<Choices | undefined> {
  const framework = given.framework ?? (await askFramework())
  if (isCancel(framework)) return undefined
  const store = given.store ?? (await askStore())
  return isCancel(store) ? undefined : { framework, store }
}

function askFramework(): Promise<FrameworkName | Cancelled> {
  const options = FRAMEWORK_NAMES.map((value) => ({ value, label: FRAMEWORKS[value].title }))
  return select<FrameworkName>({ message: 'Which framework does the service use?', options })
}

function askStore(): Promise<StoreName | Cancelled> {
  const options = STORE_NAMES.map((value) => ({ value, label: STORES[value].title, hint: STORES[value].hint }))
  return select<StoreName>({ message: 'Where does it keep its records?', options })
}
