/**
 * Reads the program as the compiler does and tells what a file may not have: imports that its room does not permit,
 * globals that know the time, chance or the machine, and anything that waits.
 * @module
 */
import { dirname, join, relative } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The reach of an import into another room: everything, types alone, or the types of one file. */
type Reach = 'everything' | 'types' | { readonly typesOf: string }

interface Room {
  /** Other rooms of `src`; its own, and the room around it, are always open, save where `apart` says so. */
  readonly rooms: { readonly [name: string]: Reach }
  /** Packages and Node's modules, by what their names begin with. */
  readonly packages?: readonly string[]
  /** Its files are adapters beside each other: none imports another, save the files and folders (`shared/`) that they share. */
  readonly apart?: { readonly save: readonly string[] }
  /** True if its files neither know their surroundings nor wait for anything. */
  readonly pure?: boolean
}

const CORE = {
  core: 'everything',
  'core/credentials': 'everything',
  'core/application': 'everything',
  'core/grant': 'everything',
} as const

const PURE = { pure: true, packages: ['@noble/hashes/'] } as const

/** DESIGN, "Rooms, and what each may import". A room is a folder with all that lies in it, but for folders and files that are rooms. */
export const ROOMS: { readonly [folder: string]: Room } = {
  // An error has the faults of a registration.
  core: { rooms: { 'core/application': { typesOf: 'faults.ts' } }, ...PURE },
  'core/credentials': { rooms: {}, ...PURE },
  'core/application': { rooms: { 'core/credentials': 'everything' }, ...PURE },
  'core/grant': { rooms: { 'core/credentials': 'everything', 'core/application': 'everything' }, ...PURE },
  // The entry point `grantwell/core`.
  'core/index.ts': { rooms: CORE, ...PURE },
  protocol: { rooms: CORE, pure: true },
  storage: {
    rooms: CORE,
    packages: ['@noble/hashes/'],
    apart: { save: ['record-store.ts', 'shared/'] },
  },
  pages: { rooms: {} },
  shell: {
    rooms: {
      ...CORE,
      'shell/host.ts': 'everything',
      protocol: 'everything',
      pages: 'everything',
      storage: { typesOf: 'record-store.ts' },
    },
  },
  // Calls of a host's functions, which the client makes too.
  'shell/host.ts': { rooms: CORE },
  guard: {
    rooms: {
      ...CORE,
      protocol: 'everything',
      shell: 'everything',
      'shell/host.ts': 'everything',
      storage: { typesOf: 'record-store.ts' },
    },
  },
  management: {
    rooms: {
      ...CORE,
      // A change takes the request that it came by, for the audit trail.
      protocol: { typesOf: 'message.ts' },
      shell: 'everything',
      storage: { typesOf: 'record-store.ts' },
    },
  },
  endpoints: {
    rooms: {
      ...CORE,
      protocol: 'everything',
      pages: 'everything',
      shell: 'everything',
      'shell/host.ts': 'everything',
      guard: 'everything',
      management: 'everything',
      storage: { typesOf: 'record-store.ts' },
    },
  },
  // The entry point `grantwell/console`, which a server knows nothing of.
  console: {
    rooms: {
      ...CORE,
      '': 'types',
      protocol: 'everything',
      pages: 'everything',
      shell: 'everything',
      'shell/host.ts': 'everything',
      management: 'everything',
      endpoints: 'everything',
      storage: { typesOf: 'record-store.ts' },
    },
  },
  // The composition root: `index.ts`, `server.ts` and `routes.ts`.
  '': {
    rooms: {
      ...CORE,
      protocol: 'everything',
      pages: 'types',
      shell: 'everything',
      guard: 'everything',
      management: 'everything',
      endpoints: 'everything',
      storage: { typesOf: 'record-store.ts' },
    },
  },
  adapters: {
    rooms: {
      '': 'types',
      shell: 'everything',
      'shell/host.ts': 'everything',
      guard: 'everything',
      protocol: 'everything',
      core: 'types',
      'core/credentials': 'types',
    },
    apart: { save: ['body.ts', 'headers.ts', 'pipelining.ts'] },
  },
  client: {
    rooms: { ...CORE, protocol: 'everything', guard: 'types', shell: 'types', 'shell/host.ts': 'everything' },
    packages: ['oauth4webapi'],
  },
  opentelemetry: {
    rooms: {
      ...CORE,
      '': 'types',
      protocol: 'everything',
      shell: 'everything',
      guard: 'types',
      storage: 'everything',
    },
    packages: ['@opentelemetry/api'],
  },
  metadata: { rooms: {}, packages: ['@bufbuild/protobuf/wire'] },
  testing: {
    rooms: {
      ...CORE,
      '': 'everything',
      pages: 'everything',
      protocol: 'everything',
      shell: 'everything',
      storage: 'everything',
    },
    packages: ['fast-check'],
  },
  // Opens the stores of others: a configuration file, and the clients of engines that a project has installed.
  'cli/shell/connect.ts': {
    rooms: { '': 'everything', storage: 'everything' },
    packages: ['node:', 'commander', 'pg', 'ioredis', '(computed)'],
  },
  // Checks the records of a server.
  'cli/shell/check-store.ts': {
    rooms: { '': 'types', shell: 'everything', 'cli/shell/connect.ts': 'everything', cli: 'everything' },
    packages: ['node:'],
  },
  cli: {
    rooms: {
      metadata: 'everything',
      '': 'types',
      'cli/shell/connect.ts': 'everything',
      'cli/shell/check-store.ts': 'everything',
    },
    packages: ['node:', '@clack/prompts', 'commander', 'console-table-printer', 'diff'],
  },
}

