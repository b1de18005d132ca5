/**
 * Options and arguments that several commands share.
 * @module
 */
import type { Command } from 'commander'
import { InvalidArgumentError, Option } from 'commander'
import type { EnumAliases, ReadOptions } from '../metadata/index.js'
import { ENUMS } from '../metadata/schema/schema.js'
import { STDIN } from './files/files.js'

/** Exit codes, for scripts. */
export const EXIT = {
  /** Something is wrong with a record. */
  problems: 1,
  /** The command line is wrong, or a file cannot be read or written. */
  failure: 2,
} as const

/** Sets the exit code. The highest of several codes wins. */
export function exitWith(code: number): void {
  process.exitCode = Math.max(Number(process.exitCode ?? 0), code)
}

/** Returns the paths to read: those given, or standard input if something is piped in. Ends with the help otherwise. */
export function pathsOrStdin(paths: readonly string[], command: Command): readonly string[] {
  if (paths.length > 0) return paths
  if (!process.stdin.isTTY) return [STDIN]
  return failWithHelp(command, 'no PATH is given, and nothing is piped in')
}

/** Ends the command because of a wrong command line, and prints its whole help. */
export function failWithHelp(command: Command, message: string): never {
  command.showHelpAfterError(true)
  return command.error(`error: ${message}`)
}

/** Options of the commands that read records of any format. */
export interface ReadingOptions {
  readonly from?: 'text' | 'json' | 'binary'
  readonly enumAlias?: EnumAliases
}

/** Makes the option `--from FORMAT`. */
export function fromOption(): Option {
  return new Option('--from <format>', 'the format of what is read; by default it is told from what is in it').choices([
    'text',
    'json',
    'binary',
  ])
}

/** Converts the command's options into those of the codec. */
export function makeReadOptions({ from, enumAlias }: ReadingOptions): ReadOptions {
  return { ...(from && { format: from }), ...(enumAlias && { enumAliases: enumAlias }) }
}

/** Makes the option `--enum-alias URL.Type.NAME=VALUE`, which is repeatable. */
export function enumAliasOption(): Option {
  return new Option(
    '--enum-alias <enum.name=value>',
    'take NAME for a value of an enum, as URL.Type.NAME=INTERNAL_VCS does, and write it so; repeatable',
  ).argParser(addAlias)
}

function addAlias(text: string, before: EnumAliases = {}): EnumAliases {
  const [, enumName, alias, value] = /^([\w.]+)\.([A-Za-z_]\w*)=(\w+)$/.exec(text) ?? []
  const type = ENUMS.find(({ name }) => name === enumName)
  if (type === undefined || alias === undefined || value === undefined) {
    const names = ENUMS.map(({ name }) => name).join(', ')
    throw new InvalidArgumentError(`Expected ENUM.NAME=VALUE, where ENUM is one of ${names}.`)
  }
  const values = [...type.numbers.keys()]
  if (!type.numbers.has(value)) throw new InvalidArgumentError(`${enumName} has these values: ${values.join(', ')}.`)
  if (type.numbers.has(alias)) throw new InvalidArgumentError(`${enumName} has a value ${alias} of its own.`)
  // The names were just found in the schema, but TypeScript sees only strings.
  return { ...before, [type.name]: { ...before[type.name], [alias]: value } } as EnumAliases
}

/** Appends an argument of a repeatable option to the earlier ones. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
