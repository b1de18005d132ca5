/**
 * The questions of `init`, for what the command line does not say.
 * @module
 */
import type { FrameworkName } from './frameworks.js'
import { FRAMEWORK_NAMES, FRAMEWORKS } from './frameworks.js'
import type { StoreName } from './stores.js'
import { STORE_NAMES, STORES } from './stores.js'

/** The decisions that make a service. */
export interface Choices {
  readonly framework: FrameworkName
  readonly store: StoreName
}

/** Whether there is somebody to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}

/** Asks for what is missing; undefined if the user cancels, as by Ctrl-C. */
export async function askMissing(given: Partial<Choices>): Promise<Choices | undefined> {
  const { framework: givenFramework, store: givenStore } = given
  if (givenFramework !== undefined && givenStore !== undefined) return { framework: givenFramework, store: givenStore }
  const { isCancel, select } = await import('../prompts.js')
  const frameworks = FRAMEWORK_NAMES.map((value) => ({ value, label: FRAMEWORKS[value].title }))
  const framework =
    givenFramework ??
    (await select<FrameworkName>({ message: 'Which framework does the service use?', options: frameworks }))
  if (isCancel(framework)) return undefined
  const stores = STORE_NAMES.map((value) => ({ value, label: STORES[value].title, hint: STORES[value].hint }))
  const store = givenStore ?? (await select<StoreName>({ message: 'Where does it keep its records?', options: stores }))
  return isCancel(store) ? undefined : { framework, store }
}
