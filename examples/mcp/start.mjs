/**
 * Starts the MCP server of `server.mjs` in a clone of this repository: builds the package, and says what clients need.
 * @module
 */
import { build } from '../demo/build.mjs'

const { PORT = '8080', HOST = '127.0.0.1', ISSUER = `http://127.0.0.1:${PORT}` } = process.env

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0)) // everything is in memory
await build().catch((error) => fail(error.message))
const { createGitHost } = await import('./server.mjs')
createGitHost(ISSUER)
  .listen(Number(PORT), HOST, () => process.stdout.write(forPeople(`${ISSUER}/mcp`)))
  .on('error', ({ message }) => fail(`${message}; PORT=N takes another port.`))

/** Says what to do with the server. @param {string} url */
function forPeople(url) {
  return `
listening at ${url}

  A client needs this URL and nothing else. It is registered when it comes, you sign in as Ada, and agree.

  Claude Code:  claude mcp add --transport http git-host ${url}
                then /mcp in Claude Code
  VS Code:      code --add-mcp '{"name":"git-host","type":"http","url":"${url}"}'
  Inspector:    npx @modelcontextprotocol/inspector --server-url ${url} --transport http

  The tools list_repositories and read_file need one consent, write_file another one.
  Ctrl+C ends the server; it forgets everything.

`
}

/** Ends the process. @param {string} sentence */
function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}
