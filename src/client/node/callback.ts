/**
 * Where the browser comes back to after a login: a listener on loopback, for one answer and no longer.
 * @module
 * @see RFC 8252, sections 7.3 and 8.3
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { inTime } from '../http/http.js'
import { mistake } from '../options.js'
import { escaped } from './html.js'

/**
 * What the user is told in the browser: `done`, logged in; `refused`, by the user; `failed`; `foreign`, a request that belongs
 * to no login.
 */
export type CallbackOutcome = 'done' | 'refused' | 'failed' | 'foreign'

/** The words of the page that the browser shows. Text, which is escaped. */
export interface CallbackText {
  readonly title: string
  readonly text: string
  /** A language tag, such as `pt-BR`; `en` by default. */
  readonly language?: string
}

/** Words for an outcome. */
export type CallbackPage = (outcome: CallbackOutcome) => CallbackText

/** A listener that waits for the browser. */
export interface Callback {
  readonly redirectUri: string
  /** The parameters of the first request that has the state. */
  readonly received: Promise<URLSearchParams>
  /** Tells the browser how it ended, where it waits, and closes. */
  readonly end: (outcome: CallbackOutcome) => Promise<void>
}

const PATH = '/callback'

/** Seconds that a request may take to come whole, and an answer to go. */
const REQUEST_TIMEOUT = 10
const ANSWER_TIMEOUT = 5

/**
 * Connections at a time; one more ends the oldest that has not brought the answer. Every user of the machine can open some. More
 * than the system keeps ready for us in one go (511), or a flood of them could end that of the browser before it is read.
 */
const MAX_CONNECTIONS = 1000

/**
 * Listens on a free port of 127.0.0.1 alone.
 * @param state - of this login: a request without it changes nothing, whoever sent it
 * @throws ClientError `ERR_CONFIGURATION` where that is not permitted here
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
    // Told once it is known, so that nobody reads that a login succeeded which then fails.
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
    server.on('error', (error) => reject(mistake('cannot listen on 127.0.0.1', error))).listen(0, '127.0.0.1', resolve)
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on TCP

  const end = async (outcome: CallbackOutcome): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    const gone = waiting.map(async (response) => {
      answer(response, outcome === 'failed' ? 400 : 200, outcome, page)
      await finished(response)
    })
    // A browser that has left, or does not read, is no failure of the login.
    await inTime({ time: { seconds: ANSWER_TIMEOUT, late: undefined } }, () => Promise.all(gone)).catch(() => {})
    server.closeAllConnections()
    await closed
  }
  return { redirectUri: `http://${host}${PATH}`, received, end }
}

/**
 * What the browser brought or, of any other request, the status of its answer. The host is looked at, since a page of
 * anybody can have the browser believe that its own name leads here (DNS rebinding).
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

/** In a time that tells nothing of how much of it was right. */
function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** The address of the page has the code in it: nothing may keep it, and no other site may hear of it. */
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

/** The words of the caller; ours, where it has none: a mistake in them is no reason to leave the browser waiting. */
function wordsFor(outcome: CallbackOutcome, page: CallbackPage | undefined): CallbackText {
  try {
    const words: Partial<CallbackText> | undefined = page?.(outcome)
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
