/**
 * Writes the tables of options, events, errors and reasons of the reference, from the sources, and names the pages of TypeDoc after
 * their entry points: `node docs/tables.mjs`.
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))

const ENGINE = ['src/storage/shared/options.ts', 'EngineOptions']
const REMOTE = ['src/storage/shared/options.ts', 'RemoteEngineOptions']

/** The page of each entry point, as TypeDoc names it: after its source. */
export const ENTRY_POINTS = {
  grantwell: 'index-1',
  'grantwell/core': 'core',
  'grantwell/console': 'console',
  'grantwell/node': 'adapters/node',
  'grantwell/fetch': 'adapters/fetch',
  'grantwell/storage/memory': 'storage/memory',
  'grantwell/storage/sqlite': 'storage/sqlite',
  'grantwell/storage/postgres': 'storage/postgres',
  'grantwell/storage/redis': 'storage/redis',
  'grantwell/pages': 'pages',
  'grantwell/metadata': 'metadata/',
  'grantwell/client': 'client',
  'grantwell/client/node': 'client/node',
  'grantwell/testing': 'testing',
  'grantwell/opentelemetry': 'opentelemetry',
}

/** Functions with options, each with the interfaces of these. */
const OPTIONS = [
  ['createAuthorizationServer', [['src/shell/options.ts', 'AuthorizationServerOptions']]],
  ['createNodeGuard', [['src/adapters/node/guard.ts', 'NodeGuardOptions']]],
  ['memoryStore', [['src/storage/memory.ts', 'MemoryStoreOptions']]],
  ['sqliteStore', [['src/storage/sqlite.ts', 'SqliteStoreOptions'], ENGINE]],
  ['postgresStore', [['src/storage/postgres.ts', 'PostgresStoreOptions'], REMOTE, ENGINE]],
  ['redisStore', [REMOTE, ENGINE]],
  ['discover', [['src/client/client.ts', 'ClientOptions']]],
  ['login', [['src/client/login.ts', 'LoginOptions']]],
  ['loginByBrowser', [['src/client/node/browser-login.ts', 'BrowserLoginOptions']]],
  ['createTokenSource', [['src/client/tokens/token-source.ts', 'TokenSourceOptions']]],
  ['authorizedFetch', [['src/client/fetch/authorized-fetch.ts', 'AuthorizedFetchOptions']]],
  ['resourceServer', [['src/client/resource-server/resource-server.ts', 'ResourceServerOptions']]],
  ['storageContract', [['src/testing/storage-contract.ts', 'StorageContractOptions']]],
  ['lifecycle', [['src/testing/lifecycle.ts', 'LifecycleOptions']]],
  ['explore', [['src/testing/explore.ts', 'ExploreOptions']]],
]

/** Types whose members are the rows of a table, each with its title and its file. */
const UNIONS = [
  ['errors', 'Errors that clients get', 'src/core/errors.ts', 'OAuthErrorCode'],
  ['errors', 'Reasons in the audit trail', 'src/core/errors.ts', 'RefusalReason'],
  ['errors', 'Errors that functions throw', 'src/core/errors.ts', 'GrantwellErrorCode'],
]

/** Types of events. Each of their `type`s is a row. */
const EVENTS = [
  ['src/core/grant/outcome.ts', 'DeviceRequestedEvent'],
  ['src/core/grant/outcome.ts', 'DecidedEvent'],
  ['src/core/application/life/outcome.ts', 'ApplicationEvent'],
  ['src/shell/audit.ts', 'AuditEvent'],
]

/**
 * Reads all tables: rows of name, type and description, by page and title.
 * @returns {{ page: string, title: string, rows: { name: string, type: string, text: string }[] }[]}
 */
export function readTables() {
  const sources = new Map()
  const rows = (read, file, name) => {
    const source = sources.get(file) ?? parse(file)
    sources.set(file, source)
    return read(find(source, name), source)
  }
  const optionTables = OPTIONS.map(([title, interfaces]) => {
    return { page: 'options', title, rows: interfaces.flatMap(([file, name]) => rows(rowsOfInterface, file, name)) }
  })
  const unionTables = UNIONS.map(([page, title, file, name]) => ({ page, title, rows: rows(rowsOfUnion, file, name) }))
  const events = EVENTS.flatMap(([file, name]) => rows(eventsOf, file, name))
  return [...optionTables, ...unionTables, { page: 'events', title: 'Events', rows: events }]
}

function parse(file) {
  return ts.createSourceFile(file, ts.sys.readFile(`${root}${file}`), ts.ScriptTarget.ES2022, true)
}

function find(source, name) {
  const found = source.statements.find((statement) => statement.name?.text === name)
  if (found === undefined) throw new Error(`${source.fileName} has no ${name}`)
  return found
}

function rowsOfInterface(declaration, source) {
  return declaration.members.map((member) => {
    const isOptional = member.questionToken !== undefined
    const type = member.type?.getText(source).replace(/\s+/g, ' ') ?? ''
    return { name: member.name.getText(source) + (isOptional ? '' : ' (required)'), type, text: docOf(member, source) }
  })
}

function rowsOfUnion(declaration, source) {
  const { type } = declaration
  return type.types.map((member) => ({ name: member.literal.text, type: '', text: docOf(member, source) }))
}

