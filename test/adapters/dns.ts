/**
 * A DNS server on loopback, of a few fixed answers.
 * @module
 * @see RFC 1035, section 4.1
 */
import { createSocket } from 'node:dgram'

/** Type numbers of queries (RFC 1035, section 3.2.2; RFC 3596, section 2.1). */
const TYPES = { 1: 'A', 28: 'AAAA' } as const

/** Answers to the queries of each type: addresses as bytes, `unknown` for a name that does not exist, `silence` for no answer. */
export interface DnsAnswers {
  readonly A: readonly (readonly number[])[] | 'unknown' | 'silence'
  readonly AAAA: readonly (readonly number[])[] | 'unknown' | 'silence'
}

/** Listens for queries, whatever the name is. */
export async function listenDns(answers: DnsAnswers) {
  const socket = createSocket('udp4')
  let queries = 0
  socket.on('message', (query, { port, address }) => {
    queries++
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const type = question.readUInt16BE(question.length - 4)
    const answer = type === 1 || type === 28 ? answers[TYPES[type]] : 'unknown'
    if (answer === 'silence') return
    const addresses = answer === 'unknown' ? [] : answer
    const flags = answer === 'unknown' ? 0x8183 : 0x8180
    const records = addresses.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    )
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(flags, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(addresses.length, 6)
    socket.send(Buffer.concat([head, question, ...records]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    server: `127.0.0.1:${socket.address().port}`,
    queries: () => queries,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  }
}
