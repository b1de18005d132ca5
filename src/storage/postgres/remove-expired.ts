/**
 * Removal of expired records, by the host's call or in the background of a write.
 * @module
 */
import type { Seconds } from '../../core/values.js'
import type { Engine } from '../shared/engine.js'
import { createRemovalSchedule } from '../shared/expiry.js'
import { changedRows } from './client.js'
import type { RunStatement } from './run.js'

/** The removal of a store's expired records. */
export interface Removal {
  /** Removes expired records. Returns their number. */
  readonly removeExpired: () => Promise<number>
  /** Begins a removal that nobody waits for, if one is due. If it fails, a later one tries again, and an operation reports the failure. */
  readonly removeInBackground: () => void
}

/** Creates the removal of a store's expired records. */
export function createRemoval(run: RunStatement, namespace: string, clock: () => Seconds, engine: Engine): Removal {
  const schedule = createRemovalSchedule(engine)
  let isRunning = false

  async function removeExpired(): Promise<number> {
    const now = clock()
    schedule.began(now)
    const count = changedRows(await run('removeExpired', [namespace, now]))
    schedule.deleted(count)
    return count
  }

  return {
    removeExpired,

    removeInBackground() {
      if (isRunning || !schedule.isDue(clock())) return
      isRunning = true
      const end = (): void => {
        isRunning = false
      }
      removeExpired().then(end, end)
    },
  }
}
