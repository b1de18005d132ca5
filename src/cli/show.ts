/**
 * `show`: prints records as text, as JSON or as a table.
 * @module
 */
import type { Command } from 'commander'
import { Option } from 'commander'
import type { ReadResult } from '../metadata/index.js'
import { dateToISO, formatText, getField, MetaData, UrlType } from '../metadata/index.js'
import { formatTree } from '../metadata/json/json-text.js'
import type { Found } from './files/files.js'
import { findRecords, readRecords } from './files/files.js'
import type { ReadingOptions } from './options.js'
import { EXIT, enumAliasOption, exitWith, fromOption, makeReadOptions, pathsOrStdin } from './options.js'
import { escapeLine, escapeLines, escapeTextFormat, paint, print } from './output.js'
import type { RecordFault } from './records.js'
import { displayName, makeFault, parseRecord, reportFault, reportWarning } from './records.js'
import { tableLines } from './table.js'

interface ShowOptions extends ReadingOptions {
  readonly format?: 'text' | 'json' | 'table'
  readonly json?: true
}

/** A record and its path. */
interface Shown extends ReadResult {
  readonly path: string
}

export function addShow(parent: Command): void {
  parent
    .command('show')
    .summary('print records')
    .description('Print records, whatever their format: as text, as JSON or as a table.')
    .argument('[path...]', 'files, folders with records in them, or - for standard input')
    .addOption(
      new Option('-f, --format <format>', 'text (the default for one record), table (for several) or json').choices([
        'text',
        'json',
        'table',
      ]),
    )
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .addOption(fromOption())
    .addOption(enumAliasOption())
    .addHelpText(
      'after',
      `
JSON is the record itself for one file, and otherwise an array, one line for each
record: { "path", "format", "metadata" }. Of unknown fields, names such as FOO, bytes and
numbers that JSON programs would round are shown as strings there: convert is exact.

Exit code: 0, 1 when a record is broken, 2 when a file cannot be read.`,
    )
    .action(async (paths: readonly string[], options: ShowOptions, command: Command) => {
      const found = await findRecords(pathsOrStdin(paths, command))
      const { faults, passedOver, single } = found
      const format = options.json ? 'json' : (options.format ?? (single ? 'text' : 'table'))
      if (format === 'table') await showTable(found, options)
      else if (format === 'text') await showText(found, options)
      else if (single) await showJson(found, options)
      else await showJsonArray(found, options)
      passedOver.forEach(reportWarning)
      for (const fault of faults) reportFault(fault)
      if (faults.length > 0) exitWith(EXIT.failure)
    })
}

/** Renders each file that is a record, and reports the faults of the others. */
async function* renderRecords<T>(
  { files, found }: Found,
  options: ShowOptions,
  render: (record: Shown) => T,
): AsyncGenerator<T> {
  for await (const read of readRecords(files, found)) {
    const parsed = 'reason' in read ? read : parseRecord(read.path, read.bytes, makeReadOptions(options))
    const result = 'reason' in parsed ? parsed : tryRender({ ...parsed, path: read.path }, render)
    if ('value' in result) yield result.value
    else {
      reportFault(result)
      exitWith('reason' in read ? EXIT.failure : EXIT.problems)
    }
  }
}

function tryRender<T>(record: Shown, render: (record: Shown) => T): { readonly value: T } | RecordFault {
  try {
    return { value: render(record) }
  } catch (error) {
    return makeFault(record.path, error)
  }
}

async function showText(found: Found, options: ShowOptions): Promise<void> {
  const { enumAlias } = options
  const { single } = found
  const texts = renderRecords(found, options, ({ path, metadata }) => {
    const text = colorText(
      escapeTextFormat(formatText(metadata, { utf8: true, ...(enumAlias && { enumAliases: enumAlias }) })),
    )
    return single ? text : `${paint('dim', `# ${displayName(path)}`)}\n${text}`
  })
  let before = ''
  for await (const text of texts) {
    await print(before + text)
    before = '\n'
  }
}

/** Colours the names and strings of canonical text. */
function colorText(text: string): string {
  return text.replace(
    /^( *)([^\s:}]+)(?:(: )(".*"))?/gm,
    (_, indent: string, name: string, colon = '', value = '') =>
      `${indent}${paint('cyan', name)}${colon}${value === '' ? '' : paint('green', value)}`,
  )
}

