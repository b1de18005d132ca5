/**
 * Tests the lifecycle of grants on a real server: sends random requests, and compares every answer with the model of the
 * specification.
 * @module
 * @see Specification, section 3
 */
import * as fc from 'fast-check'
import type { Real, World } from './lifecycle/answers.js'
import { lifecycleCommands } from './lifecycle/commands.js'
import type { LifecycleCommand } from './lifecycle/steps.js'
import type { Terms } from './model.js'
import type { Takes } from './options.js'
import { checkedOptions, FLAG, OBJECT, oneOf, TEXT, WHOLE, wholeFrom } from './options.js'
import type { LifecycleWiring } from './wiring.js'

/** The terms of a server; lifetimes in seconds. */
export interface LifecycleTerms extends Terms {
  /** True if every client must use PKCE; public ones always must. */
  readonly requirePkce: boolean
}

/** Options of {@link lifecycle}: the number of runs, or the one to run again. */
export interface LifecycleOptions {
  /** The terms of the server, as far as they are not the defaults of `createAuthorizationServer`. */
  readonly terms?: Partial<LifecycleTerms>
  /** Runs, each on a wiring of its own, from 1 on; 100 by default. */
  readonly numRuns?: number
  /** Commands of one run at most, from 1 on; 100 by default. Each is a request or two, and a validation of every token. */
  readonly maxCommands?: number
  /** The seed of an earlier run, a whole number, to repeat it; another one each time by default. */
  readonly seed?: number
  /** With its seed, repeats only the run that failed, at its shortest; both are in the report. */
  readonly path?: string
  /** The path of a counterexample to repeat, as fast-check prints it. */
  readonly replayPath?: string
}

const DEFAULTS: LifecycleTerms = {
  codeLifetime: 600,
  accessTokenLifetime: 28_800,
  refreshTokenLifetime: 15_552_000,
  gracePeriod: 300,
  refreshReplay: 'revoke',
  requirePkce: false,
}

const TAKES: { readonly [Name in keyof LifecycleOptions]-?: Takes } = {
  terms: OBJECT,
  numRuns: wholeFrom(1),
  maxCommands: wholeFrom(1),
  seed: WHOLE,
  path: TEXT,
  replayPath: TEXT,
}

const TAKES_OF_TERMS: { readonly [Name in keyof LifecycleTerms]: Takes } = {
  codeLifetime: wholeFrom(1),
  accessTokenLifetime: wholeFrom(1),
  refreshTokenLifetime: wholeFrom(1),
  gracePeriod: wholeFrom(0),
  refreshReplay: oneOf<LifecycleTerms['refreshReplay']>({ revoke: true, refuse: true }),
  requirePkce: FLAG,
}

/**
 * Runs random histories of grants against a wiring of server, store and clock: consent, exchange, refresh, revocation and
 * the passing of time, rightly and wrongly, some requests several times at once. Every answer, and after it every token,
 * must be what the specification's table of states says.
 *
 * With the defaults some 3,400 requests are sent and some 10,000 tokens validated: less than a second in memory, several
 * seconds on a database. `numRuns` makes it more, or less.
 * @param makeWiring - makes a wiring for every run, with a store in which no run before has left anything
 * @throws Error, by the promise, where a server differs: with the seed, and the shortest history that shows it
 * @throws GrantwellError `ERR_CONFIGURATION`, by the promise, for an unknown or wrong option or term
 * @example
 * ```ts
 * await lifecycle(() => {
 *   const clock = virtualClock()
 *   return wire({ store: memoryStore({ clock }), clock })
 * })
 * ```
 */
export async function lifecycle(
  makeWiring: () => LifecycleWiring | Promise<LifecycleWiring>,
  options: LifecycleOptions = {},
): Promise<void> {
  const { terms: given = {}, numRuns = 100, maxCommands = 100, ...again } = checkedOptions('lifecycle', options, TAKES)
  const { seed, path, replayPath } = again
  const { requirePkce, ...terms } = { ...DEFAULTS, ...checkedOptions('lifecycle, terms', given, TAKES_OF_TERMS) }
  const commands = fc.commands([lifecycleCommands(SCOPE_CHOICES)], {
    maxCommands,
    size: 'max',
    ...(replayPath !== undefined && { replayPath }),
  })
  const property = fc.asyncProperty(commands, async (some) => {
    const story: string[] = []
    const wiring = await makeWiring()
    const setup = (): { model: World; real: Real } => ({
      model: { lives: [], clock: wiring.clock },
      real: { wiring, terms, requirePkce, story },
    })
    try {
      await fc.asyncModelRun(setup, some)
    } catch (error) {
      const inside = (wiring.errors ?? []).map((each) => `the server was told: ${String(each)}`)
      throw new Error([...story.map((line, index) => `  ${index + 1}. ${line}`), ...inside].join('\n'), {
        cause: error,
      })
    } finally {
      await wiring.close?.()
    }
  })
  const found = await fc.check(property, {
    numRuns,
    // The proportions of the commands are chosen; towards short histories they would only be weaker.
    unbiased: true,
    ...(seed !== undefined && { seed }),
    ...(path !== undefined && { path }),
  })
  if (found.failed) throw new Error(reportOf(found), { cause: found.errorInstance })
}

/** The number of a client's choices of scopes that are tried. */
const SCOPE_CHOICES = 4

function reportOf({
  seed,
  numRuns,
  numShrinks,
  counterexamplePath,
  counterexample,
  errorInstance,
}: fc.RunDetails<[Iterable<LifecycleCommand>]>): string {
  const replayPath = /replayPath=("[^"]*")/.exec(String(counterexample?.[0]))?.[1]
  const again = [
    `seed: ${seed}`,
    ...(counterexamplePath === null ? [] : [`path: ${JSON.stringify(counterexamplePath)}`]),
    ...(replayPath === undefined ? [] : [`replayPath: ${replayPath}`]),
  ]
  const story = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  return `the server is not the one of the model, in run ${numRuns}; the shortest history after ${numShrinks} shrinks is
${story}
To have it again: lifecycle(makeWiring, { ${again.join(', ')} })`
}
