/**
 * The text of `service.mjs`.
 * @module
 */
import type { Framework } from './frameworks.js'
import type { Store } from './stores.js'

/** Imports that every service has. */
const IMPORTS = [
  "import { randomUUID } from 'node:crypto'",
  "import { realpathSync } from 'node:fs'",
  "import { createAuthorizationServer } from 'grantwell'",
]

/** Writes the service of a framework and a store. */
export function serviceText(framework: Framework, store: Store): string {
  const { listener, listen } = framework
  const records = store.title === 'memory' ? 'records in memory' : `records in ${store.title}`
  return `// @ts-check
/** An OAuth 2.0 authorization server and a guarded route on ${framework.title}, with ${records}. @module */
${importsOf(framework, store).join('\n')}

/**
 * Makes the service, which does not listen yet.
 * @param {{ issuer: string, store: import('grantwell').RecordStore }} options
 */
export function createService({ issuer, store }) {
  const signIn = placeholderSignIn(issuer)
  const server = createAuthorizationServer({
    issuer,
    store,
    digests: nodeDigests,
    user: ({ headers }) => signIn.userOf(\`\${headers.cookie}\`),
    signInUrl: signIn.urlFor,
    // Keep these lines: they alone say why a request was refused. No event holds a secret.
    onEvent: (event) => console.log(JSON.stringify(event)),
  })
${framework.routes}
  return { ${listener}, server }
}
${SIGN_IN}${store.open}${FIRST_APPLICATION}
async function start() {
  const { PORT = '8080', HOST = '127.0.0.1', ISSUER = \`http://127.0.0.1:\${PORT}\` } = process.env
  const { ${listener}, server } = createService({ issuer: ISSUER, store: await openStore() })
  const secret = await registerFirst(server)
  if (secret) console.log(\`client_id: first\\nclient_secret: \${secret}\`)
  await ${listen('Number(PORT)', 'HOST')}
  console.log(\`listening at \${ISSUER}\`)
}

// Run by \`node service.mjs\`, and not imported by a test.
if (process.argv[1] && realpathSync(process.argv[1]) === import.meta.filename)
  start().catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
`
}

const SIGN_IN = `
/**
 * REPLACE THIS: everybody is who they say they are. Your sign-in asks for a proof, and its cookie is \`Secure\`.
 * @param {string} issuer
 */
function placeholderSignIn(issuer) {
  if (!['127.0.0.1', '[::1]', 'localhost'].includes(new URL(issuer).hostname))
    throw new Error(\`The issuer is \${issuer}, and the sign-in asks for no password: replace placeholderSignIn first\`)
  /** @type {Map<string, import('grantwell').User>} */
  const sessions = new Map()
  return {
    page: '<!doctype html><form method="post"><input name="name" required><button>Sign in</button></form>',
    userOf: (/** @type {string} */ cookie) => sessions.get(/(?:^|; )session=([^;]+)/.exec(cookie)?.[1] ?? ''),
    // Without the issuer, so that the way back leads to no other site.
    urlFor: (/** @type {string} */ url) => \`/sign-in?return_to=\${encodeURIComponent(url.slice(issuer.length + 1))}\`,
    enter(/** @type {string} */ url, /** @type {string} */ form) {
      const [id, name] = [randomUUID(), new URLSearchParams(form).get('name') || 'nobody']
      sessions.set(id, { subject: name, name }) // a subject never changes, and never passes to another user
      const returnTo = new URL(url, issuer).searchParams.get('return_to') ?? ''
      const cookie = \`session=\${id}; Path=/; HttpOnly; SameSite=Lax\`
      return { cookie, location: new URL(\`\${issuer}/\${returnTo}\`).href }
    },
  }
}
`

const FIRST_APPLICATION = `
/**
 * Registers a first application where there is none. Returns its secret this once: the store keeps a digest.
 * @param {ReturnType<typeof createService>['server']} server
 */
export async function registerFirst(server) {
  if (await server.applications.get('first')) return undefined
  const logo = Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64') // one point
  const redirectUris = ['http://127.0.0.1/callback'] // with any port
  const about = { name: 'First application', website: 'https://app.example', redirectUris, logo }
  const rights = /** @type {const} */ ({ type: 'confidential', scopes: ['account-profile:r'], resourceScope: 'all' })
  const { clientSecret } = await server.applications.register({ ...about, ...rights }, { clientId: 'first' })
  return clientSecret
}
`

/** Returns the import lines in the order of their modules, with those of Node first. */
function importsOf(framework: Framework, store: Store): readonly string[] {
  const waits = framework.listen('', '').startsWith('once') ? ["import { once } from 'node:events'"] : []
  const lines = [...IMPORTS, ...waits, ...framework.imports, ...store.imports]
  return lines.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
}

function sortKey(line: string): string {
  const module = line.split("'").at(-2) ?? ''
  return module.startsWith('node:') ? ` ${module}` : module
}
