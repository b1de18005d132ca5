/**
 * What the refusals of APIs have taught, for all who use one source of tokens.
 *
 * An API that refuses every token, whatever is wrong with it, must not cost a refresh for each request: the service would have
 * enough of it, and everybody else who uses these tokens would lose them again and again.
 * @module
 */
import type { TokenSource } from '../tokens/token-source.js'
import type { Tokens } from '../tokens/tokens.js'

/** What is known of the tokens of one source. */
export interface Refusals {
  /** An API took them. */
  readonly taken: (tokens: Tokens) => void
  /** They came in the place of others that an API had refused. */
  readonly replaced: (tokens: Tokens) => void
  /** They were refused as those before them. */
  readonly refused: (tokens: Tokens) => void
  /** Whether others would not help against a refusal of these: they took the place of refused ones and are refused themselves. */
  readonly isHopeless: (tokens: Tokens) => boolean
  /** Clocks by origin, in seconds since the epoch: those of APIs that told us that ours is wrong. */
  readonly clocks: Map<string, () => number>
}

/** Seconds until another refresh is tried. */
const REST = 60

const known = new WeakMap<TokenSource, Refusals>()

/** Of a source, however many use it. */
export function refusalsOf(source: TokenSource): Refusals {
  const found = known.get(source) ?? newRefusals()
  known.set(source, found)
  return found
}

function newRefusals(): Refusals {
  /** Access tokens, which nothing is known of yet, and which were refused until when (by the stopwatch). */
  let untried: string | undefined
  let hopeless: { readonly accessToken: string; readonly until: number } | undefined

  function refused({ accessToken }: Tokens): void {
    untried = undefined
    hopeless = { accessToken, until: performance.now() + REST * 1000 }
  }

  return {
    taken: ({ accessToken }) => {
      if (accessToken === untried) untried = undefined
    },
    replaced: ({ accessToken }) => {
      untried = accessToken
    },
    refused,
    isHopeless: (tokens) => {
      if (tokens.accessToken === untried) refused(tokens)
      return tokens.accessToken === hopeless?.accessToken && performance.now() < hopeless.until
    },
    clocks: new Map(),
  }
}
