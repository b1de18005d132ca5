/**
 * A token store as one client uses it: only tokens of its own, and every failure a {@link ClientError}.
 * @module
 */
import type { Client } from '../client.js'
import { ClientError, isClientError } from '../errors.js'
import type { TokenStore, Tokens } from './tokens.js'

/** A store whose failures are `ERR_TOKEN_STORE`. */
export interface CheckedStore {
  /** Reads the tokens; undefined if they belong to another service or client. */
  readonly read: () => Promise<Tokens | undefined>
  readonly write: (tokens: Tokens | undefined) => Promise<void>
  /** Runs an action under the lock of the store. Errors of the action are thrown unchanged. */
  readonly exclusively: <Result>(action: () => Promise<Result>) => Promise<Result>
}

/** Creates the checked form of a store. */
export function createCheckedStore(store: TokenStore, { issuer, clientId }: Client): CheckedStore {
  return {
    read: async () => {
      const stored = await convertErrors('read', async () => store.read())
      return stored?.issuer === issuer && stored.clientId === clientId ? stored : undefined
    },
    write: (tokens) => convertErrors('written', async () => store.write(tokens)),
    exclusively: (action) => runExclusively(store, action),
  }
}

async function runExclusively<Result>(store: TokenStore, action: () => Promise<Result>): Promise<Result> {
  const done: { result?: () => Result } = {}
  try {
    await store.exclusively(async () => {
      done.result = await action().then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error
        },
      )
    })
  } catch (error) {
    // The result of the action counts even if the store fails afterwards.
    if (done.result === undefined) throw storeError('locked', error)
  }
  if (done.result === undefined) throw storeError('locked', new Error('the store did not run the action'))
  return done.result()
}

async function convertErrors<Result>(done: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    throw storeError(done, error)
  }
}

/**
 * Converts an error of a store.
 * @param done - the failed operation, as a participle
 */
export function storeError(done: string, error: unknown): ClientError {
  if (isClientError(error)) return error
  return new ClientError('ERR_TOKEN_STORE', `the token store could not be ${done}`, { cause: error })
}
