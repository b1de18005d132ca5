/**
 * A command on a store: what it prints, what it asks before it ends something, and how it ends.
 * @module
 */
import { userInfo } from 'node:os'
import type { Command } from 'commander'
import { Option } from 'commander'
import type { AuthorizationServer } from '../../index.js'
import { canAsk } from '../init/questions.js'
import { EXIT, exitWith } from '../options.js'
import { escapeLine, escapeLines, print, printError } from '../output.js'
import { tableLines } from '../table.js'
import type { Connection } from './connect.js'
import type { StoreOptions } from './store-options.js'
import { namedStore, withStoreOptions } from './store-options.js'

/** The options of a command that changes something. */
export interface ChangeOptions extends StoreOptions {
  readonly actor?: string
  readonly yes?: true
}

/** Adds a command that changes something to another one. */
export function addChange(parent: Command, name: string, description: string): Command {
  return withStoreOptions(parent.command(name).description(description))
    .addOption(new Option('--actor <name>', 'who does it, for the audit trail; your user name by default'))
    .addOption(new Option('--yes', 'do not ask'))
}

/** The refusal of a command that was carried out: the thing that it is about is not there, or not as it must be. */
export class Refused extends Error {}

/**
 * Returns true for an error of the package. A configuration file may have classes of its own copy of the package, so their names are
 * compared.
 */
function isNamed(error: unknown): boolean {
  const { name } = (error ?? {}) as Readonly<Record<string, unknown>> // anything can be thrown
  return name === 'GrantwellError' || name === 'StorageUnavailable'
}

/** Returns true for an error that tells how a command ended that was carried out. All others say that nothing was done. */
export function isTold(error: unknown): boolean {
  return error instanceof Refused || isNamed(error)
}

/** Runs a command with the server of a store, and closes the store after it. */
export async function withServer(
  options: StoreOptions,
  run: (server: AuthorizationServer) => Promise<void>,
): Promise<void> {
  await withConnection(options, async ({ server }) => run(await server()))
}

/** Runs a command on a store, and closes it after that. */
export async function withConnection(
  options: StoreOptions,
  run: (connection: Connection) => Promise<void>,
  isNew = false,
): Promise<void> {
  const named = namedStore(options)
  const { connect } = await import('./connect.js')
  const connection = await connect(named, options, isNew)
  try {
    await run(connection)
  } catch (error) {
    const { code, message } = (error ?? {}) as Readonly<Record<string, unknown>> // anything can be thrown
    const named = isNamed(error) ? `${code}: ` : ''
    printError(escapeLine(`grantwell: ${named}${String(message ?? error).replace(/^grantwell: /, '')}`))
    exitWith(isTold(error) ? EXIT.problems : EXIT.failure)
  } finally {
    await connection.close()
  }
}

/** The administrator, for the audit trail. */
export function actorOf({ actor }: ChangeOptions): { readonly actor: string } {
  return { actor: actor ?? userName() }
}

/** Returns the name of the user. A container may run as one that has none. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/**
 * Asks before something ends.
 * @returns true if the user agrees, or said `--yes`
 */
export async function agrees(options: ChangeOptions, what: string): Promise<boolean> {
  if (options.yes) return true
  if (!canAsk()) {
    printError(escapeLine(`grantwell: ${what} Nothing was done: --yes agrees to it`))
    exitWith(EXIT.failure)
    return false
  }
  const { confirm } = await import('../prompts.js')
  if ((await confirm({ message: escapeLine(what), initialValue: false })) === true) return true
  exitWith(EXIT.failure)
  return false
}

/** Prints a result: JSON, or the lines of its text. */
export async function show(
  options: StoreOptions,
  result: unknown,
  text: () => readonly string[] | Promise<readonly string[]>,
): Promise<void> {
  const lines = options.json ? [JSON.stringify(result, null, 2)] : await text()
  if (lines.length > 0) await print(escapeLines(`${lines.join('\n')}\n`))
}

/** Makes the lines of a table; none without a row. Its cells are escaped, so that no record can draw on the terminal. */
export async function tableOf(
  titles: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<readonly string[]> {
  if (rows.length === 0) return []
  return tableLines(
    titles,
    rows.map((row) => row.map((cell) => escapeLine(String(cell ?? '')))),
  )
}

/** Reads all pages of a list. */
export async function allOf<Page extends { readonly cursor?: string | undefined }, Item>(
  read: (from: { readonly cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<readonly Item[]> {
  const found: Item[] = []
  let page = await read({})
  found.push(...itemsOf(page))
  while (page.cursor !== undefined) {
    page = await read({ cursor: page.cursor })
    found.push(...itemsOf(page))
  }
  return found
}

/** Writes a time as ISO 8601 in UTC. */
export function timeOf(seconds: number | undefined): string {
  return seconds === undefined ? '' : new Date(seconds * 1000).toISOString().replace('.000', '')
}