/** Folders that speak to Node. */
const OF_NODE = /^(?:adapters|client)\/node\//

/** Globals that a pure file may name: values whose results depend on their arguments alone. */
const PURE_VALUES = new Set([
  ...[
    'undefined',
    'Infinity',
    'NaN',
    'Math',
    'Number',
    'String',
    'Object',
    'Array',
    'Map',
    'Set',
    'JSON',
    'RegExp',
    'Intl',
    'BigInt',
  ],
  ...['Uint8Array', 'Int8Array', 'Error', 'TypeError', 'URL', 'TextEncoder'],
  ...['decodeURIComponent', 'encodeURIComponent', 'atob'],
])

/** The members of these that a pure file may name; of the others all. */
const PURE_MEMBERS: { readonly [name: string]: ReadonlySet<string> } = {
  Math: new Set(['ceil', 'floor', 'max', 'min']),
  // `Locale` needs a tag, so it never reads the language of the machine.
  Intl: new Set(['Locale', 'Segmenter']),
}

/** Members of any value that depend on where the program runs, or lead to what runs a string. */
const IMPURE_MEMBER = /^(?:toLocale.*|localeCompare|constructor|__proto__)$/

/** Types of the language that say nothing of the world. */
const PURE_TYPES = new Set([
  ...['Pick', 'Omit', 'Partial', 'Required', 'Readonly', 'Record', 'Extract', 'Exclude', 'Parameters', 'ReturnType'],
  ...['ReadonlyMap', 'ReadonlySet', 'ReadonlyArray'],
])

/** One import of a file, of whatever form. */
interface Import {
  readonly from: string
  readonly typeOnly: boolean
}

/** A program: the files of `src`, and others that are only made up. */
export interface Sources {
  /** Paths below `src`. */
  readonly files: readonly string[]
  /** Returns the faults of a file; an empty list if there are none. */
  readonly faultsOf: (file: string) => readonly string[]
  /** Files that import themselves in a circle, as one line each. */
  readonly cycles: (files: readonly string[]) => readonly string[]
}

