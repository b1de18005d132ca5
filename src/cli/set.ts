/**
 * `set`: changes records in text format where they stand, and nothing in them but the lines concerned.
 * @module
 */
import type { Command } from 'commander'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { type EditTextOptions, type EnumAliases, editText, readMetadata } from '../metadata/index.js'
import { parsePath } from '../metadata/path.js'
import { parseSyntax } from '../metadata/syntax.js'
import { textOf } from '../metadata/text.js'
import { type Assignment, assignmentOf, changeOf } from './assignment.js'
import { type Fault, type Prepared, prepareRecord, readRecords, reasonOf, STDIN } from './files.js'
import { collect, EXIT, enumAliasOption, exitWith, failWithHelp, pathsOrStdin } from './options.js'
import { paint, print, visibleLines } from './output.js'
import { complainOf, faultOf, nameOf, type RecordFault } from './records.js'

interface SetOptions {
  readonly unset?: readonly string[]
  readonly dryRun?: true
  readonly createUnknown?: boolean
  readonly enumAlias?: EnumAliases
}

/** A record before and after. */
interface Edit {
  readonly path: string
  readonly before: string
  readonly after: string
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
The first argument that is no FIELD=VALUE is a path; write ./a=b for a file of that name.
Either all files are changed or, where one cannot be, none.

Exit code: 0, 1 when a record is broken, 2 when a change is not possible or a file cannot be read or written.`,
    )
    .action(async (args: readonly string[], options: SetOptions, command: Command) => {
      const { assignments, paths } = split(args)
      const unset = options.unset ?? []
      if (assignments.length + unset.length === 0) failWithHelp(command, 'there is nothing to set')
      for (const path of unset)
        try {
          parsePath(path)
        } catch (error) {
          command.error(`error: ${faultOf(path, error).reason}`)
        }
      const edits: Edit[] = []
      const faults: (Fault | RecordFault)[] = []
      for await (const read of readRecords([...new Set(pathsOrStdin(paths, command))])) {
        // An empty record may be meant where standard input is; where no file was named it was forgotten.
        const isNothing = paths.length === 0 && 'bytes' in read && read.bytes.length === 0
        const edited = isNothing
          ? { path: read.path, reason: 'nothing came in, and no file is named' }
          : 'reason' in read
            ? read
            : edit(read.path, read.bytes, assignments, options)
        if ('reason' in edited) faults.push(edited)
        else edits.push(edited)
      }
      faults.forEach(complainOf)
      // With a line the fault is in the record.
      for (const fault of faults) exitWith('line' in fault ? EXIT.problems : EXIT.failure)
      if (faults.length > 0) return
      if (options.dryRun) for (const each of edits) await showPatch(each)
      else await save(edits)
    })
}

function split(args: readonly string[]): {
  readonly assignments: readonly Assignment[]
  readonly paths: readonly string[]
} {
  const all = args.map(assignmentOf)
  const first = all.indexOf(undefined)
  const end = first < 0 ? args.length : first
  return { assignments: all.slice(0, end).flatMap((each) => each ?? []), paths: args.slice(end) }
}

function edit(
  path: string,
  bytes: Uint8Array,
  assignments: readonly Assignment[],
  { unset = [], enumAlias, createUnknown = false }: SetOptions,
): Edit | Fault | RecordFault {
  const options: EditTextOptions = enumAlias ? { enumAliases: enumAlias } : {}
  try {
    const before = textIn(bytes)
    if (before === undefined)
      return { path, reason: 'not in text format, and only text can be changed in place: convert it with --to text' }
    let after = before
    for (const assignment of assignments) after = editText(after, changeOf(assignment, after, createUnknown), options)
    // All at once and last, so that every index means what it meant in the file.
    after = editText(after, Object.fromEntries(unset.map((field) => [field, null])), options)
    return { path, before, after }
  } catch (error) {
    return faultOf(path, error)
  }
}

/** The text, whether it suits the schema or not; undefined when it is a good record of another format. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = textOf(bytes)
    parseSyntax(text)
    return text
  } catch (error) {
    if (readMetadata(bytes).format !== 'text') return undefined
    throw error
  }
}

/** Writes all files aside first, so that one that cannot be written keeps all others as they are. */
async function save(edits: readonly Edit[]): Promise<void> {
  const prepared: Prepared[] = []
  const discard = (): Promise<unknown> => Promise.all(prepared.map((each) => each.discard()))
  for (const { path, before, after } of edits)
    try {
      if (path === STDIN) await print(after)
      else if (after !== before) prepared.push(await prepareRecord(path, after, true))
    } catch (error) {
      complainOf({ path, reason: reasonOf(error) })
      await discard()
      return exitWith(EXIT.failure)
    }
  try {
    for (const each of prepared) await each.commit()
  } finally {
    await discard()
  }
}

async function showPatch({ path, before, after }: Edit): Promise<void> {
  if (after === before) return
  const patch = createTwoFilesPatch(nameOf(path), nameOf(path), before, after, undefined, undefined, {
    context: 3,
    headerOptions: FILE_HEADERS_ONLY,
  })
  // Elsewhere it has to be what `patch` can apply.
  const colored = (process.stdout.isTTY ? visibleLines(patch) : patch)
    .replace(/^-(?!-- ).*$/gm, (line) => paint('red', line))
    .replace(/^\+(?!\+\+ ).*$/gm, (line) => paint('green', line))
    .replace(/^@@.*$/gm, (line) => paint('cyan', line))
  await print(colored)
}
