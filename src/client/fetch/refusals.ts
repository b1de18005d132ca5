/**
 * Refusals of APIs, remembered for all users of one token source.
 *
 * An API that refuses every token, for whatever reason, must not cause a refresh for each request. That would be too much for the
 * service, and all other users of the source would lose their tokens again and again.
 * @module
 */
import type { TokenSource } from '../tokens/token-source.js'
import type { Tokens } from '../tokens/tokens.js'

/** The refusals of the tokens of one source. */
export interface Refusals {
  /** Records that an API accepted tokens. */
  readonly accepted: (tokens: Tokens) => void
  /** Records tokens that replaced others which an API had refused. */
  readonly replaced: (tokens: Tokens) => void
  /** Records that an API refused tokens like those before them. */
  readonly refused: (tokens: Tokens) => void
  /** Checks whether a refresh would not help: the tokens replaced refused ones and are refused themselves. */
  readonly isHopeless: (tokens: Tokens) => boolean
  /** Clocks by origin, in seconds since the epoch, of APIs that told that our clock is wrong. */
  readonly clocks: Map<string, () => number>
}

/** Seconds until another refresh is tried. */
const REFRESH_PAUSE = 60

const refusals = new WeakMap<TokenSource, Refusals>()

/** Returns the refusals of a source, shared by all its users. */
export function refusalsOf(source: TokenSource): Refusals {
  const found = refusals.get(source) ?? createRefusals()
  refusals.set(source, found)
  return found
}

function createRefusals(): Refusals {
  /** The access token of a replacement that no API has accepted or refused yet. */
  let untried: string | undefined
  /** The last refused access token, and the end of the pause, by `performance.now()`. */
  let hopeless: { readonly accessToken: string; readonly until: number } | undefined

  function refused({ accessToken }: Tokens): void {
    untried = undefined
    hopeless = { accessToken, until: performance.now() + REFRESH_PAUSE * 1000 }
  }

  return {
    accepted: ({ accessToken }) => {
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