/** Rows of the events in a declaration: an interface, or a union or an intersection with literals in it. */
function eventsOf(declaration, source) {
  const members = ts.isInterfaceDeclaration(declaration) ? [declaration] : literalsIn(declaration.type)
  return members.map((member) => {
    const fields = member.members
    const kind = fields.find(({ name }) => name.getText(source) === 'type')
    const rest = fields.filter(({ name }) => name.getText(source) !== 'type')
    const fieldsText = rest.map((field) => field.name.getText(source) + (field.questionToken ? '?' : '')).join(', ')
    return { name: kind.type.literal.text, type: fieldsText, text: docOf(member, source) || docOf(kind, source) }
  })
}

function literalsIn(type) {
  if (ts.isTypeLiteralNode(type)) return type.members.some(({ name }) => name.text === 'type') ? [type] : []
  if (ts.isParenthesizedTypeNode(type)) return literalsIn(type.type)
  if (ts.isUnionTypeNode(type) || ts.isIntersectionTypeNode(type)) return type.types.flatMap(literalsIn)
  return []
}

/** Returns the docstring before a node, as one line. That of a member of a union stands before its bar. */
function docOf(node, source) {
  const { parent } = node
  const siblings = parent !== undefined && ts.isUnionTypeNode(parent) ? parent.types : []
  const at = siblings.indexOf(node)
  const begin = at > 0 ? siblings[at - 1].end : at === 0 ? parent.parent.getStart(source) : node.pos
  const comments = source.text.slice(begin, node.getStart(source)).match(/\/\*\*[\s\S]*?\*\//g) ?? []
  const lines = (comments.at(-1) ?? '').replace(/^\/\*\*|\*\/$/g, '').split('\n')
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .filter((line) => line !== '')
    .join(' ')
}

/** What stands between the title of a page and its tables. */
const INTRODUCTIONS = {
  events: [
    'These fields are common:',
    '',
    '| Field | Meaning |',
    '|---|---|',
    '| `at` | the time, in seconds since 1970, in UTC |',
    '| `grantId` | the grant. It is the characters 21 to 42 of its code and of its tokens |',
    '| `clientId` | the application that the grant belongs to. In `refused` it is the client that presented the code or token; at `introspection` the API that asked. Events of an application have `applicationId` |',
    '| `subject` | the user who decided. Absent before a decision, and mostly in `refused` |',
    '',
    'So in a `refused` event with `credential_of_another_client`, `clientId` is whoever presented the code or token. `grantId` leads to its owner.',
    '',
    '`cause` of a `revoked` event says who ended it:',
    '',
    '| `cause` | Meaning |',
    '|---|---|',
    '| `client` | the client, at the revocation endpoint |',
    '| `replay` | the service, since a code or refresh token came back |',
    '| `user` | the user, at `/oauth2/applications`, or `revokeGrant` and `revokeAll` |',
    '| `administrator` | the host, by `revokeApplication`, `revokeEverything`, `grants.erase`, or by deleting or erasing an application |',
    '| `limit` | a newer grant of the same user to the same application (`grantLimit`) |',
    '',
  ],
}

const TITLES = { options: 'Options', events: 'Events', errors: 'Errors and reasons' }

function pageOf(page, tables) {
  const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('{', '&#123;').replaceAll('<', '&lt;')
  const code = (text) => (text === '' ? '' : `<code v-pre>${escaped(text)}</code>`)
  const text = (value) =>
    escaped(value)
      .replace(/`([^`]*)`/g, '<code v-pre>$1</code>')
      .replace(/&#123;@link ([^}]*)\}/g, '<code>$1</code>')
  const parts = tables.flatMap(({ title, rows }) => {
    const hasType = rows.some(({ type }) => type !== '')
    const head = hasType ? ['| Name | Type | Meaning |', '|---|---|---|'] : ['| Name | Meaning |', '|---|---|']
    const body = rows.map(
      (row) => `| ${[code(row.name), ...(hasType ? [code(row.type)] : []), text(row.text)].join(' | ')} |`,
    )
    return [`## ${title}`, '', ...head, ...body, '']
  })
  return [`# ${TITLES[page]}`, '', ...(INTRODUCTIONS[page] ?? []), ...parts].join('\n')
}

/** Gives the page of each entry point, and its place in the list of them, the name by which it is imported. */
function nameEntryPoints() {
  const list = `${root}docs/reference/index.md`
  let text = readFileSync(list, 'utf8').replace('## Modules', '## Entry points')
  for (const [name, path] of Object.entries(ENTRY_POINTS)) {
    const link = `${path.replace(/\/$/, '/index')}.md`
    const page = `${root}docs/reference/${link}`
    const title = /^# .*/
    if (!title.test(readFileSync(page, 'utf8'))) throw new Error(`${link} has no title`)
    writeFileSync(page, readFileSync(page, 'utf8').replace(title, `# ${name}`))
    if (!text.includes(`](${link})`)) throw new Error(`the list of entry points has no ${link}`)
    text = text.replace(new RegExp(`\\[[^\\]]*\\]\\(${link}\\)`), `[${name}](${link})`)
  }
  writeFileSync(list, text)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tables = readTables()
  mkdirSync(`${root}docs/reference`, { recursive: true })
  for (const page of Object.keys(TITLES))
    writeFileSync(
      `${root}docs/reference/${page}.md`,
      pageOf(
        page,
        tables.filter((table) => table.page === page),
      ),
    )
  nameEntryPoints()
}
