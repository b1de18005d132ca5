/**
 * Stands for `next start`: mounts the route handlers of a folder as Next.js does, by the paths of their files, on node:http;
 * calls `register` first. `node next-server.mjs FOLDER`, with `PORT` and `HOST`.
 * @module
 */
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'

const { PORT, HOST = '127.0.0.1' } = process.env
const [folder] = process.argv.slice(2)
const load = (...path) => import(pathToFileURL(join(folder, ...path)))

process.env.NEXT_RUNTIME = 'nodejs'
const { register } = await load('instrumentation.js')
await register()

const app = join(folder, 'app')
const files = readdirSync(app, { recursive: true, withFileTypes: true }).filter(({ name }) => name === 'route.js')
const routes = await Promise.all(
  files.map(async ({ parentPath, name }) => ({
    segments: relative(app, parentPath).split(sep),
    handlers: await load('app', relative(app, join(parentPath, name))),
  })),
)

/** The parameters of a route that a path matches: `[name]` takes one part of it, `[...name]` one or more. */
function match(segments, parts) {
  const params = {}
  for (const [index, segment] of segments.entries()) {
    const [, rest, name] = /^\[(\.\.\.)?(.+)\]$/.exec(segment) ?? []
    const part = parts[index]
    if (part === undefined) return undefined
    if (rest) return { ...params, [name]: parts.slice(index) }
    if (name) params[name] = decodeURIComponent(part)
    else if (part !== segment) return undefined
  }
  return parts.length === segments.length ? params : undefined
}

async function answer(incoming) {
  // As Next.js does it: the host is not the one that was asked.
  const base = `http://localhost:${PORT}`
  if (!URL.canParse(incoming.url, base)) return new Response(null, { status: 400 })
  const url = new URL(incoming.url, base)
  if (url.username !== '' || url.password !== '') return new Response(null, { status: 400 }) // no Request has them
  const parts = url.pathname.slice(1).split('/')
  for (const { segments, handlers } of routes) {
    const params = match(segments, parts)
    if (params === undefined) continue
    const { method } = incoming
    const handler = handlers[method] ?? (method === 'HEAD' ? handlers.GET : undefined)
    if (handler === undefined) return new Response(null, { status: 405 })
    const body = method === 'GET' || method === 'HEAD' ? null : Readable.toWeb(incoming)
    const headers = Object.entries(incoming.headersDistinct).flatMap(([name, values]) => values.map((v) => [name, v]))
    return handler(new Request(url, { method, headers, body, duplex: 'half' }), { params: Promise.resolve(params) })
  }
  return new Response(null, { status: 404 })
}

const server = createServer(async (incoming, outgoing) => {
  const response = await answer(incoming).catch(
    // As Next.js answers a path that cannot be decoded.
    (error) => new Response(null, { status: error instanceof URIError ? 400 : 500 }),
  )
  const headers = [...response.headers].filter(([name]) => name !== 'set-cookie')
  for (const [name, value] of headers) outgoing.setHeader(name, value)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
  outgoing.writeHead(response.status).end(Buffer.from(await response.arrayBuffer()))
})
server.listen(Number(PORT), HOST, () => console.log(`listening at http://${HOST}:${PORT}, for ${dirname(app)}`))