/** @param madeUp - sources of files that are not there, by their paths below `src` */
export function readSources(madeUp: { readonly [file: string]: string } = {}): Sources {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const virtual = new Map(Object.entries(madeUp).map(([file, text]) => [join(ROOT, 'src', file), text]))
  const files = ts.sys.readDirectory(join(ROOT, 'src'), ['.ts']).map((path) => relative(join(ROOT, 'src'), path))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => virtual.has(path) || fileExists(path)
  host.readFile = (path) => virtual.get(path) ?? readFile(path)
  host.getSourceFile = (path, version, ...rest) => {
    const text = virtual.get(path)
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version, true)
  }
  const paths = [...files.map((file) => join(ROOT, 'src', file)), ...virtual.keys()]
  const program = ts.createProgram(paths, options, host)
  const checker = program.getTypeChecker()

  const sourceOf = (file: string): ts.SourceFile => {
    const source = program.getSourceFile(join(ROOT, 'src', file))
    if (source === undefined) throw new Error(`no such file: ${file}`)
    return source
  }

  return {
    files,
    faultsOf: (file) => {
      const source = sourceOf(file)
      const room = ROOMS[roomOf(file)]
      if (room === undefined) return [`the room ${roomOf(file)} has no rule`]
      return [...importFaults(file, room, importsOf(source)), ...(room.pure ? impurities(source, checker) : [])]
    },
    cycles: (among) =>
      cyclesOf(
        new Map(
          among.map((file) => [file, importsOf(sourceOf(file)).flatMap(({ from }) => targetOf(file, from) ?? [])]),
        ),
      ),
  }
}

/** The innermost room that a file lies in, or is. */
function roomOf(file: string): string {
  if (file in ROOMS) return file
  let folder = dirname(file)
  while (!(folder in ROOMS) && folder.includes('/')) folder = dirname(folder)
  return folder === '.' ? '' : folder
}

/** The file below `src` that a relative import means. */
function targetOf(file: string, from: string): string | undefined {
  return from.startsWith('.') ? join(dirname(file), from).replace(/\.js$/, '.ts') : undefined
}

function importsOf(source: ts.SourceFile): readonly Import[] {
  const imports: Import[] = []
  const add = (node: ts.Node | undefined, typeOnly: boolean): void => {
    if (node !== undefined) imports.push({ from: ts.isStringLiteralLike(node) ? node.text : '(computed)', typeOnly })
  }
  const visit = (node: ts.Node): void => {
    // `import { type X }` still loads the module: only a whole `import type` does not (verbatimModuleSyntax).
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isExternalModuleReference(node)) add(node.expression, false)
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument, true)
    else if (
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword || isRequire(node.expression))
    )
      add(node.arguments[0], false)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return imports
}

function isRequire(expression: ts.Expression): boolean {
  return ts.isIdentifier(expression) && expression.text === 'require'
}

function importFaults(file: string, room: Room, imports: readonly Import[]): readonly string[] {
  return imports.flatMap(({ from, typeOnly }) => {
    const target = targetOf(file, from)
    if (target === undefined) {
      const allowed =
        room.packages?.some((name) => from.startsWith(name)) || (OF_NODE.test(file) && from.startsWith('node:'))
      return allowed ? [] : [`imports ${from}`]
    }
    if (target.startsWith('..')) return [`imports ${from}, which is outside`]
    const [own, other] = [roomOf(file), roomOf(target)]
    if (own === other) {
      const { apart } = room
      const open =
        apart === undefined ||
        stem(file) === stem(target) ||
        apart.save.some((name) => isWithin(`${own}/${name}`, target))
      return open ? [] : [`imports ${target}, which is beside it`]
    }
    const reach = own.startsWith(`${other}/`) ? 'everything' : room.rooms[other]
    if (reach === undefined) return [`imports the room ${other === '' ? 'src' : other}`]
    if (reach === 'everything') return []
    if (!typeOnly) return [`imports more than types of the room ${other}`]
    return reach === 'types' || target === `${other}/${reach.typesOf}` ? [] : [`imports ${target}`]
  })
}

/** Checks that a file is the one at a path, or lies in the folder there. */
function isWithin(path: string, file: string): boolean {
  return path.endsWith('/') ? file.startsWith(path) : file === path
}

/** Returns the platform of a file within a room: `node` for `adapters/node/body.ts`. */
function stem(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/, '')
}

function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const cycles: string[] = []
  const done = new Set<string>()
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    if (path.includes(file) || done.has(file)) return
    for (const target of graph.get(file) ?? []) walk(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) walk(file, [])
  return cycles
}

