/**
 * The built site, served from a folder of its own.
 * @module
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { once as builtOnce } from '../once.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Parts of `docs` that a build makes. */
const MADE = ['reference', join('.vitepress', 'cache'), join('.vitepress', 'dist'), join('.vitepress', '.temp')]

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Where the site is at its origin: as a site of a repository, not at the root. */
const FOLDER = 'grantwell'

/** A site that is served. */
export interface BuiltSite {
  /** The address without a slash at the end, such as `http://127.0.0.1:4173/grantwell`. */
  readonly address: string
  /** Ends the server. */
  readonly close: () => Promise<void>
}

/** Builds the site of a copy of the sources, once in a run, and serves it on a free port. */
export async function builtSite(): Promise<BuiltSite> {
  const folder = await builtOnce('site', buildIn)
  const server = createServer(({ url = '/' }, response) => serve(join(folder, 'site'), url, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    address: `http://127.0.0.1:${port}/${FOLDER}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Copies the sources of the site into a folder, and builds it there. */
async function buildIn(folder: string): Promise<void> {
  const made = MADE.map((name) => join(root, 'docs', name))
  for (const name of ['docs', 'examples', 'src', 'package.json', 'tsconfig.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: (source) => !made.includes(source) })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  const inModules = (path: string): string => join(root, 'node_modules', path)
  // As `npm run docs:build` does it. The tests run as NODE_ENV=test, with which the pages would be those of a developer.
  const options = { cwd: folder, env: { ...process.env, NODE_ENV: 'production', DOCS_BASE: `/${FOLDER}/` } }
  for (const command of [
    // The types are checked elsewhere; the tests that the snippets import are not in this copy.
    [inModules('typedoc/bin/typedoc'), '--options', 'docs/typedoc.json', '--skipErrorChecking'],
    [join(folder, 'docs/tables.mjs')],
    [inModules('vitepress/bin/vitepress.js'), 'build', 'docs', '--outDir', join(folder, 'site', FOLDER)],
  ])
    await promisify(execFile)(process.execPath, command, options)
}

/** Serves a file of the site. A page has an address without its ending. */
function serve(site: string, url: string, response: ServerResponse): void {
  const { pathname } = new URL(url, 'http://127.0.0.1')
  const asked = join(site, decodeURIComponent(pathname))
  const file = [asked, `${asked}.html`, join(asked, 'index.html')].find((each) => isFileIn(site, each))
  const type = TYPES[extname(file ?? '')] ?? 'application/octet-stream'
  response.writeHead(file === undefined ? 404 : 200, { 'content-type': type })
  response.end(file === undefined ? 'Not found' : readFileSync(file))
}

/** True for a file that is in the folder. */
function isFileIn(site: string, file: string): boolean {
  return file.startsWith(site + sep) && existsSync(file) && statSync(file).isFile()
}
