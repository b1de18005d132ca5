/**
 * The redirect URI of a login: an HTTP server on loopback that receives one answer.
 * @module
 * @see RFC 8252, sections 7.3 and 8.3
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { configurationError } from '../errors.js'
import { withTimeout } from '../http/timeout.js'
import { escaped } from './html.js'

/**
 * The outcome that the browser shows: `done`, logged in; `refused`, by the user; `failed`; `foreign`, for a request that belongs
 * to no login.
 */
export type CallbackOutcome = 'done' | 'refused' | 'failed' | 'foreign'

/** The texts of the page that the browser shows. They are plain text, which is escaped. */
export interface CallbackText {
  /** The title of the page. */
  readonly title: string
  /** The sentence below the title. */
  readonly text: string
  /** A language tag, such as `pt-BR`; `en` by default. */
  readonly language?: string
}

/** Returns the texts for an outcome. */
export type CallbackPage = (outcome: CallbackOutcome) => CallbackText

/** A server that waits for the browser. */
export interface Callback {
  readonly redirectUri: string
  /** The parameters of the first request with the right state. */
  readonly received: Promise<URLSearchParams>
  /** Shows the outcome in the browser, if one waits, and closes the server. */
  readonly end: (outcome: CallbackOutcome) => Promise<void>
}

const PATH = '/callback'

/** Seconds that a request may take to arrive, and an answer to be sent. */
const REQUEST_TIMEOUT = 10
const ANSWER_TIMEOUT = 5

/**
 * Connections at a time. One more closes the oldest without an answer. Every user of the machine can open connections, so the
 * limit is above the backlog of the system (511). Otherwise a flood could close the browser's connection before it is read.
 */
const MAX_CONNECTIONS = 1000

/**
 * Listens on a free port of 127.0.0.1 only.
 * @param state - the state of this login: a request without it changes nothing
 * @throws ClientError `ERR_CONFIGURATION` if the port cannot be opened
 */
export async function listenForCallback(state: string, page: CallbackPage | undefined): Promise<Callback> {
  const waiting: ServerResponse[] = []
  let receive = (_: URLSearchParams): void => {}
  const received = new Promise<URLSearchParams>((resolve) => {
    receive = resolve
  })
  const timeouts = { requestTimeout: REQUEST_TIMEOUT * 1000, headersTimeout: REQUEST_TIMEOUT * 1000 }
  const server = createServer(timeouts, (request, response) => {
    const parameters = parametersOf(request, host, state)
    if (typeof parameters === 'number') {
      answer(response, parameters, 'foreign', page)
      return
    }
    connections.delete(request.socket)
    // The answer waits for the outcome: the login may still fail.
    waiting.push(response)
    receive(parameters)
  })
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket.on('close', () => connections.delete(socket)))
    const [oldest] = connections.size > MAX_CONNECTIONS ? connections : []
    if (oldest !== undefined) connections.delete(oldest.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server
      .on('error', (error) => reject(configurationError('cannot listen on 127.0.0.1', error)))
      .listen(0, '127.0.0.1', resolve)
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP

  const end = async (outcome: CallbackOutcome): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    const gone = waiting.map(async (response) => {
      answer(response, outcome === 'failed' ? 400 : 200, outcome, page)
      await finished(response)
    })
    // If the browser has disconnected, or does not read, the login still succeeds.
    await withTimeout({ time: { seconds: ANSWER_TIMEOUT, late: undefined } }, () => Promise.all(gone)).catch(() => {})
    server.closeAllConnections()
    await closed
  }
  return { redirectUri: `http://${host}${PATH}`, received, end }
}

/**
 * Reads the parameters of the browser's request. The host is checked, since any web site can point its own name to this
 * address (DNS rebinding).
 * @returns the status of the answer to any other request
 */
function parametersOf(
  { method, url = '', headers }: IncomingMessage,
  host: string,
  state: string,
): URLSearchParams | number {
  if (headers.host !== host) return 400
  const path = url.split('?', 1)[0] ?? ''
  if (path !== PATH) return 404
  if (method !== 'GET') return 405
  const parameters = new URLSearchParams(url.slice(path.length)) // a query may have a question mark in it
  const states = parameters.getAll('state')
  return states.length === 1 && isEqual(states[0] ?? '', state) ? parameters : 400
}

/** Compares in constant time. */
function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** The address of the page contains the code, so it must not be cached or sent to other sites. */
const HEADERS = {
  'Content-Type': 'text/html;charset=UTF-8',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Connection: 'close',
}

function answer(
  response: ServerResponse,
  status: number,
  outcome: CallbackOutcome,
  page: CallbackPage | undefined,
): void {
  const { title, text, language = 'en' } = wordsFor(outcome, page)
  const html = `<!doctype html>
<html lang="${escaped(language)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
`
  const allow = status === 405 ? { Allow: 'GET' } : {}
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(html), ...HEADERS, ...allow }).end(html)
}

/**
 * Returns the caller's texts; the default ones if there are none, or if they are wrong, so that the browser always gets an
 * answer.
 */
function wordsFor(outcome: CallbackOutcome, page: CallbackPage | undefined): CallbackText {
  try {
    const words: Partial<CallbackText> | undefined = page?.(outcome)
    // Nobody waits for what an asynchronous one gives: were it to fail, it would end the process.
    Promise.resolve(words).catch(() => {})
    const { title, text, language } = words ?? {}
    if (typeof title === 'string' && typeof text === 'string')
      return { title, text, ...(typeof language === 'string' && { language }) }
  } catch {}
  return WORDS[outcome]
}

const WORDS: { readonly [Outcome in CallbackOutcome]: CallbackText } = {
  done: { title: 'You are logged in', text: 'You can close this page and go back to the application.' },
  refused: {
    title: 'Nothing was shared',
    text: 'You refused. You can close this page and go back to the application.',
  },
  failed: { title: 'You are not logged in', text: 'Go back to the application: it says why.' },
  foreign: {
    title: 'This login is not known',
    text: 'No application waits for it here. Log in from the application again.',
  },
}
