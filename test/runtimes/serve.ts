/**
 * The host on the HTTP server of Bun or of Deno, on a free port, which it prints.
 * @module
 */
import { handle } from './host.js'

/** As much of both as is used. */
const { Bun, Deno } = globalThis as {
  readonly Bun?: { serve: (options: { hostname: string; port: number; fetch: typeof handle }) => { port: number } }
  readonly Deno?: {
    serve: (
      options: { hostname: string; port: number; onListen: (at: { port: number }) => void },
      fetch: typeof handle,
    ) => void
  }
}

const where = { hostname: '127.0.0.1', port: 0 }
const onListen = ({ port }: { port: number }): void => console.log(JSON.stringify({ port }))

if (Bun !== undefined) onListen(Bun.serve({ ...where, fetch: handle }))
else Deno?.serve({ ...where, onListen }, handle)
