/**
 * A TCP proxy in front of an engine: it cuts, refuses and stalls connections, and counts round trips.
 * @module
 */
import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** What went through a proxy. */
export interface Traffic {
  /** Round trips: how often clients had to wait for an answer. */
  readonly trips: number
  readonly bytesToEngine: number
  readonly bytesToClient: number
  readonly connections: number
}

/** A listening proxy. */
export interface EngineProxy {
  readonly port: number
  /** Since it began to listen. */
  readonly traffic: () => Traffic
  /** Ends all connections at once, as a cable that is pulled out: what is under way is lost. */
  readonly cut: () => void
  /** Ends new connections as soon as they come, until `admit`. */
  readonly refuse: () => void
  readonly admit: () => void
  /** Holds everything back, in both directions and of new connections too, until `resume`. */
  readonly stall: () => void
  readonly resume: () => void
  readonly close: () => Promise<void>
}

/**
 * Milliseconds that an answer is held back. All that a client sends meanwhile it sends without knowing the answer, so
 * that it belongs to the same round trip, in however many pieces it was written: that is what makes the count exact.
 */
const LATENCY = 3

/**
 * Listens on a free port, in front of another one.
 * @param options.latency - whether answers are held back for a moment, so that round trips are counted exactly; false by default
 */
export async function startProxy(
  target: number,
  { latency = false }: { readonly latency?: boolean } = {},
): Promise<EngineProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const traffic = { trips: 0, bytesToEngine: 0, bytesToClient: 0, connections: 0 }
  let refusing = false
  let held: (() => void)[] | undefined

  /** Does something now, or when the stall is over. */
  function unlessStalled(act: () => void): void {
    if (held === undefined) act()
    else held.push(act)
  }

  function end(pair: readonly [Socket, Socket]): void {
    pairs.delete(pair)
    for (const socket of pair) socket.destroy()
  }

  const server = createServer((client) => {
    if (refusing) {
      client.destroy()
      return
    }
    traffic.connections++
    const engine = connect(target, '127.0.0.1')
    const pair = [client, engine] as const
    pairs.add(pair)
    let asked = false
    const pass = (chunk: Buffer, to: Socket): void => {
      unlessStalled(() => {
        if (!to.destroyed) to.write(chunk)
      })
    }
    const answer = (chunk: Buffer): void => {
      traffic.bytesToClient += chunk.length
      if (asked) traffic.trips++
      asked = false
      pass(chunk, client)
    }
    client.on('data', (chunk: Buffer) => {
      traffic.bytesToEngine += chunk.length
      asked = true
      pass(chunk, engine)
    })
    engine.on('data', (chunk: Buffer) => {
      if (latency) setTimeout(answer, LATENCY, chunk)
      else answer(chunk)
    })
    for (const socket of pair) {
      socket
        .setNoDelay(true)
        .on('error', () => {}) // a reset is an end like any other
        .on('close', () => end(pair))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on TCP

  const cut = (): void => {
    for (const pair of pairs) end(pair)
  }
  return {
    port,
    traffic: () => ({ ...traffic }),
    cut,
    refuse: () => {
      refusing = true
    },
    admit: () => {
      refusing = false
    },
    stall: () => {
      held ??= []
    },
    resume: () => {
      const acts = held ?? []
      held = undefined
      for (const act of acts) act()
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      cut()
      await closed
    },
  }
}
