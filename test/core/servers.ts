/**
 * Several servers over one record, in whatever order their steps come. A server reads, applies the transition, and
 * writes if the version is still the one that it read; else it begins again. The transition itself touches nothing that
 * is shared, so it has no step of its own.
 * @module
 */
import type { GrantCommand, GrantOutcome, GrantRecord, GrantReplies, GrantRules } from 'grantwell/core'
import { transition } from 'grantwell/core'
import type { Walk } from '../orders.js'
import { createWalk } from '../orders.js'

/** The record, as a store has it. */
export interface Store {
  grant: GrantRecord | undefined
  version: number
}

/** A request at one of the servers. */
export interface Request {
  readonly command: GrantCommand
  readonly now: number
  readonly entropy: Uint8Array
}

/** Handles a request on a store step by step: every `next` is one round trip to the store. */
function* serve(
  store: Store,
  { command, now, entropy }: Request,
  rules: GrantRules,
): Generator<void, GrantOutcome<GrantReplies[GrantCommand['type']], GrantRecord>> {
  for (;;) {
    const { grant, version } = store
    yield
    const outcome = transition(grant, command, now, entropy, rules)
    if (outcome.grant === undefined) return outcome
    if (store.version === version) {
      store.grant = outcome.grant
      store.version++
      return outcome
    }
    yield
  }
}

/**
 * Runs all requests at once on a store.
 * @param choose - which of so many servers that are not done takes its next step
 * @returns the outcomes, in the order of the requests
 */
export function race(
  store: Store,
  requests: readonly Request[],
  rules: GrantRules,
  choose: (servers: number) => number,
): readonly GrantOutcome<GrantReplies[GrantCommand['type']], GrantRecord>[] {
  const outcomes: GrantOutcome<GrantReplies[GrantCommand['type']], GrantRecord>[] = []
  let running = requests.map((request, place) => ({ place, steps: serve(store, request, rules) }))
  while (running.length > 0) {
    const server = running[choose(running.length)]
    const step = server?.steps.next()
    if (server === undefined || step?.done !== true) continue
    outcomes[server.place] = step.value
    running = running.filter((one) => one !== server)
  }
  return outcomes
}

/** Calls back once for every order in which choices can be made. @returns how many there were */
export function inEveryOrder(run: (choose: Walk['choose']) => void): number {
  const walk = createWalk()
  for (let runs = 1; ; runs++) {
    run(walk.choose)
    if (!walk.next()) return runs
  }
}
