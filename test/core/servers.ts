/**
 * Several servers over one record, in whatever order their steps come. A server reads, applies the transition, and
 * writes if the version is still the one that it read; else it begins again. The transition itself touches nothing that
 * is shared, so it has no step of its own.
 * @module
 */
import type { Command, GrantRecord, GrantRules, Outcome, Replies } from 'grantwell'
import { transition } from 'grantwell'

/** The record, as a store has it. */
export interface Store {
  grant: GrantRecord | undefined
  version: number
}

/** A request at one of the servers. */
export interface Request {
  readonly command: Command
  readonly now: number
  readonly entropy: Uint8Array
}

/** Handles a request on a store step by step: every `next` is one trip to the store. */
function* serve(
  store: Store,
  { command, now, entropy }: Request,
  rules: GrantRules,
): Generator<void, Outcome<Replies[Command['type']], GrantRecord>> {
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
): readonly Outcome<Replies[Command['type']], GrantRecord>[] {
  const outcomes: Outcome<Replies[Command['type']], GrantRecord>[] = []
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

/** Calls back once for every order in which choices can be made: each choice is taken through all its values. */
export function inEveryOrder(run: (choose: (options: number) => number) => void): number {
  const path: { chosen: number; readonly options: number }[] = []
  for (let runs = 1; ; runs++) {
    let depth = 0
    run((options) => {
      const at = depth++
      const known = path[at]
      if (known !== undefined) return known.chosen
      path.push({ chosen: 0, options })
      return 0
    })
    while ((path.at(-1)?.chosen ?? 0) + 1 === path.at(-1)?.options) path.pop()
    const last = path.at(-1)
    if (last === undefined) return runs
    last.chosen++
  }
}