async function showJson(found: Found, options: ShowOptions): Promise<void> {
  const texts = renderRecords(found, options, ({ metadata }) => formatTree(toJson(metadata, options)))
  for await (const text of texts) await print(escapeLines(`${text}\n`))
}

async function showJsonArray(found: Found, options: ShowOptions): Promise<void> {
  const texts = renderRecords(found, options, ({ path, format, metadata }) =>
    JSON.stringify({ path, format, metadata: toJson(metadata, options) }),
  )
  let separator = '['
  for await (const text of texts) {
    await print(escapeLines(`${separator}\n${text}`))
    separator = ','
  }
  await print(separator === '[' ? '[]\n' : '\n]\n')
}

function toJson(metadata: MetaData, { enumAlias }: ShowOptions) {
  return MetaData.toJSON(metadata, { unknownText: 'string', ...(enumAlias && { enumAliases: enumAlias }) })
}

/** The most characters of a value that the table shows. An untrusted record may have megabytes. */
const MAX_CELL = 200

/** Returns the start of a value, escaped for a cell. */
function formatCell(value: unknown): string {
  // A character has at most two UTF-16 units, so the part that is cut off here would not be shown.
  const characters = [...escapeLine(cellText(value).slice(0, 2 * MAX_CELL + 2))]
  return characters.length > MAX_CELL ? `${characters.slice(0, MAX_CELL).join('')}…` : characters.join('')
}

/** Returns the text of a value; an empty one for a message or bytes, whose members an untrusted record may name `toString`. */
function cellText(value: unknown): string {
  if (Array.isArray(value)) return value.map(cellText).filter(Boolean).join(',')
  return typeof value === 'object' || value === undefined ? '' : String(value)
}

/** The columns of the table, each with the function that returns its value. */
const COLUMNS: { readonly [title: string]: (record: Shown) => unknown } = {
  PATH: ({ path }) => displayName(path),
  NAME: ({ metadata }) => metadata.name,
  VERSION: ({ metadata }) => metadata.thirdParty?.version ?? getField(metadata, 'third_party.identifier[0].version'),
  UPGRADED: ({ metadata }) => metadata.thirdParty?.lastUpgradeDate && dateToISO(metadata.thirdParty.lastUpgradeDate),
  LICENSE: ({ metadata }) => getField(metadata, 'third_party.license_type'),
  URL: ({ metadata }) => addressOf(metadata),
}

/** Returns the address of the Git repository, or else any address. */
function addressOf(metadata: MetaData): unknown {
  const urls = metadata.thirdParty?.url ?? []
  const url =
    urls.find(({ type, value }) => type === UrlType.GIT && value !== undefined) ?? urls.find(({ value }) => value)
  return (
    url?.value ?? getField(metadata, 'third_party.identifier[0].value') ?? getField(metadata, 'third_party.homepage')
  )
}

/** The columns to shorten on a narrow terminal, in this order, each to no less than {@link MIN_WIDTH} characters. */
const SHRINKABLE = ['URL', 'VERSION', 'NAME', 'LICENSE']
const MIN_WIDTH = 12
const GAP = 2

async function showTable(found: Found, options: ShowOptions): Promise<void> {
  const rows: string[][] = []
  const read = renderRecords(found, options, (record) =>
    Object.values(COLUMNS).map((column) => formatCell(column(record))),
  )
  for await (const row of read) rows.push(row)
  if (rows.length === 0) return
  if (process.stdout.isTTY) fitToWidth(rows, process.stdout.columns)
  const [header = '', ...lines] = await tableLines(Object.keys(COLUMNS), rows)
  await print(`${paint('bold', header)}\n${lines.map((line) => `${line}\n`).join('')}`)
}

function fitToWidth(rows: string[][], width: number): void {
  const titles = Object.keys(COLUMNS)
  const widths = titles.map((title, column) =>
    rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), title.length),
  )
  for (const column of SHRINKABLE.map((title) => titles.indexOf(title))) {
    const over = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width
    if (over <= 0) return
    const before = widths[column] ?? 0
    const room = Math.min(before, Math.max(MIN_WIDTH, before - over))
    widths[column] = room
    for (const row of rows) {
      const characters = [...(row[column] ?? '')]
      if (characters.length > room) row[column] = `${characters.slice(0, room - 1).join('')}…`
    }
  }
}
