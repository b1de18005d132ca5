/**
 * A client of HTTP/1.1 that costs less than any server which it measures: one request at a time on a connection that stays open.
 * It knows what servers of `node:http` send, and no more. A character is a byte: all that is looked for in an answer is ASCII.
 */
import { once } from 'node:events'
import { connect as dial } from 'node:net'

/** Servers of `node:http` close a connection that rested 5 seconds; we do sooner, so that no request meets its end. */
const REST_MS = 2_000

/** Connections to a port of this machine, so many at most; a request that finds none free waits its turn. */
export function connections(port, size) {
  const free = Array.from({ length: size }, () => undefined)
  const waiting = []
  const open = new Set()
  const drop = (connection) => {
    connection?.socket.destroy()
    open.delete(connection)
  }

  /** @param headers - whole lines; @param body - of a POST, in ASCII; a GET has none */
  async function request(method, path, headers, body) {
    let connection = free.length > 0 ? free.pop() : await new Promise((turn) => waiting.push(turn))
    try {
      if (connection === undefined || connection.usedAt < performance.now() - REST_MS) {
        drop(connection)
        connection = await connect(port)
        open.add(connection)
      }
      const length = body === undefined ? '' : `Content-Length: ${body.length}\r\n`
      const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${headers}${length}\r\n`
      const answer = await connection.send(body === undefined ? head : head + body)
      connection.usedAt = performance.now()
      return answer
    } catch (error) {
      drop(connection)
      connection = undefined
      throw error
    } finally {
      const turn = waiting.shift()
      if (turn === undefined) free.push(connection)
      else turn(connection)
    }
  }
  return { request, close: () => open.forEach(drop) }
}

async function connect(port) {
  const socket = dial({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let received = ''
  let asked
  socket.setEncoding('latin1')
  socket.on('data', (text) => {
    received += text
    try {
      const answer = answerOf(received)
      if (answer === undefined) return
      received = ''
      asked?.resolve(answer)
    } catch (error) {
      asked?.reject(error)
    }
  })
  socket.on('error', (error) => asked?.reject(error))
  socket.on('close', () => asked?.reject(new Error('the connection was closed before the answer')))
  const send = (message) =>
    new Promise((resolve, reject) => {
      asked = { resolve, reject }
      socket.write(message, 'latin1')
    })
  return { socket, send, usedAt: performance.now() }
}

/** The answer, once all of it is there. */
function answerOf(text) {
  const end = text.indexOf('\r\n\r\n') + 4
  if (end === 3) return undefined
  const status = Number(text.slice(9, 12))
  const head = text.slice(0, end)
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? []
  if (length !== undefined) return text.length - end < length ? undefined : new Answer(status, text.slice(end))
  if (status === 204) return new Answer(status, '')
  if (!/\r\ntransfer-encoding: *chunked/i.test(head))
    throw new Error(`an answer that does not tell its length: ${head}`)
  return text.endsWith('\r\n0\r\n\r\n') || text.slice(end) === '0\r\n\r\n'
    ? new Answer(status, unchunked(text, end))
    : undefined
}

function unchunked(text, from) {
  let body = ''
  for (let at = from; ; ) {
    const line = text.indexOf('\r\n', at) + 2
    const size = Number.parseInt(text.slice(at, line), 16)
    if (size === 0) return body
    body += text.slice(line, line + size)
    at = line + size + 2
  }
}

class Answer {
  constructor(status, text) {
    this.status = status
    this.text = text
  }
  /** The JSON in it, or nothing. */
  get body() {
    return this.text === '' ? undefined : JSON.parse(this.text)
  }
}
