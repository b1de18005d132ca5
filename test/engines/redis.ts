/**
 * A Redis of one's own, on a free port; and a Redis Cluster of three.
 * @module
 */
import { Redis } from 'ioredis'
import { eventually } from '../adapters/http.js'
import { program, redis } from './available.js'
import type { Running } from './process.js'
import { freePort, start, temporaryFolder } from './process.js'

/** A running server. */
export interface RedisEngine {
  readonly host: string
  readonly port: number
  /** Starts it again, on the same port, with what it has stored. */
  readonly start: () => Promise<void>
  /** `shutdown` as by its own command; `kill` by SIGKILL. */
  readonly stop: (mode: 'shutdown' | 'kill') => Promise<void>
  /** Stops it and removes its folder. */
  readonly remove: () => Promise<void>
}

/** A running cluster. */
export interface RedisClusterEngine {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly remove: () => Promise<void>
}

const HOST = '127.0.0.1'
const SIGNALS = { shutdown: 'SIGTERM', kill: 'SIGKILL' } as const
const SLOTS = 16_384

/**
 * Starts a server.
 * @param options.durable - nothing that was answered is lost when it ends; false by default
 * @param options.settings - more settings, as on its command line
 */
export async function startRedis({
  durable = false,
  settings = [],
}: {
  readonly durable?: boolean
  readonly settings?: readonly string[]
} = {}): Promise<RedisEngine> {
  const folder = temporaryFolder('redis')
  const port = await freePort()
  const append = durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']
  const address = ['--bind', HOST, '--port', String(port)]
  const args = [...address, '--dir', folder.path, '--save', '', ...append, ...settings]
  let engine: Running | undefined

  const server: RedisEngine = {
    host: HOST,
    port,
    start: async () => {
      const file = program(redis, 'redis-server')
      engine = await start({ file, args, directory: folder.path, ready: /Ready to accept connections/ })
    },
    stop: async (mode) => {
      await engine?.end(SIGNALS[mode])
      engine = undefined
    },
    remove: async () => {
      await server.stop('kill')
      folder.remove()
    },
  }
  await server.start()
  return server
}

/** Starts three servers, and makes a cluster of them, each with a third of the slots. */
export async function startRedisCluster(): Promise<RedisClusterEngine> {
  const servers = await Promise.all(
    Array.from({ length: 3 }, async () => {
      // Without a port of its own for gossip it is the first plus 10,000, which there may be none of.
      const gossip = await freePort()
      const settings = ['--cluster-enabled', 'yes', '--cluster-port', String(gossip), '--cluster-node-timeout', '5000']
      return { ...(await startRedis({ settings })), gossip }
    }),
  )
  const clients = servers.map(({ port, host }) => new Redis({ port, host }))
  try {
    for (const [index, client] of clients.entries()) {
      const first = Math.ceil((SLOTS * index) / servers.length)
      const last = Math.ceil((SLOTS * (index + 1)) / servers.length) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', first, last)
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
      const [other] = servers
      if (index > 0 && other !== undefined) await client.call('CLUSTER', 'MEET', HOST, other.port, other.gossip)
    }
    await eventually(async () => {
      const states = await Promise.all(clients.map((client) => client.cluster('INFO')))
      return states.every((state) => /cluster_state:ok/.test(state) && /cluster_known_nodes:3/.test(state))
    })
  } finally {
    for (const client of clients) client.disconnect()
  }
  return {
    nodes: servers.map(({ host, port }) => ({ host, port })),
    remove: async () => {
      await Promise.all(servers.map(({ remove }) => remove()))
    },
  }
}
