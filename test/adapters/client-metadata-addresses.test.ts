/**
 * The addresses that the fetch of a client's metadata document connects to, the DNS answers that it goes by, and the certificates
 * that it trusts.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, "Server Side Request Forgery (SSRF) Attacks"
 */
import https, { Agent, globalAgent } from 'node:https'
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net'
import { fetchClientMetadata } from 'grantwell/node'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { isPublicAddress } from '../../src/adapters/node/client-metadata/public-address.js'
import type { FetchSettings } from '../../src/adapters/node/client-metadata.js'
import { createClientMetadataFetch, resolveAddresses } from '../../src/adapters/node/client-metadata.js'
import { describeWith, openssl } from '../engines/available.js'
import { listenDns } from './dns.js'
import { eventually } from './http.js'
import type { Certificate, Counting } from './https.js'
import { HOST, listenHttps, listenSilently, selfSigned } from './https.js'

const NO_ADDRESS = { type: 'none', reason: 'address' }
const NO_NETWORK = { type: 'none', reason: 'network' }
const DOCUMENT = { type: 'document', text: '{}' }

/** Milliseconds against hanging alone. */
const PATIENT = 100_000

/** Takes the first address of loopback for the internet. */
const isAllowed = (address: string): boolean => address === '127.0.0.1' || isPublicAddress(address)

describeWith(describe, openssl, 'a fetch from a host', () => {
  let certificate: Certificate
  let server: Counting
  const answer = vi.fn()

  beforeAll(async () => {
    certificate = selfSigned()
    server = await listenHttps(certificate, (_, response) => {
      answer()
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
    })
  })
  afterAll(() => server.close())
  afterEach(async () => {
    await eventually(() => server.open() === 0)
    vi.unstubAllEnvs()
    answer.mockClear()
  })

  /** Fetches from a host that has the addresses; counts the connections that the server got. */
  async function fetchOf(addresses: readonly string[], changes: Partial<FetchSettings> = {}, host = HOST) {
    const before = server.connections()
    const resolve = async (): Promise<readonly string[]> => addresses
    const settings = { resolve, isAllowed, deadline: PATIENT, ca: certificate.cert, ...changes }
    const result = await createClientMetadataFetch(settings)(`https://${host}:${server.port}/`)
    return { result, connections: server.connections() - before }
  }

  it('connects to an address that was checked', async () => {
    expect(await fetchOf(['127.0.0.1'])).toEqual({ result: DOCUMENT, connections: 1 })
  })

  it.each([
    [['127.0.0.1', '10.0.0.1']],
    [['10.0.0.1', '127.0.0.1']],
    [['127.0.0.1', '1.1.1.1', '::ffff:127.0.0.1']],
    [['127.0.0.1', 'fd00::1']],
    [['127.0.0.1', 'no address']],
    [['127.0.0.2']],
  ])('[57] connects to none of %j, since one is not public', async (addresses) => {
    expect(await fetchOf(addresses)).toEqual({ result: NO_ADDRESS, connections: 0 })
  })

  it('takes the next address where nothing listens at the first one', async () => {
    const changes = { isAllowed: () => true }
    expect(await fetchOf(['127.0.0.3', '127.0.0.1'], changes)).toEqual({ result: DOCUMENT, connections: 1 })
  })

  it('checks all addresses where Node asks for one', async () => {
    const before = getDefaultAutoSelectFamily()
    setDefaultAutoSelectFamily(false)
    try {
      expect(await fetchOf(['127.0.0.1', '10.0.0.1'])).toEqual({ result: NO_ADDRESS, connections: 0 })
      expect(await fetchOf(['127.0.0.1', '1.1.1.1'])).toEqual({ result: DOCUMENT, connections: 1 })
    } finally {
      setDefaultAutoSelectFamily(before)
    }
  })

  it('reaches nothing private when the answer of DNS changes after the check', async () => {
    const inside = await listenHttps(certificate, () => answer('inside'), '127.0.0.2', server.port)
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    const resolve = vi.fn(async () => answers.shift() ?? ['127.0.0.2'])
    try {
      expect(await fetchOf([], { resolve })).toEqual({ result: DOCUMENT, connections: 1 })
      expect(resolve).toHaveBeenCalledTimes(1)
      expect(await fetchOf([], { resolve })).toEqual({ result: NO_ADDRESS, connections: 0 })
      expect(inside.connections()).toBe(0)
      expect(answer.mock.calls).toEqual([[]])
    } finally {
      await inside.close()
    }
  })

  it('connects to nothing when the addresses come after the deadline', async () => {
    let late = (_: readonly string[]): void => {}
    const resolve = (): Promise<readonly string[]> =>
      new Promise((done) => {
        late = done
      })
    const before = server.connections()
    expect(await fetchOf([], { resolve, deadline: 50 })).toMatchObject({ result: { type: 'none', reason: 'time' } })
    late(['127.0.0.1'])
    expect(await fetchOf(['127.0.0.1'])).toMatchObject({ result: DOCUMENT })
    expect(server.connections() - before).toBe(1)
  })

  it('fails where the host has no addresses, and where they cannot be asked for', async () => {
    expect(await fetchOf([])).toEqual({ result: NO_NETWORK, connections: 0 })
    const resolve = (): Promise<never> => Promise.reject(new Error('no DNS'))
    expect(await fetchOf([], { resolve })).toEqual({ result: NO_NETWORK, connections: 0 })
  })

  it('checks an address in the URL, which Node does not look up', async () => {
    const resolve = vi.fn()
    const refusing = { resolve, isAllowed: () => false }
    expect(await fetchOf([], refusing, '127.0.0.1')).toEqual({ result: NO_ADDRESS, connections: 0 })
    expect(await fetchOf([], { resolve }, '127.0.0.1')).toEqual({ result: NO_NETWORK, connections: 1 }) // by its certificate
    expect(resolve).not.toHaveBeenCalled()
  })

  it('trusts no certificate that nobody vouches for, even if the environment says so', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const resolve = async (): Promise<readonly string[]> => ['127.0.0.1']
    const fetching = createClientMetadataFetch({ resolve, isAllowed, deadline: PATIENT })
    expect(await fetching(`https://${HOST}:${server.port}/`)).toEqual(NO_NETWORK)
    expect(answer).not.toHaveBeenCalled()
  })

  it('trusts no certificate of another host', async () => {
    expect(await fetchOf(['127.0.0.1'], {}, 'other.example')).toEqual({ result: NO_NETWORK, connections: 1 })
    expect(answer).not.toHaveBeenCalled()
  })

  it('does not use the global agent, which the host may have made one for a proxy', async () => {
    const used = vi.fn()
    class ProxyAgent extends Agent {
      override createConnection(): never {
        used()
        throw new Error('a proxy')
      }
    }
    Object.assign(https, { globalAgent: new ProxyAgent() })
    try {
      expect(await fetchOf(['127.0.0.1'])).toEqual({ result: DOCUMENT, connections: 1 })
      expect(used).not.toHaveBeenCalled()
    } finally {
      Object.assign(https, { globalAgent })
    }
  })
})

