/**
 * An etcd of one's own, on free ports.
 * @module
 */
import { join } from 'node:path'
import { etcd, program } from './available.js'
import type { Running } from './process.js'
import { freePort, start, temporaryFolder } from './process.js'

/** A running server. */
export interface EtcdEngine {
  /** Where clients reach it. */
  readonly url: string
  /** The file that has its records. */
  readonly file: string
  /** Starts it again, on the same port, with what it has stored. */
  readonly start: () => Promise<void>
  /** Ends it at once, by SIGKILL. */
  readonly stop: () => Promise<void>
  /** Stops it and removes its folder. */
  readonly remove: () => Promise<void>
}

/** Starts a server. */
export async function startEtcd(): Promise<EtcdEngine> {
  const folder = temporaryFolder('etcd')
  const url = `http://127.0.0.1:${await freePort()}`
  // Nobody joins it, so that its other port need not be known.
  const peers = 'http://127.0.0.1:0'
  const args = [
    ...['--data-dir', join(folder.path, 'data'), '--logger', 'zap'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
  ]
  let engine: Running | undefined

  const server: EtcdEngine = {
    url,
    file: join(folder.path, 'data/member/snap/db'),
    start: async () => {
      const file = program(etcd, 'etcd')
      engine = await start({ file, args, directory: folder.path, ready: /serving client traffic/ })
    },
    stop: async () => {
      await engine?.end('SIGKILL')
      engine = undefined
    },
    remove: async () => {
      await server.stop()
      folder.remove()
    },
  }
  await server.start()
  return server
}
