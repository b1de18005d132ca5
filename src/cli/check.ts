/**
 * `check`: prints the problems of records, one line each, for people, editors and CI.
 * @module
 */
import type { Command } from 'commander'
import type { Problem, ReadResult } from '../metadata/index.js'
import { locateFields } from '../metadata/index.js'
import { decodeText } from '../metadata/text/text.js'
import { eachProblem } from '../metadata/validate.js'
import type { Fault, Found } from './files/files.js'
import { findRecords, readRecords } from './files/files.js'
import type { ReadingOptions } from './options.js'
import { EXIT, enumAliasOption, exitWith, fromOption, makeReadOptions, pathsOrStdin } from './options.js'
import { count, escapeLine, escapeLines, paint, print, printError } from './output.js'
import type { RecordFault } from './records.js'
import { displayPlace, makeFault, parseRecord, reportFault, reportWarning } from './records.js'

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
  /** The path of the field, if the record could be read. */
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
    .option('--json', 'print one object: { "findings", "records", "errors", "warnings", "unreadable" }')
    .addOption(fromOption())
    .addOption(enumAliasOption())
    .addHelpText('after', '\nExit code: 0 all is well, 1 errors were found, 2 a file cannot be read.')
    .action(async (paths: readonly string[], options: CheckOptions, command: Command) => {
      await check(await findRecords(pathsOrStdin(paths, command)), options)
    })
}

/** The findings of one record: those to print, and the number of all. */
interface Findings {
  readonly shown: readonly Finding[]
  readonly error: number
  readonly warning: number
}

/** The most findings to print for one record: an untrusted record may have a million. */
const MAX_FINDINGS = 1000

async function check({ files, found, faults, passedOver }: Found, options: CheckOptions): Promise<void> {
  const unreadable: Fault[] = [...faults]
  let [records, errors, warnings] = [0, 0, 0]
  const printer = options.json ? jsonPrinter() : undefined
  for await (const read of readRecords(files, found)) {
    if ('reason' in read) {
      unreadable.push(read)
      continue
    }
    records++
    const { shown, error, warning } = checkRecord(read.path, read.bytes, options)
    errors += error
    warnings += warning
    if (printer !== undefined) await printer.add(shown)
    else if (shown.length > 0) await print(shown.map((finding) => `${formatFinding(finding)}\n`).join(''))
  }
  passedOver.forEach(reportWarning)
  if (printer !== undefined) await printer.end({ records, errors, warnings, unreadable })
  else unreadable.forEach(reportFault)
  if (!options.json && !options.quiet) printError(formatSummary(records, errors, warnings, unreadable.length))
  if (errors > 0 || (options.warningsAsErrors && warnings > 0)) exitWith(EXIT.problems)
  if (unreadable.length > 0) exitWith(EXIT.failure)
}

const START = '{\n  "findings": ['

/** Prints one JSON object piece by piece, since all findings of a tree may be too long for one string. */
function jsonPrinter() {
  const textOf = (value: unknown, indent: string): string =>
    escapeLines(JSON.stringify(value, undefined, 2).replaceAll('\n', `\n${indent}`))
  let isEmpty = true
  return {
    async add(findings: readonly Finding[]): Promise<void> {
      const pieces = findings.map((finding, index) => {
        const separator = isEmpty && index === 0 ? START : ','
        return `${separator}\n    ${textOf(finding, '    ')}`
      })
      isEmpty &&= pieces.length === 0
      await print(pieces.join(''))
    },
    async end(others: object): Promise<void> {
      const members = Object.entries(others).map(([name, value]) => `,\n  "${name}": ${textOf(value, '  ')}`)
      await print(`${isEmpty ? START : '\n  '}]${members.join('')}\n}\n`)
    },
  }
}

function checkRecord(path: string, bytes: Uint8Array, options: CheckOptions): Findings {
  const parsed = parseRecord(path, bytes, { ...(options.strict && { strict: true }), ...makeReadOptions(options) })
  if ('reason' in parsed) return unreadableRecord(parsed)
  try {
    return collectProblems(path, parsed, bytes, options)
  } catch (error) {
    return unreadableRecord(makeFault(path, error))
  }
}

function unreadableRecord({ reason, ...fault }: RecordFault): Findings {
  return { shown: [{ ...fault, severity: 'error', message: reason }], error: 1, warning: 0 }
}

function collectProblems(
  path: string,
  { metadata, format }: ReadResult,
  bytes: Uint8Array,
  { quiet }: CheckOptions,
): Findings {
  // The limit applies before findings are made: a record may have more problems than memory can hold.
  const kept: Problem[] = []
  const counts = { error: 0, warning: 0 }
  const others = { error: 0, warning: 0 }
  eachProblem(metadata, (problem) => {
    const { severity } = problem
    counts[severity]++
    if (quiet && severity === 'warning') return
    if (kept.length < MAX_FINDINGS) kept.push(problem)
    else others[severity]++
  })
  const fields = kept.map((problem) => problem.path)
  const places = format === 'text' ? locateFields(decodeText(bytes), fields) : []
  const shown = kept
    .map(({ path: field, ...problem }, index): Finding => ({ path, ...places[index], field, ...problem }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  const more = others.error + others.warning
  if (more > 0) {
    const severity = others.error > 0 ? 'error' : 'warning'
    shown.push({ path, code: 'more', severity, message: `${more} more that are not printed` })
  }
  return { shown, ...counts }
}

function formatFinding({ path, line, column, field, code, severity, message }: Finding): string {
  const kind = paint(severity === 'error' ? 'red' : 'yellow', `${severity}:`)
  const what = escapeLine(field === undefined ? message : `${field}: ${message}`)
  return `${displayPlace(path, line, column)} ${kind} ${what} ${paint('dim', `[${code}]`)}`
}

function formatSummary(records: number, errors: number, warnings: number, unreadable: number): string {
  const found = [
    paint(errors > 0 ? 'red' : 'green', count(errors, 'error'), process.stderr),
    paint(warnings > 0 ? 'yellow' : 'green', count(warnings, 'warning'), process.stderr),
    ...(unreadable > 0 ? [paint('red', `${unreadable} not read`, process.stderr)] : []),
  ]
  return `${count(records, 'record')} checked: ${found.join(', ')}`
}
