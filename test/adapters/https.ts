/**
 * HTTPS servers on loopback with a certificate of their own, for what a fetch of a stranger's document may meet.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { openssl, program } from '../engines/available.js'
import { temporaryFolder } from '../engines/process.js'

/** The name that the certificate is for. */
export const HOST = 'client.example'

/** A certificate that nobody but a test trusts, and its key. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

/** Makes a self-signed certificate for {@link HOST} by OpenSSL. */
export function selfSigned(): Certificate {
  const folder = temporaryFolder('certificate')
  try {
    const [key, cert] = [join(folder.path, 'key.pem'), join(folder.path, 'cert.pem')]
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30']
    const names = ['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`]
    const args = ['req', ...kind, ...names, '-keyout', key, '-out', cert]
    execFileSync(program(openssl, 'openssl'), args, { stdio: 'pipe' })
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    folder.remove()
  }
}

/** A listening server that counts. */
export interface Counting {
  readonly port: number
  /** Connections that began. */
  readonly connections: () => number
  /** Connections that are still open. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

/** Listens by HTTPS. */
export function listenHttps(certificate: Certificate, listener: RequestListener, address = '127.0.0.1', port = 0) {
  const http = createServer({ ...certificate, keepAliveTimeout: 600_000 }, listener)
  return count(
    http.on('tlsClientError', () => {}),
    address,
    port,
  )
}

/** Listens by TCP and says nothing. */
export function listenSilently(address = '127.0.0.1'): Promise<Counting> {
  return count(createTcpServer(), address, 0)
}

async function count(server: Server, address: string, port: number): Promise<Counting> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.resume()
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve))
  return {
    port: (server.address() as AddressInfo).port, // it listens on TCP
    connections: () => connections,
    open: () => sockets.size,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
