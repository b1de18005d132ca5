/**
 * A command on a store: what it prints, what it asks before it ends something, and how it ends.
 * @module
 */
import { userInfo } from 'node:os'
import { confirm } from '@clack/prompts'
import type { AuthorizationServer } from '../../index.js'
import { canAsk } from '../init/questions.js'
import { EXIT, exitWith } from '../options.js'
import { escapeLine, escapeLines, print, printError } from '../output.js'
import type { Connection, StoreOptions } from './connect.js'
import { connect } from './connect.js'

/** The options of a command that changes something. */
export interface ChangeOptions extends StoreOptions {
  readonly actor?: string
  readonly yes?: true
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
  const connection = await connect(options, isNew)
  try {
    await run(connection)
  } catch (error) {
    const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown } // anything can be thrown
    const named = typeof code === 'string' && code.startsWith('ERR_') ? `${code}: ` : ''
    printError(escapeLine(`grantwell: ${named}${String(message ?? error).replace(/^grantwell: /, '')}`))
    exitWith(named === '' ? EXIT.failure : EXIT.problems)
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
  if ((await confirm({ message: escapeLine(what), initialValue: false })) === true) return true
  exitWith(EXIT.failure)
  return false
}

/** Prints a result: JSON, or the lines of its text. */
export async function show(options: StoreOptions, result: unknown, text: () => readonly string[]): Promise<void> {
  const lines = options.json ? [JSON.stringify(result, null, 2)] : text()
  if (lines.length > 0) await print(escapeLines(`${lines.join('\n')}\n`))
}

/** Makes the lines of a table. Its cells are escaped, so that no record can draw on the terminal. */
export function tableOf(titles: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] {
  if (rows.length === 0) return []
  const cells = [titles, ...rows.map((row) => row.map((cell) => escapeLine(String(cell ?? ''))))]
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)))
  return cells.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd(),
  )
}

/** Writes a time as ISO 8601 in UTC. */
export function timeOf(seconds: number | undefined): string {
  return seconds === undefined ? '' : new Date(seconds * 1000).toISOString().replace('.000', '')
}
