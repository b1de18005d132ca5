/**
 * The clients that the store of Redis works with.
 * @module
 */
import type { Takes } from '../../core/takes.js'
import { isObject } from '../../core/takes.js'
import { checkClient } from '../shared/options.js'

/** Emits errors that belong to no command, such as the end of an idle connection. */
export interface ErrorSource {
  /** Listens to those errors. */
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** A `Redis` or `Cluster` of ioredis, as far as the store uses it. */
export interface IoRedis extends ErrorSource {
  /** True for a `Cluster`. */
  readonly isCluster?: boolean
  /** Sends a command. */
  call(command: string, ...values: string[]): Promise<unknown>
}

/** A client of node-redis, as far as the store uses it. */
export interface NodeRedis extends ErrorSource {
  /** Sends a command, whose first value is its name. */
  sendCommand(values: string[]): Promise<unknown>
}

/** A cluster of node-redis, as far as the store uses it. */
export interface NodeRedisCluster extends ErrorSource {
  /** The servers of the cluster. */
  readonly masters: unknown
  /** Sends a command to the server that has its first key. */
  sendCommand(firstKey: string, isReadonly: boolean, values: string[]): Promise<unknown>
}

/** A client that the host passes in. */
export type RedisClient = IoRedis | NodeRedis | NodeRedisCluster

/** Sends a command to the server that has a key. */
export type SendCommand = (key: string, values: string[]) => Promise<unknown>

const CLIENT: Omit<Takes, 'secret'> = {
  words: 'a Redis or Cluster of ioredis, or a client or cluster of node-redis',
  fits: (value) => isObject(value) && ('call' in value || 'sendCommand' in value) && typeof value['on'] === 'function',
}

/**
 * Checks a client, and creates the function that sends its commands.
 * @throws GrantwellError `ERR_CONFIGURATION` for a value of another kind
 */
export function createSender(client: RedisClient): SendCommand {
  checkClient('redisStore', 'client', CLIENT, client)
  if ('masters' in client) return (key, values) => client.sendCommand(key, false, values)
  if ('call' in client) return (_, [command = '', ...values]) => client.call(command, ...values)
  return (_, values) => client.sendCommand(values)
}

/** Returns true for the client of a cluster. */
export function isCluster(client: RedisClient): boolean {
  return 'masters' in client || ('isCluster' in client && client.isCluster === true)
}

/** The last errors that clients emitted. Stores of several namespaces share a client, and its one listener. */
const lastErrors = new WeakMap<object, { error?: unknown }>()

/**
 * Listens to the errors that a client emits; without a listener, they would end the process of node-redis.
 * @returns a function that returns the last error
 */
export function listenToErrors(client: ErrorSource): () => unknown {
  const known = lastErrors.get(client)
  const last = known ?? {}
  if (known === undefined) {
    lastErrors.set(client, last)
    client.on('error', (error) => {
      last.error = error
    })
  }
  return () => last.error
}

/** Throws an error without the command that failed. ioredis puts the command into it, and with it the record. */
export function throwWithoutCommand(error: unknown): never {
  if (error instanceof Error && 'command' in error) delete error.command
  throw error
}

/** Returns true for the error of a command whose keys are in different hash slots. */
export function isAcrossSlots(error: unknown): boolean {
  return error instanceof Error && error.message.includes('CROSSSLOT')
}
