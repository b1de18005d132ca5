/**
 * Redis's keys of records and of the indexes of labels.
 *
 * Records are spread over 128 shards, each a hash slot of its own. A record is in the same slot as its shard's part of each label's
 * index, so one script can change both, also in a cluster.
 * @module
 */

/** The number of shards. With another number, stored records would not be found. */
export const SHARDS = 128

/** Returns the shard of a record, by FNV-1a over the characters of its name. */
export function shardOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return (hash >>> 0) % SHARDS
}

/** The keys of a namespace. */
export interface Keys {
  /** Returns the key of a record. */
  readonly record: (name: string, shard?: number) => string
  /** The beginning of the keys of all shards, up to the shard's number. */
  readonly anyShard: string
  /** Returns the keys of a shard's part of a label's index: its names in order, and the same names by the time they are kept until. */
  readonly index: (shard: number, label: string) => readonly [names: string, expiries: string]
}

/** Creates the keys of a namespace. */
export function createKeys(namespace: string): Keys {
  const shardKey = (shard: number): string => `${namespace}:{${shard}}`
  return {
    anyShard: `${namespace}:{`,
    record: (name, shard = shardOf(name)) => `${shardKey(shard)}:record:${name}`,
    index: (shard, label) => [`${shardKey(shard)}:label:${label}`, `${shardKey(shard)}:expiry:${label}`],
  }
}
