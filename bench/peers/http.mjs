import http from 'node:http'

/** What the peers that bring no server of their own share: `node:http`, and forms as plain objects. */
export async function listen(port, routes) {
  const server = http.createServer((request, response) => {
    const route = routes[request.url]
    if (request.method === 'GET') return route(request, response)
    const parts = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()))
      return route(request, response, form)
    })
  })
  await new Promise((listening) => server.listen(port, '127.0.0.1', listening))
}

export function answer(response, status, headers, value) {
  const body = JSON.stringify(value)
  const framing = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...framing, ...headers }).end(body)
}
