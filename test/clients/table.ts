/**
 * The table of clients as the page of the documentation has it.
 * @module
 */
import type { Client } from './client.js'
import { CLI_OAUTH, CURL, DEBIAN_CLIENTS, GIT_CREDENTIAL_OAUTH } from './debian.js'
import { NPM_CLIENTS } from './npm.js'

const WORDS = { call: 'call', refresh: 'refresh', revoke: 'revocation' } as const

/** Writes the row of a client. */
function rowOf({ name, version, client = 'nothing', server = 'none', ...seen }: Client): string {
  const { confidential, public: alone, pkce, state, does, also } = seen
  const extras = [...(pkce ? ['PKCE'] : []), ...(state ? ['state'] : [])]
  const login = extras.length === 0 ? 'login' : `login with ${extras.join(' and ')}`
  const hasCode = also === undefined || !also.includes('not the code flow')
  const flows = [...(hasCode ? [login] : []), ...does.map((each) => WORDS[each]), ...(also === undefined ? [] : [also])]
  const types = [
    ...(confidential === undefined ? [] : [`confidential: ${confidential}`]),
    ...(alone === undefined ? [] : [`public: ${alone}`]),
  ]
  return `| ${name} | ${version} | ${client} | ${server} | ${types.join('; ')} | ${flows.join(', ')} |`
}

/** The rows of npm's clients. */
export const NPM_ROWS: readonly string[] = NPM_CLIENTS.map(rowOf)

/** The rows of Debian's clients. */
export const DEBIAN_ROWS: readonly string[] = [...DEBIAN_CLIENTS, CLI_OAUTH, GIT_CREDENTIAL_OAUTH, CURL].map(rowOf)
