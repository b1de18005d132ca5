/**
 * The safe fetch of a client's metadata document, from a URL that a stranger chose.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, "Server Side Request Forgery (SSRF) Attacks"
 */
import { Resolver } from 'node:dns/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import type { FetchedClientMetadata } from '../../shell/options/client-metadata.js'
import { maxAgeOf } from './client-metadata/freshness.js'
import { isPublicAddress } from './client-metadata/public-address.js'

/** The most bytes of a document. */
const MOST_BYTES = 5120

/** The most bytes of a response's headers. Node's own limit can be raised for the whole process. */
const MOST_HEADER_BYTES = 16_384

/** Milliseconds for everything, from the first DNS query to the last byte. */
const DEADLINE = 5000

/** Two queries of one second and two leave time for the connection before the deadline. */
const DNS_PATIENCE = { timeout: 1000, tries: 2 }

const HEADERS = { Accept: 'application/json', 'Accept-Encoding': 'identity' }

/** The media types of JSON (RFC 8259, section 11; RFC 6839, section 3.1). */
const JSON_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?json$/

/** Names that mean the machine itself, whatever a DNS server says (RFC 6761, section 6.3). */
const LOCALHOST = /(?:^|\.)localhost\.?$/

type Reason = Extract<FetchedClientMetadata, { type: 'none' }>['reason']

/** Takes the result of a fetch and releases its connection, its timer and its DNS queries. Calls after the first do nothing. */
type End = (result: FetchedClientMetadata) => void

/** Surroundings of a fetch. */
export interface FetchSettings {
  /** Returns all addresses of a host. Its queries end when the signal is aborted. */
  readonly resolve: (host: string, signal: AbortSignal) => Promise<readonly string[]>
  /** Checks that the fetch may connect to an address. */
  readonly isAllowed: (address: string) => boolean
  /** Milliseconds for everything. */
  readonly deadline: number
  /** The certificates to trust, as PEM; those of Node by default. */
  readonly ca?: string
}

/**
 * Fetches a client's metadata document from a URL that a stranger chose. It connects to public addresses alone and by HTTPS, asks
 * DNS servers but not the hosts file, and uses no proxy. It follows no redirect, reads at most 5,120 bytes, and ends within 5 seconds.
 * @param url - the client identifier; any text
 * @returns the document, or the reason why there is none; it never rejects
 * @see draft-ietf-oauth-client-id-metadata-document, section 4
 */
export function fetchClientMetadata(url: string): Promise<FetchedClientMetadata> {
  return fetchFromPublic(url)
}

const fetchFromPublic = createClientMetadataFetch({
  resolve: resolveAddresses,
  isAllowed: isPublicAddress,
  deadline: DEADLINE,
})

/** Creates the fetch from its surroundings, which a test replaces. */
export function createClientMetadataFetch(settings: FetchSettings): (url: string) => Promise<FetchedClientMetadata> {
  return async (text) => {
    const url = parseUrl(text)
    return url === undefined || !mayName(url.hostname, settings) ? none('address') : exchange(url, settings)
  }
}

/**
 * Resolves a host to its IPv4 and IPv6 addresses. It does not use `dns.lookup`, which cannot be stopped and keeps a thread of the
 * process until the system gives up.
 * @param servers - the DNS servers; those of the system by default
 * @returns an empty list if there is no answer
 */
export async function resolveAddresses(
  host: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  const resolver = new Resolver(DNS_PATIENCE)
  if (servers !== undefined) resolver.setServers(servers)
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/** Parses a URL of HTTPS without user information; undefined for anything else. */
function parseUrl(text: string): URL | undefined {
  try {
    const url = new URL(text)
    return url.protocol === 'https:' && url.username === '' && url.password === '' ? url : undefined
  } catch {
    return undefined
  }
}

/** Checks the host of a URL as far as it can be done without DNS. Node calls no `lookup` for an address. */
function mayName(hostname: string, { isAllowed }: FetchSettings): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? !LOCALHOST.test(host) : isAllowed(host)
}

