/**
 * Servers in processes of their own, called over HTTP, and killed.
 * @module
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { httpClient } from './client.js'
import type { Call } from './flows.js'
import type { PostgresEngine } from './postgres.js'
import type { Running } from './process.js'
import { start } from './process.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The folder of this release's `src`. */
export const SOURCES = ROOT

/** Where a server of `server-process.ts` keeps its records. */
export type ProcessEngine =
  | { readonly type: 'sqlite'; readonly file: string }
  | { readonly type: 'postgres'; readonly connection: PostgresEngine['connection'] }
  | { readonly type: 'redis'; readonly host: string; readonly port: number }

/** Server processes over one engine. */
export interface Servers {
  /** Calls each in turn; rejects where there is none at the moment, or where it dies before it has answered. */
  readonly call: Call
  /** Kills one of them by SIGKILL, and starts another one in its place, of the same release by default. */
  readonly kill: (index: number, sources?: string) => Promise<void>
  readonly pids: () => readonly number[]
  readonly close: () => Promise<void>
}

let bundles = 0

/** Bundles the server process from the sources of a release. @returns the file to run */
async function bundleServer(sources: string): Promise<string> {
  const directory = join(ROOT, 'temp/engines')
  mkdirSync(directory, { recursive: true })
  const name = join(directory, `${process.pid}-${bundles++}`)
  const outfile = `${name}.mjs`
  const tsconfig = `${name}.json`
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: { target: 'es2022', paths: pathsIn(sources) } }))
  await build({
    entryPoints: [join(ROOT, 'test/engines/server-process.ts')],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    tsconfig,
    // The libraries of an earlier release are those of this one.
    nodePaths: [join(ROOT, 'node_modules')],
    // CommonJS with parts that no bundler can follow.
    external: ['libsql', 'pg', 'ioredis'],
  })
  rmSync(tsconfig)
  return outfile
}

/** The entry points of a release, as the options of the compiler have them. */
function pathsIn(sources: string): Readonly<Record<string, readonly string[]>> {
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'))
  return Object.fromEntries(
    Object.entries<readonly string[]>(compilerOptions.paths).map(([name, files]) => [
      name,
      files.map((file) => join(sources, file)),
    ]),
  )
}

/** Starts so many server processes, of this release by default. */
export async function startServers(count: number, engine: ProcessEngine, first: string = SOURCES): Promise<Servers> {
  const built = new Map<string, Promise<string>>()
  const bundleOf = (sources: string): Promise<string> => {
    const bundle = built.get(sources) ?? bundleServer(sources)
    built.set(sources, bundle)
    return bundle
  }
  const client = httpClient()
  const servers = new Map<number, Running & { readonly port: number }>()
  let turn = 0

  async function startAt(index: number, sources: string): Promise<void> {
    const args = [await bundleOf(sources), JSON.stringify(engine)]
    const running = await start({ file: process.execPath, args, directory: ROOT, ready: /listening on (\d+)/ })
    servers.set(index, { ...running, port: Number(running.said[0]) })
  }
  const end = async (index: number): Promise<void> => {
    const running = servers.get(index)
    servers.delete(index)
    await running?.end('SIGKILL')
  }
  await Promise.all(Array.from({ length: count }, (_, index) => startAt(index, first)))

  return {
    call: (request) => {
      const running = [...servers.values()]
      const server = running[turn++ % running.length]
      if (server === undefined) return Promise.reject(new Error('no server runs'))
      return client.send(server.port, request)
    },
    kill: async (index, sources = first) => {
      await bundleOf(sources)
      await end(index)
      await startAt(index, sources)
    },
    pids: () => [...servers.values()].map(({ pid }) => pid),
    close: async () => {
      await Promise.all([...servers.keys()].map(end))
      client.close()
      for (const bundle of built.values()) rmSync(await bundle)
    },
  }
}
