/**
 * `set`: changes fields of records in text format, in place. All other lines stay as they are.
 * @module
 */
import type { Command } from 'commander'
import { FILE_HEADERS_ONLY, formatPatch } from 'diff'
import { MAX_BYTES } from '../metadata/errors.js'
import type { EditTextOptions, EnumAliases } from '../metadata/index.js'
import { editText, MetadataError, readMetadata } from '../metadata/index.js'
import { parsePath } from '../metadata/path.js'
import { parseSyntax } from '../metadata/text/syntax.js'
import { decodeText } from '../metadata/text/text.js'
import type { Assignment } from './assignment.js'
import { hasField, makeChange, parseAssignment, removedPaths } from './assignment.js'
import { makeHunks } from './diff.js'
import { isFileName } from './files/file-names.js'
import type { Fault } from './files/files.js'
import { readRecords, STDIN } from './files/files.js'
import type { Replacement } from './files/replace.js'
import { replaceFiles } from './files/replace.js'
import { collect, EXIT, enumAliasOption, exitWith, failWithHelp, pathsOrStdin } from './options.js'
import { escapeLines, paint, print } from './output.js'
import { AMBIGUOUS, displayName, makeFault, reportFault, reportWarning, tooLargeReason } from './records.js'

interface SetOptions {
  readonly change?: readonly string[]
  readonly unset?: readonly string[]
  readonly dryRun?: true
  readonly createUnknown?: boolean
  readonly enumAlias?: EnumAliases
}

/** A record before and after. */
interface Edit {
  readonly path: string
  readonly bytes: Uint8Array
  readonly before: string
  readonly after: string
  /** Paths to remove that the record does not have. */
  readonly missing: readonly string[]
}

/** The reason why a record cannot be changed. `isBroken` marks a record that cannot be read. */
interface EditFault extends Fault {
  readonly isBroken?: true
}

export function addSet(parent: Command): void {
  parent
    .command('set')
    .summary('change fields of records, in place')
    .description('Change fields of records in text format, in place. Every byte that is not concerned stays as it is.')
    .usage('[options] FIELD=VALUE... [path...]')
    .argument(
      '[changes and paths...]',
      'FIELD=VALUE sets a field, FIELD+=VALUE adds one more of a list; then files, or - for\nstandard input, whose result goes to standard output',
    )
    .option('-c, --change <field=value>', 'the same as FIELD=VALUE, where a file has that name; repeatable', collect)
    .option('-u, --unset <field>', 'remove a field; repeatable', collect)
    .option('-n, --dry-run', 'print what would change, as a patch, and change nothing')
    .option('--create-unknown', 'make fields that neither the schema nor the file has')
    .addOption(enumAliasOption())
    .addHelpText(
      'after',
      `
A FIELD is a path: third_party.version, third_party.url[0].value. A VALUE is
  a date as YYYY-MM-DD     third_party.last_upgrade_date=2026-11-21
  the name of a kind       third_party.license_type=NOTICE
  JSON for a whole block   third_party.url+='{"type":"GIT","value":"https://git.example/zlib"}'
and anything else as it is. A field that the schema does not know keeps the type that it has in the file.
The first argument that is no FIELD=VALUE is a path; write ./a=b for a file of that name, and ./* for a pattern.
Either all files are changed or, where one cannot be, none. A file is replaced whole, so a hard link to it keeps the old
content; one that cannot be replaced, such as a mount, is written in place. Several commands at once wait for each other.

Exit code: 0, 1 when a record is broken, 2 when a change is not possible or a file cannot be read or written.`,
    )
    .action(setRecords)
}

/** Runs the command: edits all records first, and then replaces them together. */
async function setRecords(args: readonly string[], options: SetOptions, command: Command): Promise<void> {
  const { assignments, paths } = await splitArguments(args, options.change, command)
  const unset = options.unset ?? []
  if (assignments.length + unset.length === 0) failWithHelp(command, 'there is nothing to set')
  for (const path of unset)
    try {
      parsePath(path)
    } catch (error) {
      command.error(`error: ${makeFault(path, error).reason}`)
    }
  const edits: Edit[] = []
  const faults: EditFault[] = []
  const all = new Set(pathsOrStdin(paths, command))
  for await (const read of readRecords([...all], 'files')) {
    // Empty standard input is a valid record if `-` was given. Without any path, the user probably forgot the file.
    const isNothing = paths.length === 0 && 'bytes' in read && read.bytes.length === 0
    const edited = isNothing
      ? { path: read.path, reason: 'nothing came in, and no file is named' }
      : 'reason' in read
        ? read
        : edit(read.path, read.bytes, assignments, options)
    if ('reason' in edited) faults.push(edited)
    else edits.push(edited)
  }
  faults.forEach(reportFault)
  for (const { isBroken } of faults) exitWith(isBroken ? EXIT.problems : EXIT.failure)
  if (faults.length > 0) return
  if (options.dryRun) for (const each of edits) await showPatch(each)
  else if (!(await save(edits, assignments, options))) return exitWith(EXIT.failure)
  for (const { path, missing } of edits)
    for (const field of missing) reportWarning({ path, reason: `${field} is not there, so nothing of it is removed` })
}

