/**
 * Finds the exported functions that may be given what a stranger wrote, as the compiler sees them.
 * @module
 */
import { join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Types that hold what a stranger wrote, beside texts, bytes and what is not known at all. */
const HOLDERS = new Set(['Uint8Array', 'HttpRequest', 'RequestLike', 'Request', 'Response', 'MetaData', 'Unknown'])

/** Types that hold values of other types. */
const CONTAINERS = new Set(['Array', 'ReadonlyArray', 'Map', 'ReadonlyMap', 'Set', 'ReadonlySet'])

/**
 * Lists the exported functions, and the functions of exported objects, that take a text, bytes, a message or something unknown
 * as any of their arguments. Classes are no functions: what makes and uses them is.
 * @param rooms - folders of `src`
 * @param madeUp - sources of files that are not there, by their paths below `src`
 * @returns each as `file name`, or `file object.name`
 */
export function readersIn(
  rooms: readonly string[],
  madeUp: { readonly [file: string]: string } = {},
): {
  readonly files: readonly string[]
  readonly functions: ReadonlySet<string>
  readonly readers: ReadonlySet<string>
} {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const sources = join(ROOT, 'src')
  const virtual = new Map(Object.entries(madeUp).map(([file, text]) => [join(sources, file), text]))
  const host = ts.createCompilerHost(options)
  const { fileExists, getSourceFile } = host
  host.fileExists = (path) => virtual.has(path) || fileExists(path)
  host.getSourceFile = (path, version, ...rest) => {
    const text = virtual.get(path)
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version, true)
  }
  const paths = [
    ...rooms.flatMap((room) => ts.sys.readDirectory(join(sources, room), ['.ts'], ['**/generated/**'])),
    ...virtual.keys(),
  ]
  const program = ts.createProgram(paths, options, host)
  const checker = program.getTypeChecker()

  const functions = new Set<string>()
  const readers = new Set<string>()
  const note = (name: string, type: ts.Type): void => {
    for (const { parameters } of type.getCallSignatures()) {
      functions.add(name)
      if (parameters.some((parameter) => mayHold(checker, checker.getTypeOfSymbol(parameter)))) readers.add(name)
    }
  }
  for (const path of paths) {
    const source = program.getSourceFile(path)
    const module = source && checker.getSymbolAtLocation(source)
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      // What is exported again is found where it is.
      if (symbol.flags & ts.SymbolFlags.Alias || !(symbol.flags & ts.SymbolFlags.Value)) continue
      const type = checker.getTypeOfSymbol(symbol)
      const name = `${relative(sources, path)} ${symbol.name}`
      note(name, type)
      for (const member of type.getProperties()) {
        const isOurs = member.declarations?.some((one) => one.getSourceFile().fileName.startsWith(`${sources}/`))
        if (isOurs === true) note(`${name}.${member.name}`, checker.getTypeOfSymbol(member))
      }
    }
  }
  return { files: paths.map((path) => relative(sources, path)), functions, readers }
}

function mayHold(checker: ts.TypeChecker, type: ts.Type): boolean {
  const { String: text, Unknown: unknown, Any: any, NonPrimitive: object } = ts.TypeFlags
  if (type.flags & (text | unknown | any | object)) return true
  if (type.isUnion()) return type.types.some((one) => mayHold(checker, one))
  const name = type.symbol?.name
  if (name !== undefined && HOLDERS.has(name)) return true
  if (name !== undefined && CONTAINERS.has(name))
    // It is one of those, and so refers to its arguments.
    return checker.getTypeArguments(type as ts.TypeReference).some((one) => mayHold(checker, one))
  const values = checker.getIndexTypeOfType(type, ts.IndexKind.String)
  return values !== undefined && mayHold(checker, values)
}