/** Sends the request and reads the response. */
function exchange(url: URL, settings: FetchSettings): Promise<FetchedClientMetadata> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const end: End = (result) => {
      clearTimeout(timer)
      resolve(result)
      ended.abort()
    }
    const timer = setTimeout(() => end(none('time')), settings.deadline)
    try {
      const request = httpsRequest(url, {
        // With `agent: false`, Node would make an agent of the global agent's class, which a host may have replaced by a proxy's.
        agent: new Agent({ keepAlive: false }),
        headers: HEADERS,
        lookup: checkedLookup(settings, ended.signal, end),
        maxHeaderSize: MOST_HEADER_BYTES,
        // Else the variable NODE_TLS_REJECT_UNAUTHORIZED could switch it off.
        rejectUnauthorized: true,
        ...(settings.ca === undefined ? {} : { ca: settings.ca }),
      })
      ended.signal.addEventListener('abort', () => request.destroy(), { once: true })
      request
        .on('response', (response) => readResponse(response, end))
        .on('upgrade', (_, socket) => {
          socket.destroy() // which Node 26 does not leave to the request
          end(none('status'))
        })
        .on('error', () => end(none('network')))
        .end()
    } catch {
      end(none('network'))
    }
  })
}

/** Creates the `lookup` of a connection. It answers with addresses only if all addresses of the host are allowed. */
function checkedLookup({ resolve, isAllowed }: FetchSettings, ended: AbortSignal, end: End): LookupFunction {
  return (host, options, callback) => {
    const refuse = (reason: Reason): void => {
      end(none(reason))
      callback(new Error(`grantwell: no connection to ${host}: ${reason}`), [])
    }
    const connect = (addresses: readonly string[]): void => {
      const [first] = addresses
      // Node ignores addresses that come after the end; nothing else should depend on that.
      if (ended.aborted || first === undefined) refuse('network')
      else if (!addresses.every(isAllowed)) refuse('address')
      else if (options.all)
        callback(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        )
      else callback(null, first, isIP(first))
    }
    resolve(host, ended)
      .then(connect)
      .catch(() => refuse('network'))
  }
}

/** Reads a response up to the first fault. */
function readResponse(response: IncomingMessage, end: End): void {
  const { statusCode = 0, headers } = response
  const fault = faultOf(statusCode, headers)
  if (fault !== undefined) {
    end(none(fault))
    return
  }
  const parts: Buffer[] = []
  let size = 0
  response
    .on('data', (part: Buffer) => {
      size += part.length
      if (size > MOST_BYTES) end(none('size'))
      else parts.push(part)
    })
    .on('end', () => end(documentOf(Buffer.concat(parts), headers)))
    .on('error', () => end(none('network'))) // the connection ended inside the body
}

/** Finds the first fault of a response's status and headers. */
function faultOf(status: number, headers: IncomingHttpHeaders): Reason | undefined {
  if (status >= 300 && status < 400) return 'redirect'
  if (status !== 200) return 'status'
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (!JSON_TYPE.test(type.trim().toLowerCase())) return 'media_type'
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  if (encoding !== '' && encoding !== 'identity') return 'media_type'
  return Number(headers['content-length'] ?? 0) > MOST_BYTES ? 'size' : undefined
}

/** Decodes a document. A byte order mark at its beginning is left out (RFC 8259, section 8.1). */
function documentOf(bytes: Uint8Array, headers: IncomingHttpHeaders): FetchedClientMetadata {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const maxAge = maxAgeOf(headers)
    return maxAge === undefined ? { type: 'document', text } : { type: 'document', text, maxAge }
  } catch {
    return none('media_type') // not UTF-8
  }
}

function none(reason: Reason): FetchedClientMetadata {
  return { type: 'none', reason }
}