/** Splits the arguments at the first one that is not a change: changes before it, paths from there on. */
async function splitArguments(
  args: readonly string[],
  changes: readonly string[] = [],
  command: Command,
): Promise<{ readonly assignments: readonly Assignment[]; readonly paths: readonly string[] }> {
  const all = args.map(parseAssignment)
  const first = all.indexOf(undefined)
  const end = first < 0 ? args.length : first
  for (const argument of args.slice(0, end))
    if (await isFileName(argument))
      command.error(
        `error: ${argument} is a change, and a file has that name: write ./${argument} for the file, --change '${argument}' for the change`,
      )
  const named = changes.map(
    (change) => parseAssignment(change) ?? command.error(`error: --change takes FIELD=VALUE, and not ${change}`),
  )
  // Node turns the invalid UTF-8 of an argument into U+FFFD.
  for (const change of [...changes, ...args.slice(0, end)])
    if (change.includes('\ufffd')) command.error(`error: ${change} has U+FFFD in it, or bytes that are not UTF-8`)
  return { assignments: [...named, ...all.slice(0, end).flatMap((each) => each ?? [])], paths: args.slice(end) }
}

/** Applies the changes to one record. */
function edit(
  path: string,
  bytes: Uint8Array,
  assignments: readonly Assignment[],
  { unset = [], enumAlias, createUnknown = false }: SetOptions,
): Edit | EditFault {
  const options: EditTextOptions = enumAlias ? { enumAliases: enumAlias } : {}
  let before: string | undefined
  try {
    before = readText(bytes)
  } catch (error) {
    return { ...makeFault(path, error), isBroken: true }
  }
  if (before === undefined)
    return { path, reason: 'not in text format, and only text can be changed in place: convert it with --to text' }
  try {
    const missing: string[] = []
    let after = before
    for (const assignment of assignments) {
      const change = makeChange(assignment, after, createUnknown)
      for (const field of removedPaths(change)) if (!hasField(after, field)) missing.push(field)
      after = editText(after, change, options)
    }
    for (const field of unset) if (!hasField(after, field)) missing.push(field)
    // Removals are made last and together, so that each index still means the same item as in the file.
    after = editText(after, Object.fromEntries(unset.map((field) => [field, null])), options)
    const size = Buffer.byteLength(after)
    if (path !== STDIN && after !== before && size > MAX_BYTES) return { path, reason: tooLargeReason(size) }
    return { path, bytes, before, after, missing }
  } catch (error) {
    return makeFault(path, error)
  }
}

/**
 * Returns the text of a record, which need not fit the schema; undefined if it is a record of another format.
 * @throws {MetadataError} if it is not a record, or `ambiguous_format` if it is a binary record too
 */
function readText(bytes: Uint8Array): string | undefined {
  let text: string
  try {
    text = decodeText(bytes)
    parseSyntax(text)
  } catch (error) {
    if (readMetadata(bytes).format !== 'text') return undefined
    throw error
  }
  if (bytes.length > 0 && isBinary(bytes))
    throw new MetadataError('ambiguous_format', `${AMBIGUOUS}: convert it first, with --from binary or --from text`)
  return text
}

function isBinary(bytes: Uint8Array): boolean {
  try {
    return readMetadata(bytes, { format: 'binary' }).format === 'binary'
  } catch {
    return false
  }
}

/** Replaces all files that change, or none. A file that has changed since it was read is edited again. */
async function save(edits: readonly Edit[], assignments: readonly Assignment[], options: SetOptions): Promise<boolean> {
  const replacements = edits
    .filter(({ path, before, after }) => path !== STDIN && after !== before)
    .map(({ path, bytes, after }): Replacement => {
      const content = (now: Uint8Array | undefined): string | Fault | undefined => {
        if (now === undefined) return { path, reason: 'changed by another program, and too large now' }
        if (Buffer.from(now).equals(bytes)) return after
        const again = edit(path, now, assignments, options)
        if ('reason' in again) return again
        return again.after === again.before ? undefined : again.after
      }
      return { path, content }
    })
  const faults = replacements.length === 0 ? [] : await replaceFiles(replacements, true)
  faults.forEach(reportFault)
  if (faults.length > 0) return false
  for (const { path, after } of edits)
    if (path === STDIN) await print(process.stdout.isTTY ? escapeLines(after) : after)
  return true
}

async function showPatch({ path, before, after }: Edit): Promise<void> {
  if (after === before) return
  const name = displayName(path)
  const headers = { oldFileName: name, newFileName: name, oldHeader: undefined, newHeader: undefined }
  const patch = formatPatch({ ...headers, hunks: makeHunks(before, after) }, FILE_HEADERS_ONLY)
  // Only a terminal gets escapes: a file must be a patch that `patch` can apply.
  const colored = (process.stdout.isTTY ? escapeLines(patch) : patch)
    .replace(/^-(?!-- ).*$/gm, (line) => paint('red', line))
    .replace(/^\+(?!\+\+ ).*$/gm, (line) => paint('green', line))
    .replace(/^@@.*$/gm, (line) => paint('cyan', line))
  await print(colored)
}
