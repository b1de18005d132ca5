/**
 * Responses on Node's `http`, which are sent at the end of a turn of the event loop.
 * @module
 */
import { createNodeHandler } from 'grantwell/node'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { atEndOfTurn, finishTurn } from '../../src/adapters/node/end-of-turn.js'
import { testServer } from '../support.js'
import { listen, open, wire } from './http.js'

const METADATA = wire('GET /.well-known/oauth-authorization-server', [], '', 'keep-alive')

afterEach(() => {
  vi.useRealTimers()
})

/** Serves a server, and notes when a request comes and when its response is sent. */
async function serveNoting() {
  const handle = createNodeHandler((await testServer()).server)
  const events: string[] = []
  const { port, close } = await listen((request, response) => {
    events.push('request')
    const { end } = response
    // One of three signatures, which the handler uses.
    response.end = ((...given: Parameters<typeof end>) => {
      events.push('response')
      return end.apply(response, given)
    }) as typeof end
    handle(request, response)
  })
  return { port, close, events }
}

describe('responses', () => {
  it('are sent after all requests that came in one turn are read', async () => {
    const { port, close, events } = await serveNoting()
    const sockets = await Promise.all([open(port), open(port), open(port)])
    try {
      const [first] = sockets
      first?.socket.write(METADATA)
      await first?.until('HTTP/1.1 200')
      events.length = 0
      for (const { socket } of sockets) socket.write(METADATA)
      await Promise.all(sockets.map(({ until }, index) => until('HTTP/1.1 200', index === 0 ? 2 : 1)))
      expect(events).toEqual(['request', 'request', 'request', 'response', 'response', 'response'])
    } finally {
      for (const { socket } of sockets) socket.destroy()
      await close()
    }
  })

  it('are sent while a test of the host has replaced the timers', async () => {
    const { port, close } = await serveNoting()
    const { socket, until } = await open(port)
    try {
      vi.useFakeTimers()
      expect(vi.isFakeTimers()).toBe(true)
      socket.write(METADATA)
      await until('HTTP/1.1 200')
    } finally {
      vi.useRealTimers()
      socket.destroy()
      await close()
    }
  })
})

describe('actions at the end of a turn', () => {
  it('run in their order, once, and not before', async () => {
    const ran: string[] = []
    atEndOfTurn(() => ran.push('first'))
    atEndOfTurn(() => ran.push('second'))
    await Promise.resolve()
    expect(ran).toEqual([])
    await new Promise(setImmediate)
    expect(ran).toEqual(['first', 'second'])
    finishTurn()
    expect(ran).toEqual(['first', 'second'])
  })

  it('run although one of them throws', async () => {
    const ran: string[] = []
    atEndOfTurn(() => {
      throw new Error('this one')
    })
    atEndOfTurn(() => ran.push('next'))
    expect(finishTurn).toThrow('this one')
    expect(ran).toEqual([])
    await vi.waitFor(() => expect(ran).toEqual(['next']))
  })
})
