/**
 * `store`: the tables of a store, and its expired records, on the command line.
 * @module
 */
import type { Command } from 'commander'
import type { StoreOptions } from './connect.js'
import { withStoreOptions } from './connect.js'
import { show, withConnection } from './run.js'

/** The most records that one removal of a store takes. */
const REMOVED_AT_ONCE = 1_000

/** Adds the command. */
export function addStore(root: Command): void {
  const store = root
    .command('store')
    .description('Make the tables of a store, ask whether it can work, and remove expired records.')
  withStoreOptions(
    store.command('migrate').description('Make the tables of PostgreSQL or SQLite where they are missing.'),
  )
    .option('--print', 'print the SQL for PostgreSQL in place of running it')
    .action(async (options: StoreOptions & { print?: true }) =>
      withConnection(
        options,
        async ({ store: opened }) => {
          if (options.print) {
            if (opened.migrate === undefined) throw new Error('there is no SQL to print: PostgreSQL alone has some')
            const sql = await opened.migrate({ print: true })
            return show(options, { sql }, () => [sql])
          }
          await opened.migrate?.()
          await show(options, { migrated: true }, () => ['the store has its tables'])
        },
        true,
      ),
    )
  withStoreOptions(
    store.command('health').description('Ask the store and the clock once, and say what is wrong.'),
  ).action(async (options: StoreOptions) =>
    withConnection(options, async ({ server }) => {
      const health = await (await server()).health()
      await show(options, health, () => [JSON.stringify(health)])
    }),
  )
  withStoreOptions(
    store.command('remove-expired').description('Remove all expired records of PostgreSQL or SQLite.'),
  ).action(async (options: StoreOptions) =>
    withConnection(options, async ({ store: opened }) => {
      let removed = 0
      let last = opened.removeExpired === undefined ? 0 : REMOVED_AT_ONCE
      while (last === REMOVED_AT_ONCE) {
        last = (await opened.removeExpired?.()) ?? 0
        removed += last
      }
      await show(options, { removed }, () => [`${removed} records removed`])
    }),
  )
}
