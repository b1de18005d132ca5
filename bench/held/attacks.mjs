// What a stranger can send and leave unfinished. Each attack is what goes over one connection; none of them reads an answer.
import { fork } from 'node:child_process'
import { connect } from 'node:net'

/** Where a request can go. `query` and `headers` are what a signed-in user would send; `logo` is where pages have theirs. */
export const endpointsOf = (logo = '/oauth2/logo') => [
  { path: '/oauth2/auth', query: '?response_type=code&client_id=web-0' },
  { path: '/oauth2/token' },
  { path: '/oauth2/revoke' },
  { path: '/oauth2/introspect' },
  { path: '/oauth2/device_authorization' },
  { path: '/oauth2/device' },
  { path: '/oauth2/applications' },
  { path: '/oauth2/style.css' },
  { path: logo.split('?')[0], query: logo.slice(logo.split('?')[0].length) },
  { path: '/.well-known/oauth-authorization-server' },
  { path: '/api' },
  { path: '/nowhere' },
]

/** The limit of bodies, which each figure is compared with. */
export const BODY_LIMIT = 65_536

const head = (method, { path = '', query = '' }, ...lines) =>
  `${[`${method} ${path}${query} HTTP/1.1`, 'Host: a', 'Cookie: session=ada', ...lines].join('\r\n')}\r\n\r\n`
const FORM = 'Content-Type: application/x-www-form-urlencoded'
const CHUNKED = [FORM, 'Transfer-Encoding: chunked']
const crumbs = (count) => '1\r\na\r\n'.repeat(count)
/** As many requests as fit into one read of a socket. */
const pipeline = (request) => request.repeat(Math.floor(BODY_LIMIT / request.length))

/** The attacks on an endpoint, by what they send. @param bytes - how many pieces of one byte each */
export const attacksOf = (bytes = 65_000) => ({
  'one-byte chunks': (endpoint) => head('POST', endpoint, ...CHUNKED) + crumbs(bytes),
  'one-byte chunks, GET': (endpoint) => head('GET', endpoint, ...CHUNKED) + crumbs(bytes),
  'half a body': (endpoint) => head('POST', endpoint, FORM, 'Content-Length: 65536') + 'a'.repeat(32_768),
  'a lying length': (endpoint) => `${head('POST', endpoint, FORM, 'Content-Length: 65536')}a`,
  'all but the end': (endpoint) => head('POST', endpoint, FORM, 'Content-Length: 65536') + 'a'.repeat(65_535),
  'a body without end': (endpoint) =>
    head('POST', endpoint, ...CHUNKED) + `4000\r\n${'a'.repeat(16_384)}\r\n`.repeat(64),
  pipelined: (endpoint) => pipeline(head('GET', endpoint)),
  'pipelined forms': (endpoint) => pipeline(`${head('POST', endpoint, FORM, 'Content-Length: 7')}a=b&c=d`),
  'pipelined, smallest': ({ path = '', query = '' }) => pipeline(`GET ${path}${query} HTTP/1.1\r\nHost:\r\n\r\n`),
})

/** Starts a server process. @returns how to ask it, and its end */
export async function startServer(file, platform, flags = []) {
  const child = fork(file, [platform], {
    execArgv: ['--expose-gc', ...flags],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(`${code ?? signal}: ${said}`)))
  const next = () =>
    new Promise((resolve, reject) => {
      child.once('message', resolve)
      ended.then((how) => reject(new Error(`the server ended: ${how}`)))
    })
  const { port, logo } = await next()
  const ask = (question = {}) => {
    if (!child.connected) return ended.then((how) => Promise.reject(new Error(`the server ended: ${how}`)))
    child.send(question)
    return next()
  }
  const end = () => {
    child.kill('SIGKILL')
    return ended
  }
  return { port, endpoints: endpointsOf(logo), ask, pid: child.pid, end }
}

/** Sends something over a connection of its own, and reads nothing of what comes back. */
export function send(port, text) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.pause().write(text, 'latin1')
  return socket
}

/** What the server holds once it has read all that it is going to read. */
export async function settled(ask) {
  let last = { read: -1, begun: 0, held: 0 }
  for (let same = 0; same < 3; ) {
    const now = await ask()
    same = now.read === last.read && now.begun === last.begun ? same + 1 : 0
    last = now
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  return last
}

/** Bytes that one connection with an attack costs a server. @param count - connections at the same time */
export async function measure({ port, ask }, text, count) {
  const before = await settled(ask)
  const sockets = Array.from({ length: count }, () => send(port, text))
  const { held } = await settled(ask)
  for (const socket of sockets) socket.destroy()
  for (let left = count; left > 0; ) left = (await ask()).connections
  return (held - before.held) / count
}
