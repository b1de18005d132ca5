/**
 * What every comparison over HTTP is made with: servers in processes of their own, and one driver that has so many requests in
 * flight, each on a connection of its own.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { basic, CLIENT } from './client.mjs'
import { connections as connectionsTo } from './connection.mjs'
import { removeRecords } from './stores/open.mjs'

export { OPERATIONS } from './operations.mjs'

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]

async function freePort() {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address()
  listener.close()
  return port
}

const FORM = 'Content-Type: application/x-www-form-urlencoded\r\n'
const CREDENTIALS = basic(CLIENT)
const encoded = ([name, value]) => `${name}=${encodeURIComponent(value)}`

/**
 * Starts a server.
 * @param name - such as `servers/bare`, or the address of a module
 * @param connections - how many requests it may be sent at a time
 * @param store - for servers that have several
 * @param core - of the processor, to stay on; any by default
 */
export async function startServer(name, { connections, store = 'memory', core }) {
  const port = await freePort()
  const pinned = core !== undefined && { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath] }
  const env = { ...process.env, NODE_ENV: 'production' }
  const child = fork(new URL('serve.mjs', import.meta.url), [name, String(port), store], { env, ...pinned })
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => {
    throw new Error(`${name} ended with ${code}`)
  })
  failed.catch(() => {})
  const answer = () => Promise.race([once(child, 'message').then(([message]) => message), failed])
  const clean = () => removeRecords(store, `bench-${child.pid}`)
  const ready = await answer().catch((error) => clean().then(() => Promise.reject(error)))
  const { request, close } = connectionsTo(port, connections)
  return {
    ...ready,
    child,
    /** So many of a kind: `pairs`, `codes` or `deviceCodes`. */
    seed: async (kind, count) => {
      child.send({ kind, count })
      return (await answer()).seeds
    },
    /** Microseconds of processor time that it has used up. */
    cpu: async () => {
      child.send({ kind: 'cpu' })
      const { user, system } = await answer()
      return user + system
    },
    /** @param authorization - the client's by default; `null` for none */
    post: (path, fields, authorization = CREDENTIALS) => {
      const headers = authorization === null ? FORM : `${FORM}Authorization: ${authorization}\r\n`
      return request('POST', path, headers, Object.entries(fields).map(encoded).join('&'))
    },
    get: (path, authorization) => request('GET', path, `Authorization: ${authorization}\r\n`),
    /** Ends the process, and removes the records that it has in an engine. */
    stop: async () => {
      close()
      child.kill()
      await exited
      await clean()
    },
  }
}

/**
 * Does a step so often, so many at a time; requests a second, and the milliseconds that half and 99 of 100 took at most.
 * @param isAwake - true for a driver that never sleeps: an answer that wakes it costs a server on a virtual machine up to 50 µs more
 */
export async function load(connections, total, step, isAwake = false) {
  const times = []
  let left = total
  const begun = performance.now()
  const worker = async () => {
    while (left-- > 0) {
      const at = performance.now()
      await step()
      times.push(performance.now() - at)
    }
  }
  let isOver = !isAwake
  const look = () => isOver || setImmediate(look)
  look()
  await Promise.all(Array.from({ length: connections }, worker))
  isOver = true
  const seconds = (performance.now() - begun) / 1000
  times.sort((a, b) => a - b)
  return { rate: total / seconds, p50: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)] }
}
