/**
 * A race of two requests at two servers over one store: each read and each write waits until the reader lets it go.
 * @module
 */
import type { RecordStore } from '../../../src/index.js'
import { ISSUER_KEY } from '../../../src/shell/records.js'
import type { Asked, Post, Service } from './lifecycle-service.js'

/** A client of a race. */
export type Racer = 'a' | 'b'

/** A step of a client that waits. */
interface Step {
  readonly words: string
  readonly go: () => void
}

/** A client of a race, with its next step until it has its answer. */
interface Running {
  step?: Step | undefined
  answer?: Asked
  /** Called once the client waits for its next step, or has its answer. */
  settle: () => void
  /** Called where its request fails for a fault of the page. */
  fail: (error: unknown) => void
}

/** A race of two requests. */
export interface Race {
  /** Returns the next step of a client in words; undefined once it was answered. */
  readonly next: (racer: Racer) => string | undefined
  /** Lets a client take its next step. @returns its answer, if it got one by this step */
  readonly go: (racer: Racer) => Promise<Asked | undefined>
  /** Returns the steps that were taken, in words. */
  readonly lines: () => readonly string[]
}

/**
 * Starts two requests, up to the first step of each.
 * @param send - sends the request of one client
 */
export async function startRace(service: Service, send: (post: Post) => Promise<Asked>): Promise<Race> {
  const lines: string[] = []
  const running: Readonly<Record<Racer, Running>> = { a: waiting(), b: waiting() }
  for (const racer of ['a', 'b'] as const) {
    const client = running[racer]
    const tell = (words: string): number => lines.push(`${nameOf(racer)} ${words}`)
    const post = service.another(gated(service.store, client, tell))
    await settled(client, () => {
      send(post).then(
        (answer) => {
          client.answer = answer
          client.settle()
        },
        (error: unknown) => client.fail(error),
      )
    })
  }
  return {
    next: (racer) => running[racer].step?.words,
    go: async (racer) => {
      const client = running[racer]
      const { step } = client
      if (step === undefined) return undefined
      client.step = undefined
      await settled(client, step.go)
      if (client.answer !== undefined) lines.push(`${nameOf(racer)} is answered ${client.answer.status}`)
      return client.answer
    },
    lines: () => [...lines],
  }
}

/** Makes a client that has not begun. */
function waiting(): Running {
  return { settle: () => {}, fail: () => {} }
}

/** Returns the name of a client. */
export function nameOf(racer: Racer): string {
  return `Client ${racer.toUpperCase()}`
}

/** Lets a client go on until it waits again or has its answer. */
async function settled(client: Running, go: () => void): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    client.settle = resolve
    client.fail = reject
    go()
  })
}

/** Makes the view that one client has of the store. */
function gated(store: RecordStore, client: Running, tell: (words: string) => void): RecordStore {
  const wait = (words: string): Promise<void> =>
    new Promise((go) => {
      client.step = { words, go }
      client.settle()
    })
  return {
    list: store.list,
    read: async (keys) => {
      // A server asks once in its life whose records these are: no part of the race.
      if (keys[0] === ISSUER_KEY) return store.read(keys)
      await wait('read the grant')
      const records = await store.read(keys)
      tell(`reads the grant: version ${records.at(-1)?.version ?? 0}`)
      return records
    },
    write: async (key, value, options) => {
      await wait(`write the grant if its version still is ${options.expected}`)
      const stored = await store.write(key, value, options)
      tell(`writes the grant if its version still is ${options.expected}: ${stored ? 'stored' : 'not stored'}`)
      return stored
    },
  }
}
