/**
 * Servers in processes of their own, called over HTTP, and killed.
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { httpClient } from './client.js'
import type { Call } from './flows.js'
import type { PostgresEngine } from './postgres.js'
import type { Running } from './process.js'
import { start } from './process.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Where a server of `server-process.ts` keeps its records. */
export type ProcessEngine =
  | { readonly type: 'sqlite'; readonly file: string }
  | { readonly type: 'postgres'; readonly connection: PostgresEngine['connection'] }

/** Server processes over one engine. */
export interface Servers {
  /** Calls each in turn; rejects where there is none at the moment, or where it dies before it has answered. */
  readonly call: Call
  /** Kills one of them by SIGKILL, and starts another one in its place. */
  readonly kill: (index: number) => Promise<void>
  readonly pids: () => readonly number[]
  readonly close: () => Promise<void>
}

let bundles = 0

/** Bundles the server process from the sources. @returns the file to run */
async function bundleServer(): Promise<string> {
  const directory = join(ROOT, 'temp/engines')
  mkdirSync(directory, { recursive: true })
  const outfile = join(directory, `${process.pid}-${bundles++}.mjs`)
  await build({
    entryPoints: [join(ROOT, 'test/engines/server-process.ts')],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // CommonJS with parts that no bundler can follow.
    external: ['libsql', 'pg'],
  })
  return outfile
}

/** Starts so many server processes. */
export async function startServers(count: number, engine: ProcessEngine): Promise<Servers> {
  const bundle = await bundleServer()
  const client = httpClient()
  const servers = new Map<number, Running & { readonly port: number }>()
  let turn = 0

  async function startAt(index: number): Promise<void> {
    const args = [bundle, JSON.stringify(engine)]
    const running = await start({ file: process.execPath, args, directory: ROOT, ready: /listening on (\d+)/ })
    servers.set(index, { ...running, port: Number(running.said[0]) })
  }
  const end = async (index: number): Promise<void> => {
    const running = servers.get(index)
    servers.delete(index)
    await running?.end('SIGKILL')
  }
  await Promise.all(Array.from({ length: count }, (_, index) => startAt(index)))

  return {
    call: (request) => {
      const running = [...servers.values()]
      const server = running[turn++ % running.length]
      if (server === undefined) return Promise.reject(new Error('no server runs'))
      return client.send(server.port, request)
    },
    kill: async (index) => {
      await end(index)
      await startAt(index)
    },
    pids: () => [...servers.values()].map(({ pid }) => pid),
    close: async () => {
      await Promise.all([...servers.keys()].map(end))
      client.close()
      rmSync(bundle)
    },
  }
}
