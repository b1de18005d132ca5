/**
 * `check`: what is wrong with records, one line each, for people, editors and CI.
 * @module
 */
import type { Command } from 'commander'
import { locateFields, type ReadResult, validate } from '../metadata/index.js'
import { textOf } from '../metadata/text.js'
import { type Fault, type Found, findRecords, readRecords } from './files.js'
import {
  EXIT,
  enumAliasOption,
  exitWith,
  fromOption,
  pathsOrStdin,
  type ReadingOptions,
  readOptionsOf,
} from './options.js'
import { complain, count, paint, print, visible, visibleLines } from './output.js'
import { complainOf, faultOf, note, parseRecord, placeName } from './records.js'

interface CheckOptions extends ReadingOptions {
  readonly strict?: true
  readonly warningsAsErrors?: true
  readonly quiet?: true
  readonly json?: true
}

/** One line of the result. */
interface Finding {
  readonly path: string
  readonly line?: number
  readonly column?: number
  /** Which field, where the record could be read. */
  readonly field?: string
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly message: string
}

export function addCheck(parent: Command): void {
  parent
    .command('check')
    .summary('say what is wrong with records')
    .description(
      'Read records and say what is wrong with them, or missing: path:line:column: severity: message [code].',
    )
    .argument('[path...]', 'files, folders with records in them, or - for standard input')
    .option('--strict', 'refuse names that the schema does not have')
    .option('-W, --warnings-as-errors', 'fail for warnings too: for what a complete record would have')
    .option('-q, --quiet', 'print errors alone: no warnings, no summary')
    .option('--json', 'print one object: { "records", "errors", "warnings", "unreadable", "findings" }')
    .addOption(fromOption())
    .addOption(enumAliasOption())
    .addHelpText('after', '\nExit code: 0 all is well, 1 errors were found, 2 a file cannot be read.')
    .action(async (paths: readonly string[], options: CheckOptions, command: Command) => {
      await check(await findRecords(pathsOrStdin(paths, command)), options)
    })
}

async function check({ files, found, faults, passedOver }: Found, options: CheckOptions): Promise<void> {
  const unreadable: Fault[] = [...faults]
  const all: Finding[] = []
  const total = { error: 0, warning: 0 }
  let records = 0
  for await (const read of readRecords(files, found)) {
    if ('reason' in read) {
      unreadable.push(read)
      continue
    }
    records++
    const findings = findingsOf(read.path, read.bytes, options)
    for (const { severity } of findings) total[severity]++
    const wanted = findings.filter(({ severity }) => severity === 'error' || !options.quiet)
    if (options.json) for (const finding of wanted) all.push(finding)
    else if (wanted.length > 0) await print(wanted.map((finding) => `${lineOf(finding)}\n`).join(''))
  }
  passedOver.forEach(note)
  const { error: errors, warning: warnings } = total
  if (options.json)
    await print(
      visibleLines(`${JSON.stringify({ records, errors, warnings, unreadable, findings: all }, undefined, 2)}\n`),
    )
  else unreadable.forEach(complainOf)
  if (!options.json && !options.quiet) complain(summaryOf(records, errors, warnings, unreadable.length))
  if (errors > 0 || (options.warningsAsErrors && warnings > 0)) exitWith(EXIT.problems)
  if (unreadable.length > 0) exitWith(EXIT.failure)
}

function findingsOf(path: string, bytes: Uint8Array, options: CheckOptions): readonly Finding[] {
  const parsed = parseRecord(path, bytes, { ...(options.strict && { strict: true }), ...readOptionsOf(options) })
  if ('reason' in parsed) {
    const { reason, ...fault } = parsed
    return [{ ...fault, severity: 'error', message: reason }]
  }
  try {
    return problemsOf(path, parsed, bytes)
  } catch (error) {
    const { reason, ...fault } = faultOf(path, error)
    return [{ ...fault, severity: 'error', message: reason }]
  }
}

function problemsOf(path: string, { metadata, format }: ReadResult, bytes: Uint8Array): readonly Finding[] {
  const problems = validate(metadata)
  const fields = problems.map((problem) => problem.path)
  const places = format === 'text' ? locateFields(textOf(bytes), fields) : []
  return problems
    .map(({ path: field, ...problem }, index): Finding => ({ path, ...places[index], field, ...problem }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
}

function lineOf({ path, line, column, field, code, severity, message }: Finding): string {
  const kind = paint(severity === 'error' ? 'red' : 'yellow', `${severity}:`)
  const what = visible(field === undefined ? message : `${field}: ${message}`)
  return `${placeName(path, line, column)} ${kind} ${what} ${paint('dim', `[${code}]`)}`
}

function summaryOf(records: number, errors: number, warnings: number, unreadable: number): string {
  const found = [
    paint(errors > 0 ? 'red' : 'green', count(errors, 'error'), process.stderr),
    paint(warnings > 0 ? 'yellow' : 'green', count(warnings, 'warning'), process.stderr),
    ...(unreadable > 0 ? [paint('red', `${unreadable} not read`, process.stderr)] : []),
  ]
  return `${count(records, 'record')} checked: ${found.join(', ')}`
}
