/**
 * Checks of the sources that a maintainer reads: their docstrings, and the length of files, functions and folders.
 * @module
 */
import ts from 'typescript'

/** The most lines of a file. */
export const FILE_LINES = 300

/** The most lines of a function, with the functions inside it. */
export const FUNCTION_LINES = 60

/** The most files of a folder, those in its folders not counted. */
export const FOLDER_FILES = 12

/** The beginnings of a docstring that has to be read twice. */
const RIDDLE = /^(?:What|Whether|Which|How|Where|The same)\b/

/**
 * Finds what makes a source hard to read.
 * @param isGenerated - true for code that may be long; its docstrings are ours, since they come from the proto file
 */
export function faultsOfSource(text: string, isGenerated = false): readonly string[] {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true)
  if (isGenerated) return riddles(source)
  const lines = text.trimEnd().split('\n').length
  const tooLong = lines > FILE_LINES ? [`has ${lines} lines`] : []
  return [...tooLong, ...longFunctions(source), ...riddles(source)]
}

/** Finds the folders that have too many files. @param files - their paths */
export function faultsOfFolders(files: readonly string[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>()
  for (const file of files) {
    const folder = file.split('/').slice(0, -1).join('/')
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return new Map(
    [...counts].flatMap(([folder, count]) => (count > FOLDER_FILES ? [[folder, `has ${count} files`]] : [])),
  )
}

function longFunctions(source: ts.SourceFile): readonly string[] {
  const faults: string[] = []
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = lineOf(node.getStart(source))
      const lines = lineOf(node.end) - first + 1
      if (lines > FUNCTION_LINES) faults.push(`line ${first}: a function of ${lines} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return faults
}

function riddles(source: ts.SourceFile): readonly string[] {
  const faults: string[] = []
  const seen = new Set<number>()
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return
    for (const { pos, end } of ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? []) {
      if (seen.has(pos)) continue
      seen.add(pos)
      const [riddle] = RIDDLE.exec(docstringIn(source.text.slice(pos, end))) ?? []
      if (riddle === undefined || (riddle === 'Whether' && isBoolean(node))) continue
      faults.push(`line ${source.getLineAndCharacterOfPosition(pos).line + 1}: a docstring begins with ${riddle}`)
    }
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return faults
}

/** Returns the text of a docstring; nothing of another comment. */
function docstringIn(comment: string): string {
  return comment.startsWith('/**') ? comment.replace(/^\/\*\*[\s*]*/, '') : ''
}

/** Returns true for the declaration of a boolean, of a function that returns one, or of a list that has one. */
function isBoolean(node: ts.Node): boolean {
  if (node.kind === ts.SyntaxKind.SyntaxList || ts.isSourceFile(node)) {
    const [first] = node.getChildren()
    return first !== undefined && isBoolean(first)
  }
  if (ts.isVariableStatement(node)) return node.declarationList.declarations.some(isBoolean)
  if (ts.isVariableDeclaration(node) && node.type === undefined)
    return node.initializer !== undefined && isBoolean(node.initializer)
  const type = 'type' in node ? (node.type as ts.Node | undefined) : undefined // each declaration's own kind
  if (type === undefined) return false
  if (ts.isTypePredicateNode(type)) return true
  if (ts.isFunctionTypeNode(type)) return isBoolean(type)
  return /\bboolean\b/.test(type.getText())
}