describe('the public function', () => {
  let server: Counting

  beforeAll(async () => {
    // Both families, where the machine has both.
    server = await listenSilently('::').catch(() => listenSilently('0.0.0.0'))
  })
  afterAll(() => server.close())

  it.each([
    ...['127.0.0.1', '127.1', '0x7f.1', '0x7f000001', '2130706433', '0177.0.0.1', '127.0.0.1.', '0', '0.0.0.0'],
    ...['１２７.０.０.１', '%31%32%37.0.0.1', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost'],
    ...['[::1]', '[::]', '[0:0::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]'],
    ...['[::1%25lo]', '[::1%lo]'],
  ])('does not connect to https://%s', async (host) => {
    expect(await fetchClientMetadata(`https://${host}:${server.port}/`)).toEqual(NO_ADDRESS)
    expect(server.connections()).toBe(0)
  })

  it.each([
    ...['', 'app', '/app', 'https://', 'https:///', 'https://a b/', 'https://client.example:99999/'],
    ...['http://client.example/', 'ftp://client.example/', 'file:///etc/passwd', 'data:application/json,{}'],
    ...['https://user@client.example/', 'https://user:word@client.example/', 'https://:word@client.example/'],
  ])('does not take the URL "%s"', async (url) => {
    expect(await fetchClientMetadata(url)).toEqual(NO_ADDRESS)
  })

  const throwing = () => {
    throw new Error('no text')
  }
  it.each([[undefined], [null], [7], [Symbol('x')], [{ toString: throwing }]])(
    'does not throw for %o, which is no text',
    async (given: unknown) => {
      expect(await Reflect.apply(fetchClientMetadata, undefined, [given])).toEqual(NO_ADDRESS)
    },
  )
})

describe('the addresses of a host', () => {
  const v4 = [93, 184, 216, 34]
  const v6 = [0x26, 0x06, 0x47, 0, ...Array<number>(11).fill(0), 0x11]

  it.each([
    ['of both families', { A: [v4, [10, 0, 0, 1]], AAAA: [v6] }, ['93.184.216.34', '10.0.0.1', '2606:4700::11']],
    ['of one family if the other has none', { A: [v4], AAAA: [] }, ['93.184.216.34']],
    ['of one family if the query for the other fails', { A: 'unknown', AAAA: [v6] }, ['2606:4700::11']],
    ['of none if the name does not exist', { A: 'unknown', AAAA: 'unknown' }, []],
  ] as const)('are those %s', async (_, answers, addresses) => {
    const dns = await listenDns(answers)
    try {
      expect(await resolveAddresses(HOST, new AbortController().signal, [dns.server])).toEqual(addresses)
    } finally {
      await dns.close()
    }
  })

  it('are waited for until the deadline, and then no query is left', async () => {
    const dns = await listenDns({ A: 'silence', AAAA: 'silence' })
    const queries: Promise<unknown>[] = []
    const resolve: FetchSettings['resolve'] = (host, signal) => {
      const query = resolveAddresses(host, signal, [dns.server])
      queries.push(query)
      return query
    }
    try {
      const fetching = createClientMetadataFetch({ resolve, isAllowed, deadline: 100 })
      expect(await fetching(`https://${HOST}/`)).toEqual({ type: 'none', reason: 'time' })
      expect(await Promise.all(queries)).toEqual([[]])
      expect(dns.queries()).toBeLessThan(4) // as many as there are where nobody stops them
    } finally {
      await dns.close()
    }
  })
})
