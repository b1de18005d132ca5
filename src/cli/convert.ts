/**
 * `convert`: turns a record into another format, and refuses if that would lose fields.
 * @module
 */
import { realpath } from 'node:fs/promises'
import type { Command } from 'commander'
import { Option } from 'commander'
import { encodeUnknownFields, visitFields } from '../metadata/binary/unknown-fields.js'
import { fieldPath } from '../metadata/check.js'
import { MAX_BYTES, MAX_DEPTH } from '../metadata/errors.js'
import type { Unknown } from '../metadata/index.js'
import { formatJson, formatText, MetaData } from '../metadata/index.js'
import type { Message, MessageType } from '../metadata/schema/schema.js'
import { MetaDataSchema } from '../metadata/schema/schema.js'
import type { Fault } from './files/files.js'
import { readRecord, STDIN } from './files/files.js'
import { replaceFiles } from './files/replace.js'
import type { ReadingOptions } from './options.js'
import { EXIT, enumAliasOption, exitWith, fromOption, makeReadOptions, pathsOrStdin } from './options.js'
import { escapeLines, escapeTextFormat, print } from './output.js'
import { makeFault, parseRecord, reportFault, tooLargeReason } from './records.js'

type Format = 'text' | 'json' | 'binary'

interface ConvertOptions extends ReadingOptions {
  readonly to: Format
  readonly output?: string
  readonly dropUnknown?: true
  readonly utf8?: true
}

export function addConvert(parent: Command): void {
  parent
    .command('convert')
    .summary('turn a record into another format')
    .description(
      'Turn a record into another format. The format that it has is told from what is in it. Text comes out in canonical\nform: without comments, in the order of the schema.',
    )
    .argument('[file]', 'a file, or - for standard input')
    .addOption(
      new Option('-t, --to <format>', 'what to make of it').choices(['text', 'json', 'binary']).makeOptionMandatory(),
    )
    .addOption(fromOption())
    .option('-o, --output <file>', 'write it there rather than to standard output')
    .option('--drop-unknown', 'leave out the fields that the other format cannot hold, rather than refuse')
    .option('--utf8', 'in text, write what is not ASCII as it is rather than as escapes')
    .addOption(enumAliasOption())
    .addHelpText(
      'after',
      '\nExit code: 0, 1 when the record is broken or would lose fields, 2 when a file cannot be read or written.',
    )
    .action(async (file: string | undefined, options: ConvertOptions, command: Command) => {
      const toTerminal = options.output === undefined || options.output === STDIN
      if (options.to === 'binary' && toTerminal && process.stdout.isTTY)
        command.error('error: binary is not for a terminal: say where to, with -o FILE')
      const [path = STDIN] = pathsOrStdin(file === undefined ? [] : [file], command)
      await convert(path, options)
    })
}

async function convert(
  path: string,
  { to, output = STDIN, dropUnknown, utf8, ...reading }: ConvertOptions,
): Promise<void> {
  const aliases = reading.enumAlias ? { enumAliases: reading.enumAlias } : {}
  const read = await readRecord(path)
  const parsed = 'reason' in read ? read : parseRecord(path, read.bytes, makeReadOptions(reading))
  if ('reason' in parsed) {
    reportFault(parsed)
    return exitWith('reason' in read ? EXIT.failure : EXIT.problems)
  }
  const { metadata } = parsed
  const lost = dropUnknown ? undefined : describeLoss(metadata, to)
  if (lost !== undefined) {
    reportFault({ path, reason: `${lost}; --drop-unknown leaves it out` })
    return exitWith(EXIT.problems)
  }
  const render = {
    text: () => formatText(metadata, { unknownFields: 'omit', utf8: utf8 === true, ...aliases }),
    json: () => formatJson(metadata, { ...aliases, ...(dropUnknown && { unknownText: 'omit' }) }),
    binary: () => MetaData.encode(metadata, { unknownText: 'omit' }),
  }[to]
  let result: string | Uint8Array
  try {
    result = render()
  } catch (error) {
    const fault = makeFault(path, error)
    const isUnheld = to === 'json' && fault.code === 'invalid_value'
    reportFault(isUnheld ? { ...fault, reason: `${fault.reason}; --drop-unknown leaves it out` } : fault)
    return exitWith(EXIT.problems)
  }
  if (output === STDIN) {
    // Only a terminal gets escapes: any other reader needs the exact record.
    if (typeof result !== 'string' || !process.stdout.isTTY) return print(result)
    return print(to === 'json' ? escapeLines(result) : escapeTextFormat(result))
  }
  const size = Buffer.byteLength(result)
  if (size > MAX_BYTES) {
    reportFault({ path, reason: tooLargeReason(size, to) })
    return exitWith(EXIT.problems)
  }
  const isItself = path !== STDIN && (await isSameFile(path, output))
  // A file that is converted in place may have been changed by others since it was read. Their change must not be lost.
  const content = (before: Uint8Array | undefined): string | Uint8Array | Fault =>
    isItself && !('bytes' in read && before !== undefined && Buffer.from(before).equals(read.bytes))
      ? { path: output, reason: 'changed by another program in the meantime: run this again' }
      : result
  const faults = await replaceFiles([{ path: output, content }], false)
  faults.forEach(reportFault)
  if (faults.length > 0) exitWith(EXIT.failure)
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([path, other].map((each) => realpath(each).catch(() => undefined)))
  return one !== undefined && one === two
}

/** Describes the fields that a format cannot hold; undefined if it holds them all. */
function describeLoss(metadata: MetaData, to: Format): string | undefined {
  let first: string | undefined
  let count = 0
  // The schema's tables describe this type.
  visitUnknown(MetaDataSchema, metadata as unknown as Message, to === 'binary', '', (path, field) => {
    first ??= fieldPath(path, field)
    count++
  })
  if (first === undefined) return undefined
  const more = count > 1 ? `, and ${count - 1} more like it` : ''
  return `${to} cannot hold ${first}, which the schema does not know${more}`
}

/**
 * Visits the fields that the schema does not know. There may be millions.
 * @param named - true for fields with a name and no number, false for fields with a number and no name
 */
function visitUnknown(
  type: MessageType,
  message: Message & Unknown,
  named: boolean,
  path: string,
  visit: (path: string, field: { readonly name: string }) => void,
): void {
  if (named) for (const field of message._unknownText ?? []) visit(path, field)
  else if (message._unknownFields !== undefined)
    visitFields(encodeUnknownFields(message), 'exact', MAX_DEPTH, (number) => visit(path, { name: String(number) }))
  for (const field of type.fields) {
    const value = message[field.key]
    if (field.kind !== 'message' || value === undefined) continue
    if (!field.repeated) visitUnknown(field.type, value as Message, named, fieldPath(path, field), visit)
    else
      for (const [index, item] of (value as Message[]).entries())
        visitUnknown(field.type, item, named, fieldPath(path, field, index), visit)
  }
}