function impurities(source: ts.SourceFile, checker: ts.TypeChecker): readonly string[] {
  const faults: string[] = []
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.AsyncKeyword) faults.push('is async')
    if (ts.isAwaitExpression(node) || node.kind === ts.SyntaxKind.AwaitKeyword) faults.push('awaits')
    if (ts.isMetaProperty(node)) faults.push(`uses ${node.getText()}`)
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      faults.push('imports while it runs')
    if (isAmbient(node)) faults.push(`declares ${node.getText()}`)
    else if (ts.isVariableStatement(node) && node.parent === source && !isConstant(node))
      faults.push('has a variable of the module')
    if (ts.isRegularExpressionLiteral(node) && /[gy]\w*$/.test(node.text))
      faults.push(`has a regular expression with a memory: ${node.text}`)
    if (ts.isIdentifier(node)) faults.push(...identifierFaults(node, checker))
    if (ts.isElementAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text in PURE_MEMBERS)
      faults.push(`uses ${node.getText()}`)
    if (
      ts.isElementAccessExpression(node) &&
      ts.isStringLiteralLike(node.argumentExpression) &&
      IMPURE_MEMBER.test(node.argumentExpression.text)
    )
      faults.push(`uses ${node.getText()}`)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return faults
}

/** A declaration of something that is said to exist elsewhere: a way around this check. A brand exists nowhere. */
function isAmbient(node: ts.Node): boolean {
  if (!ts.canHaveModifiers(node)) return false
  if (!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword)) return false
  const [variable, ...more] = ts.isVariableStatement(node) ? node.declarationList.declarations : []
  return more.length > 0 || variable?.type === undefined || !ts.isTypeOperatorNode(variable.type)
}

function isConstant(node: ts.VariableStatement): boolean {
  return (node.declarationList.flags & ts.NodeFlags.Const) !== 0
}

function identifierFaults(node: ts.Identifier, checker: ts.TypeChecker): readonly string[] {
  const { parent, text } = node
  if (ts.isMetaProperty(parent) || ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return []
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return IMPURE_MEMBER.test(text) ? [`uses .${text}`] : []
  if (ts.isBindingElement(parent) && parent.propertyName === node)
    return IMPURE_MEMBER.test(text) ? [`uses .${text}`] : []
  const symbol = ts.isShorthandPropertyAssignment(parent)
    ? checker.getShorthandAssignmentValueSymbol(parent)
    : checker.getSymbolAtLocation(node)
  if (symbol === undefined) return [`uses the unknown name ${text}`]
  if (!isGlobal(symbol)) return []
  const members = PURE_MEMBERS[text]
  if (members !== undefined) {
    const member = memberOf(node)
    return member !== undefined && members.has(member)
      ? []
      : [`uses ${text}${member === undefined ? '' : `.${member}`}`]
  }
  const known = PURE_VALUES.has(text) || (ts.isPartOfTypeNode(node) && PURE_TYPES.has(text)) || text === 'const'
  return known ? [] : [`uses ${text}`]
}

/** Returns the member that an expression reads, such as `max` of `Math.max`; undefined if `Math` is used as a value. */
function memberOf(node: ts.Identifier): string | undefined {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) && parent.expression === node) return parent.name.text
  return ts.isQualifiedName(parent) && parent.left === node ? parent.right.text : undefined
}

/** Checks whether a name is declared globally by the language, the platform or Node's types, and not by an import. */
function isGlobal(symbol: ts.Symbol): boolean {
  const declarations = symbol.declarations ?? []
  // `undefined`, `globalThis` and `arguments` are declared nowhere.
  if (declarations.length === 0) return true
  return declarations.every((declaration) => {
    const file = declaration.getSourceFile().fileName
    return /\/node_modules\/(?:typescript\/lib|@types)\//.test(file) && isTopLevel(declaration)
  })
}

function isTopLevel(declaration: ts.Declaration): boolean {
  let parent: ts.Node = declaration.parent
  if (ts.isVariableDeclarationList(parent)) parent = parent.parent.parent
  if (ts.isModuleBlock(parent)) return (parent.parent.flags & ts.NodeFlags.GlobalAugmentation) !== 0
  return ts.isSourceFile(parent)
}
