/**
 * `store`: the tables and the records of a store, on the command line.
 * @module
 */
import type { Command } from 'commander'
import { EXIT, exitWith } from '../options.js'
import { count } from '../output.js'
import type { Sum } from './all-records.js'
import { checkStore, statsOf } from './check-store.js'
import type { Connection } from './connect.js'
import { exportRecords, importRecords } from './copy.js'
import { show, tableOf, withConnection } from './run.js'
import type { StoreOptions } from './store-options.js'
import { withStoreOptions } from './store-options.js'

/** Adds the command. */
export function addStore(root: Command): void {
  const store = root
    .command('store')
    .description('Make the tables of a store, check its records, and copy them into another one.')
    .addHelpText(
      'after',
      `
Examples:
  grantwell store check --sqlite grants.db
  grantwell store export records.jsonl --sqlite grants.db
  grantwell store import records.jsonl --redis redis://127.0.0.1

Exit code: 0, 1 when something is wrong with the store or the file, 2 when the command line is wrong or there is no such store.`,
    )
  addCare(store)
  addReading(store)
  addCopies(store)
}

function addCare(parent: Command): void {
  withStoreOptions(
    parent.command('migrate').description('Make the tables of PostgreSQL or SQLite where they are missing.'),
  )
    .option('--print', 'print the SQL for PostgreSQL in place of running it')
    .action(async (options: StoreOptions & { print?: true }) =>
      withConnection(options, (connection) => migrate(connection, options), options.print === undefined),
    )
  withStoreOptions(
    parent.command('health').description('Ask the store and the clock once, and say what is wrong.'),
  ).action(async (options: StoreOptions) =>
    withConnection(options, async ({ server }) => {
      const health = await (await server()).health()
      await show(options, health, () => [JSON.stringify(health)])
      if (health.problems.length > 0) exitWith(EXIT.problems)
    }),
  )
  withStoreOptions(
    parent.command('remove-expired').description('Remove all expired records of PostgreSQL or SQLite.'),
  ).action(async (options: StoreOptions) =>
    withConnection(options, async ({ store }) => {
      let removed = 0
      for (let last = 1; last > 0; removed += last) last = (await store.removeExpired?.()) ?? 0
      await show(options, { removed }, () => [`${count(removed, 'record')} removed`])
    }),
  )
}

async function migrate({ store }: Connection, options: StoreOptions & { readonly print?: true }): Promise<void> {
  if (options.print) {
    if (store.migrate === undefined) throw new Error('there is no SQL to print: PostgreSQL alone has some')
    const sql = await store.migrate({ print: true })
    return show(options, { sql }, () => [sql])
  }
  await store.migrate?.()
  // PostgreSQL was asked already. Redis and SQLite are asked here.
  await store.read(['issuer'])
  await show(options, { migrated: true }, () => ['the store is ready'])
}

function addReading(parent: Command): void {
  withStoreOptions(
    parent.command('check').description('Read every record, and say which are broken: KEY: what is wrong.'),
  ).action(async (options: StoreOptions) =>
    withConnection(options, async ({ store }) => {
      const found = await checkStore(store)
      const { records, broken, faults } = found
      await show(options, found, () => [
        ...faults.map(({ key, fault }) => `${key}: ${fault}`),
        `${count(records, 'record')}, ${broken} broken`,
      ])
      if (broken > 0) exitWith(EXIT.problems)
    }),
  )
  withStoreOptions(parent.command('stats').description('Count the records by their kinds.')).action(
    async (options: StoreOptions) =>
      withConnection(options, async ({ store }) => {
        const kinds = await statsOf(store)
        await show(options, kinds, () =>
          tableOf(
            ['KIND', 'RECORDS', 'BYTES', 'EXPIRING'],
            kinds.map(({ kind, records, bytes, expiring }) => [kind, records, bytes, expiring]),
          ),
        )
      }),
  )
}

function addCopies(parent: Command): void {
  withStoreOptions(
    parent
      .command('export')
      .description('Write all records to a file, while no server runs. Whoever has the file has your users.')
      .argument('<file>', 'the file to make, of JSON lines'),
  ).action(async (file: string, options: StoreOptions) =>
    withConnection(options, async ({ store }) => showSum(options, 'exported', await exportRecords(store, file))),
  )
  withStoreOptions(
    parent
      .command('import')
      .description('Write all records of a file into a store that has none, while no server runs.')
      .argument('<file>', 'a file of store export'),
  ).action(async (file: string, options: StoreOptions) =>
    withConnection(options, async ({ store }) => showSum(options, 'imported', await importRecords(store, file)), true),
  )
}

/** Prints what was copied. Two copies are equal if their lines are. */
async function showSum(options: StoreOptions, done: 'exported' | 'imported', { records, digest }: Sum): Promise<void> {
  await show(options, { [done]: records, digest }, () => [`${count(records, 'record')} ${done}`, `digest  ${digest}`])
}
