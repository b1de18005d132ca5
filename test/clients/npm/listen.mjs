/** An application that listens on a free port of loopback. @module */
import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Listens. @param {import('node:http').RequestListener} listener
 * @returns {Promise<{ origin: string, close: () => void }>}
 */
export async function listen(listener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { origin: `http://127.0.0.1:${server.address().port}`, close }
}

/** Returns the target of a redirect. @param {Response} response */
export async function locationOf(response) {
  const location = response.headers.get('location')
  if (location === null) throw new Error(`no redirect: ${response.status} ${await response.text()}`)
  // A response that no server sent has no address.
  return response.url === '' ? new URL(location) : new URL(location, response.url)
}

/** Returns the JSON of a page of the application. @param {Response} response */
export async function jsonOf(response) {
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status} ${text}`)
  return JSON.parse(text)
}
