/**
 * The whole kit, run on one engine: the contract of a store, the life of grants, and every order of steps.
 * @module
 */
import type { RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import type { StoreWiring } from 'grantwell/testing'
import { explore, lifecycle, storageContract, virtualClock, wire } from 'grantwell/testing'
import { expect, it } from 'vitest'

/** A connection to an engine, or a pool of them. */
export interface EngineConnection {
  readonly store: (wiring: StoreWiring) => RecordStore
  readonly close: () => void | Promise<void>
}

/** How much is run: less where an engine is slow. */
export interface Extent {
  /** Random examples of each case of the contract. */
  readonly examples?: number
  /** Runs of the lifecycle. */
  readonly lives?: number
}

/** The pairs of requests that are explored on every engine; on the one in memory, all pairs and more, elsewhere. */
const PAIRS = [
  ['exchange', 'exchange'],
  ['refresh', 'refresh'],
  ['refresh', 'revoke'],
  ['refresh for first', 'refresh for second'],
] as const

/** The resources that a refresh is for, where it names one. */
const AUDIENCES = ['first', 'second'].map((name) => ({ resource: `https://${name}.example`, name }))

/** Opens a connection to the engine of a suite. */
type Connect = () => EngineConnection | Promise<EngineConnection>

/** A suite that runs on an engine; called inside of a `describe`. */
export type EngineSuite = (connect: Connect, extent?: Extent) => void

/** Runs the contract of a store alone, with so many random examples of each case. */
export function contractSuite(connect: Connect, examples: number): void {
  const makeStore = async (wiring: StoreWiring) => {
    const { store, close } = await connect()
    return { store: store(wiring), close }
  }
  for (const { name, run } of storageContract(makeStore, { numRuns: examples })) it(name, run)
}

/** Runs the kit; call it inside of a `describe`. */
export function engineSuite(connect: Connect, { examples = 10, lives = 5 }: Extent = {}): void {
  contractSuite(connect, examples)

  it('grants live as the model says', async () => {
    const connection = await connect()
    try {
      await lifecycle(
        () => {
          const clock = virtualClock()
          const store = connection.store({ clock, namespace: fresh('life') })
          const createServer: typeof createAuthorizationServer = (options) =>
            createAuthorizationServer({ ...options, digests: nodeDigests })
          return wire({ store, clock, createServer })
        },
        { numRuns: lives },
      )
    } finally {
      await connection.close()
    }
  })

  for (const requests of PAIRS) {
    it(`${requests.join(' and ')}: the rules hold in every order of steps, with a fault at each`, async () => {
      const connection = await connect()
      try {
        const namespace = fresh('order')
        // One for all histories, since it keeps the records of each.
        let store: RecordStore | undefined
        const explored = await explore({
          requests,
          store: ({ clock }) => {
            store ??= connection.store({ clock, namespace })
            return store
          },
          server: { digests: nodeDigests, ...(requests[0] === 'refresh for first' && { audiences: AUDIENCES }) },
        })
        expect(explored).toMatchObject({ exhaustive: true })
      } finally {
        await connection.close()
      }
    })
  }
}

let used = 0

function fresh(name: string): string {
  return `${name}-${process.pid}-${used++}`
}
