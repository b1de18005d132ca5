/**
 * Our own sources with one mistake made on purpose, bundled and loaded: the kit must find it.
 *
 * A mistake is an edit of the syntax tree: an expression in a function becomes another one. So it does not matter how the
 * sources are formatted, nor in which file of its folder the function is.
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** An edit of the syntax tree. */
export interface Edit {
  /** The function, or the constant; all there is by default. */
  readonly within?: string
  /** An expression. A name that begins with `$` stands for any expression; `?.` and `.` are the same. */
  readonly find: string
  /** The expression in its place; names that begin with `$` are those that were found. */
  readonly replace: string
  /** True to replace every place that is found, one at least; else there must be exactly one. */
  readonly everywhere?: true
}

/** An edit of our own sources. */
export interface RoomEdit extends Edit {
  /** The folder below `src` that has the function. */
  readonly room: string
}

/** A mistake: one edit, or several that make it together. */
export interface Mutation {
  /** The mistake, in words; names the bundle, too. */
  readonly name: string
  readonly edits: readonly RoomEdit[]
}

/** Sources by their paths. */
export type Sources = ReadonlyMap<string, string>

/**
 * Makes edits.
 * @returns the sources that changed
 * @throws Error for an edit whose expression is not there exactly once: then it no longer says what it means
 */
export function mutate(sources: Sources, edits: readonly Edit[]): Sources {
  const changed = new Map<string, string>()
  for (const edit of edits) {
    const pattern = parseExpression(edit.find)
    const places = [...sources].flatMap(([path, text]) => {
      const source = parse(path, changed.get(path) ?? text)
      return scopesOf(source, edit.within).flatMap((scope) => placesIn(scope, pattern, source, path))
    })
    if (edit.everywhere ? places.length === 0 : places.length !== 1)
      throw new Error(`found ${places.length} times in ${edit.within ?? 'all files'}: ${edit.find}`)
    // From the last to the first, so that no place moves.
    for (const { path, start, end, captured } of places.toReversed()) {
      const text = changed.get(path) ?? sources.get(path) ?? ''
      const made = edit.replace.replaceAll(/\$\w+/g, (name) => captured.get(name) ?? name)
      changed.set(path, `${text.slice(0, start)}(${made})${text.slice(end)}`)
    }
  }
  return changed
}

/** A place of an expression, with the texts for the names that begin with `$`. */
interface Place {
  readonly path: string
  readonly start: number
  readonly end: number
  readonly captured: ReadonlyMap<string, string>
}

function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
}

function parseExpression(text: string): ts.Expression {
  const [statement] = parse('pattern.ts', `(${text})`).statements
  if (statement === undefined || !ts.isExpressionStatement(statement)) throw new Error(`not an expression: ${text}`)
  return bare(statement.expression)
}

/** Finds the declarations of a name: functions, methods and constants. The whole file stands for no name. */
function scopesOf(source: ts.SourceFile, name: string | undefined): readonly ts.Node[] {
  if (name === undefined) return [source]
  const scopes: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    const isDeclaration =
      ts.isFunctionDeclaration(node) ||
      ts.isVariableDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isPropertyAssignment(node)
    if (isDeclaration && node.name !== undefined && ts.isIdentifier(node.name) && node.name.text === name)
      scopes.push(node)
    else ts.forEachChild(node, visit)
  }
  visit(source)
  return scopes
}

function placesIn(scope: ts.Node, pattern: ts.Expression, source: ts.SourceFile, path: string): readonly Place[] {
  const places: Place[] = []
  const visit = (node: ts.Node): void => {
    const captured = new Map<string, string>()
    if (!ts.isParenthesizedExpression(node) && matches(pattern, node, captured))
      places.push({ path, start: node.getStart(source), end: node.end, captured })
    else ts.forEachChild(node, visit)
  }
  visit(scope)
  return places
}

/** Compares two trees, whatever their layout, parentheses and kind of quotes. */
function matches(pattern: ts.Node, candidate: ts.Node, captured: Map<string, string>): boolean {
  const [wanted, node] = [bare(pattern), bare(candidate)]
  if (ts.isIdentifier(wanted) && wanted.text.startsWith('$')) {
    captured.set(wanted.text, node.getText())
    return true
  }
  if (wanted.kind !== node.kind) return false
  if (ts.isPrefixUnaryExpression(wanted) && ts.isPrefixUnaryExpression(node) && wanted.operator !== node.operator)
    return false
  const [some, others] = [childrenOf(wanted), childrenOf(node)]
  if (some.length !== others.length) return false
  if (some.length === 0) return leafOf(wanted) === leafOf(node)
  return some.every((child, index) => {
    const other = others[index]
    return other !== undefined && matches(child, other, captured)
  })
}

function bare<Node extends ts.Node>(node: Node): Node | ts.Expression {
  return ts.isParenthesizedExpression(node) ? bare(node.expression) : node
}

function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => {
    if (child.kind !== ts.SyntaxKind.QuestionDotToken) children.push(child)
  })
  return children
}

function leafOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : node.getText()
}

/** Reads the sources of rooms. */
export function sourcesOf(rooms: readonly string[]): Sources {
  const paths = rooms.flatMap((room) =>
    readdirSync(join(ROOT, 'src', room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(ROOT, 'src', room, name)),
  )
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

/** Makes the edits of a mutation in our own sources. @returns the files that changed, by their paths */
export function mutatedSources({ edits }: Mutation): Sources {
  let changed: Sources = new Map()
  for (const edit of edits) {
    const sources = new Map([...sourcesOf([edit.room])].map(([path, text]) => [path, changed.get(path) ?? text]))
    changed = new Map([...changed, ...mutate(sources, [edit])])
  }
  return changed
}

/**
 * Loads the entry point `grantwell` with a mutation in it.
 * @throws Error where the mutation has no place
 */
export async function mutant(mutation: Mutation): Promise<typeof import('grantwell')> {
  const changed = mutatedSources(mutation)
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'src/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    external: ['node:*', 'fast-check'],
    plugins: [
      {
        name: 'mutation',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const contents = changed.get(path)
            return contents === undefined ? undefined : { contents, loader: 'ts' }
          })
        },
      },
    ],
  })
  const directory = join(ROOT, 'temp/mutants')
  mkdirSync(directory, { recursive: true })
  const output = join(directory, `${process.pid}-${mutation.name.replaceAll(/\W+/g, '-')}.mjs`)
  writeFileSync(output, outputFiles[0]?.contents ?? '')
  return await import(/* @vite-ignore */ pathToFileURL(output).href)
}
