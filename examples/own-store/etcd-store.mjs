// @ts-check
/**
 * grantwell's records in etcd 3.4 or later, over the JSON gateway that it serves beside gRPC: no client library.
 * @module
 */
/** @import { RecordStore } from 'grantwell' */

const BATCH = 100 // operations in one transaction; etcd takes 128 by default
const HOUR = 3_600
const LONGEST_LEASE = 8_000_000_000 // seconds; etcd refuses longer ones

const base64 = (/** @type {string} */ text) => Buffer.from(text).toString('base64')
const textOf = (/** @type {string} */ bytes) => Buffer.from(bytes, 'base64').toString()
const digits = (/** @type {number} */ seconds) => String(seconds).padStart(16, '0')
const remove = (/** @type {string} */ key) => ({ request_delete_range: { key } })
const removeIf = (/** @type {{ key: string, [field: string]: unknown }} */ compare) => ({
  request_txn: { compare: [compare], success: [remove(compare.key)] },
})

/**
 * Makes a store in etcd at a URL. The namespace keeps issuers apart that share it; the clock gives whole seconds.
 * @param {{ url: string, namespace?: string, timeoutMs?: number, clock?: () => number }} options
 * @returns {RecordStore}
 */
export function etcdStore(options) {
  const { url, namespace = 'grantwell', timeoutMs = 5_000, clock = () => Math.floor(Date.now() / 1_000) } = options
  // JSON makes UTF-8 of any text, and ends each part: no label is the beginning of another.
  const keyOf = (/** @type {string[]} */ ...parts) => JSON.stringify([namespace, ...parts])

  /** Fails by throwing: then grantwell answers 503, and whoever asked may try again. */
  async function call(/** @type {string} */ path, /** @type {object} */ body, foreseen = 'no error') {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${url}/v3/${path}`, { method: 'POST', body: JSON.stringify(body), signal })
    const text = await response.text()
    if (!response.ok && !text.includes(foreseen)) throw new Error(`etcd: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  /** Runs operations in as many transactions as they need, side by side; what each answered, in order. */
  async function run(/** @type {object[]} */ operations) {
    const starts = Array.from({ length: Math.ceil(operations.length / BATCH) }, (_, index) => index * BATCH)
    const calls = starts.map((start) => call('kv/txn', { success: operations.slice(start, start + BATCH) }))
    return (await Promise.all(calls)).flatMap(({ responses }) => responses)
  }

  async function read(/** @type {readonly string[]} */ keys) {
    const answers = await run(keys.map((key) => ({ request_range: { key: base64(keyOf('record', key)) } })))
    const now = digits(clock())
    return answers.map(({ response_range: { kvs: [found] = [] } }) => {
      const text = found === undefined ? '' : textOf(found.value)
      // A revision counts the writes to the whole cluster, so that no version comes again.
      return text.slice(0, 16) > now
        ? { ...JSON.parse(text.slice(16)), version: Number(found.mod_revision) }
        : undefined
    })
  }

  /** @type {RecordStore['write']} */
  async function write(name, value, { expected, expiresAt = Number.MAX_SAFE_INTEGER, labels = [] }) {
    const key = base64(keyOf('record', name))
    const now = clock()
    // A value begins with its expiry, for etcd to compare with the time: '~' sorts after what follows the digits.
    const time = { key, target: 'VALUE', value: base64(`${digits(now)}~`) }
    const alive = expected === 0 ? [] : [{ ...time, result: 'GREATER' }]
    // etcd removes what hangs on a lease that ended. All that expires in one hour shares one, numbered like the hour.
    const lease = expiresAt - now < LONGEST_LEASE ? Math.ceil(expiresAt / HOUR) : 0
    const record = { key, value: base64(digits(expiresAt) + JSON.stringify({ value, labels })) }
    const puts = [record, ...[...new Set(labels)].map((label) => ({ key: base64(keyOf('label', label, name)) }))]
    const transaction = {
      compare: [{ key, target: 'MOD', mod_revision: expected }, ...alive],
      success: now < expiresAt ? puts.map((put) => ({ request_put: { ...put, lease } })) : [remove(key)],
      failure: [removeIf({ ...time, result: 'LESS' })],
    }
    const { error, succeeded = false, responses } = await call('kv/txn', transaction, 'lease not found')
    if (error) await call('lease/grant', { ID: lease, TTL: (lease + 1) * HOUR - now }, 'lease already exists')
    // An expired record counts as absent, and has just been removed.
    else if (succeeded || expected !== 0 || !responses[0].response_txn.succeeded) return succeeded
    return write(name, value, { expected, expiresAt, labels })
  }

  /** @type {RecordStore['list']} */
  async function list(label, { limit = 100, cursor } = {}) {
    const start = keyOf('label', label).slice(0, -1)
    const key = base64(cursor === undefined ? `${start},` : keyOf('label', label, cursor))
    /** @type {{ kvs?: { key: string, mod_revision: string }[] }} */
    const { kvs = [] } = await call('kv/range', { key, range_end: base64(`${start}-`), limit: limit + 1 })
    const keys = kvs.map((entry) => JSON.parse(textOf(entry.key))[3])
    const found = await read(keys.slice(0, limit))
    const isStale = (/** @type {number} */ index) => index < limit && !found[index]?.labels.includes(label)
    // Labels of earlier versions go, unless they were written anew meanwhile.
    const stale = kvs.filter((_, index) => isStale(index))
    await run(stale.map((entry) => removeIf({ key: entry.key, target: 'MOD', mod_revision: entry.mod_revision })))
    const records = found.flatMap((record, index) => (isStale(index) ? [] : [{ ...record, key: keys[index] }]))
    return { records, ...(kvs.length > limit && { cursor: keys[limit] }) }
  }

  return { read, write, list }
}
