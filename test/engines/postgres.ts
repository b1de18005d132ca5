/**
 * A PostgreSQL of one's own: an empty cluster in a temporary folder, on a free port.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { chownSync } from 'node:fs'
import { join } from 'node:path'
import { once } from '../once.js'
import { postgresql, program } from './available.js'
import type { Running } from './process.js'
import { freePort, start, temporaryFolder } from './process.js'

/** A running cluster. */
export interface PostgresEngine {
  /** How to connect, as `pg` wants it. */
  readonly connection: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
  }
  /** Starts it again, on the same port, with what it has stored. */
  readonly start: () => Promise<void>
  /** `fast` ends its connections and shuts down; `immediate` is a crash: the next start recovers from the log. */
  readonly stop: (mode: 'fast' | 'immediate') => Promise<void>
  /** Stops it and removes its folder. */
  readonly remove: () => Promise<void>
}

const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/**
 * Starts an empty cluster. All those of a run are copies of one.
 * @param options.durable - nothing that was answered is lost when it ends, as in production; false by default
 */
export async function startPostgres({ durable = false }: { readonly durable?: boolean } = {}): Promise<PostgresEngine> {
  const made = await once('postgres', makeCluster)
  const folder = temporaryFolder('postgres')
  const user = notRoot()
  if (user !== undefined) chownSync(folder.path, user.uid, user.gid)
  const data = join(folder.path, 'data')
  // With the owner and the modes of its files.
  execFileSync('cp', ['-pR', join(made, 'data'), data])
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder.path}`,
    `fsync=${durable ? 'on' : 'off'}`,
  ]
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  let engine: Running | undefined

  const cluster: PostgresEngine = {
    connection: { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' },
    start: async () => {
      const file = program(postgresql, 'postgres')
      engine = await start({ file, args, directory: folder.path, user, ready: /ready to accept connections/ })
    },
    stop: async (mode) => {
      await engine?.end(SIGNALS[mode])
      engine = undefined
    },
    remove: async () => {
      await cluster.stop('immediate')
      folder.remove()
    },
  }
  await cluster.start()
  return cluster
}

/** Makes an empty cluster, `data` of a folder. Making one takes seconds, copying one does not. */
function makeCluster(folder: string): void {
  const user = notRoot()
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const initdb = ['--pgdata', data, '--auth', 'trust', '--username', 'postgres', '--encoding', 'UTF8', '--locale', 'C']
  execFileSync(program(postgresql, 'initdb'), [...initdb, '--no-sync'], { cwd: folder, stdio: 'pipe', ...user })
}

/** PostgreSQL refuses to run as root; its package has made a user for it. */
function notRoot(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
