/**
 * The health of a server: whether its store answers, and whether its clock can be right.
 * @module
 */
import { isOAuthError } from '../core/errors.js'
import type { Seconds } from '../core/values.js'
import type { Internals } from '../shell/internals.js'
import { systemClock } from '../shell/options/platform.js'
import type { Settings } from '../shell/options/settings.js'
import type { CheckedStore } from '../shell/records/checked-store.js'
import { ISSUER_KEY } from '../shell/records.js'

/** The health of a server at a moment. */
export interface Health {
  /** True if nothing is wrong. */
  readonly healthy: boolean
  /** Everything that is wrong; empty if nothing is. */
  readonly problems: readonly {
    /**
     * `store_failed`: the store failed, did not answer in its time, or belongs to another issuer. `store_emptied`: the record that names
     * the issuer is gone. `clock_failed`: the option `clock` failed. `clock_differs`: it is more than a minute off the system's clock.
     */
    readonly code: 'store_failed' | 'store_emptied' | 'clock_failed' | 'clock_differs'
    /** A sentence for the operator, without anything that the store or the clock said: `onError` gets that. */
    readonly message: string
  }[]
  /** Milliseconds that the store took to answer, or to fail. */
  readonly storeMilliseconds: number
}

/** Something that is wrong with a server. */
type HealthProblem = Health['problems'][number]

/** Seconds by which the clock of a host may differ from the system's: tests and time zones differ by more, and drift by less. */
const DIFFERENCE_MAX: Seconds = 60

/** Creates the function that asks the store and the clock once. It never rejects. */
export function createHealthCheck({ settings, store: { read } }: Internals<never>): {
  readonly health: () => Promise<Health>
} {
  return {
    health: async () => {
      const clock = checkClock(settings)
      const began = performance.now()
      const store = await checkStore(read)
      const storeMilliseconds = performance.now() - began
      const problems = [...store, ...clock]
      return { healthy: problems.length === 0, problems, storeMilliseconds }
    },
  }
}

async function checkStore(read: CheckedStore['read']): Promise<readonly HealthProblem[]> {
  const records = await read([ISSUER_KEY])
  if (isOAuthError(records)) return [problem('store_failed', 'the store did not answer as it should: see onError')]
  return records[0] === undefined
    ? [problem('store_emptied', 'the store has no record of its issuer any more: it was emptied, or it is another one')]
    : []
}

function checkClock({ clock, onError }: Settings<never>): readonly HealthProblem[] {
  try {
    const ahead = Math.round(clock() - systemClock())
    if (Math.abs(ahead) <= DIFFERENCE_MAX) return []
    const words = `${Math.abs(ahead)} seconds ${ahead > 0 ? 'ahead of' : 'behind'} the clock of the system`
    return [problem('clock_differs', `the option clock is ${words}`)]
  } catch (error) {
    onError(error)
    return [problem('clock_failed', 'the option clock failed: see onError')]
  }
}

function problem(code: HealthProblem['code'], message: string): HealthProblem {
  return { code, message }
}
