/**
 * A server in a process of its own, to be killed: `node <bundle of this file> <its engine as JSON>`. Says the port that
 * it listens on.
 * @module
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RecordStore } from 'grantwell'
import { createNodeHandler, sendResponse } from 'grantwell/node'
import { postgresStore } from 'grantwell/storage/postgres'
import { redisStore } from 'grantwell/storage/redis'
import { sqliteStore } from 'grantwell/storage/sqlite'
import { Redis } from 'ioredis'
import Database from 'libsql'
import pg from 'pg'
import { API, flowServer } from './flows.js'
import type { ProcessEngine } from './servers.js'

function storeOf(engine: ProcessEngine): RecordStore {
  if (engine.type === 'sqlite') return sqliteStore(new Database(engine.file), { synchronous: 'normal' })
  if (engine.type === 'redis') return redisStore(new Redis(engine.port, engine.host))
  return postgresStore(new pg.Pool(engine.connection))
}

const server = flowServer(storeOf(JSON.parse(process.argv[2] ?? '')), (error) => console.error(error))
const handler = createNodeHandler(server)
const http = createServer((request, response) => {
  if (request.url !== API) handler(request, response)
  else
    server.authenticate(request).then((found) => {
      const ok = { status: 200, headers: {}, body: '' }
      sendResponse(response, found.type === 'authenticated' ? ok : found.response)
    })
}).listen(0, '127.0.0.1', () => {
  const { port } = http.address() as AddressInfo // it listens on TCP
  console.log(`listening on ${port}`)
})
