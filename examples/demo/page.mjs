/**
 * What both sites of the demo are made of: pages under a strict policy, forms, cookies.
 * @module
 */
import { displayText, html, renderHtml } from 'grantwell/pages'
import { css } from './style.mjs'

/** Bytes of a form; most of the ones here are small. */
const FORM_LIMIT = 16_384

/**
 * The headers of every page. No script, no inline style, nothing from elsewhere: even if a value were not escaped, it
 * could do nothing. `frame-ancestors` keeps the page out of frames, where a user could be made to click blindly.
 */
const PAGE_HEADERS = {
  'Content-Type': 'text/html;charset=UTF-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

/**
 * Makes a listener for `node:http`.
 * @param origin - of the site
 * @param answer - gets the route, such as `GET /sign-in`, the request, the response and the parsed URL, and sends something
 */
export function site(origin, answer) {
  return async (request, response) => {
    try {
      if (!URL.canParse(request.url, origin)) return sendError(response, 400, 'This is no address')
      const url = new URL(request.url, origin)
      if (url.pathname === '/style.css') return send(response, 200, { 'Content-Type': 'text/css;charset=UTF-8' }, css)
      if (url.pathname === '/favicon.ico') return send(response, 204, {}, '')
      // Node leaves the body out where the method is HEAD.
      const method = request.method === 'HEAD' ? 'GET' : request.method
      await answer(`${method} ${url.pathname}`, request, response, url)
    } catch (error) {
      if (response.destroyed) return // the browser went away
      console.error(error)
      if (!response.headersSent) sendError(response, 500, 'Something went wrong')
    }
  }
}

/** Sends a page: `title`, `place` and `look` are text, `body` came out of the tag `html`, which escapes every value. */
export function sendPage(response, status, { title, place = '', look, body }, headers = {}) {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${displayText(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="/style.css">
</head>
<body class="${look}">
<header><p>${displayText(place)}</p></header>
<main>
<h1>${displayText(title)}</h1>
${body}
</main>
</body>
</html>
`
  send(response, status, { ...PAGE_HEADERS, ...headers }, renderHtml(page))
}

/** Sends a page that says what is wrong, and nothing that helps to attack. */
export function sendError(response, status, title, headers) {
  sendPage(response, status, { title, body: html`<p><a href="/">To the start</a></p>` }, headers)
}

export function sendNotFound(response) {
  sendError(response, 404, 'There is nothing here')
}

export function sendJson(response, status, value) {
  send(response, status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }, JSON.stringify(value))
}

/** After a form always 303: the browser goes on with GET, and neither Reload nor Back sends the form again. */
export function redirect(response, location, headers = {}) {
  send(response, 303, { Location: location, 'Cache-Control': 'no-store', ...headers }, '')
}

export function send(response, status, headers, body) {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body)
}

/**
 * Reads a form that a page of this site sent. Where it cannot be one, the response is sent here, and undefined returned.
 */
export async function readForm(request, response) {
  const body = await readBody(request, response)
  return body && new URLSearchParams(body.toString())
}

async function readBody(request, response) {
  // A form on another site can be sent here too, with the user's cookies; browsers tell. Programs send no such header.
  if ((request.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
    sendError(response, 403, 'This form came from another site')
    return undefined
  }
  if (!(Number(request.headers['content-length']) <= FORM_LIMIT)) {
    sendError(response, 413, 'This form is too long', { Connection: 'close' })
    return undefined
  }
  const parts = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

export function cookieOf(request, name) {
  const cookies = (request.headers.cookie ?? '').split(/; */)
  return cookies.find((cookie) => cookie.startsWith(`${name}=`))?.slice(name.length + 1)
}

/**
 * The header that sets a cookie, out of reach of scripts and of forms on other sites. Without `Secure`, since the demo
 * has no TLS; on https, add it and the prefix `__Host-`.
 */
export function setCookie(name, value, attributes = '') {
  return { 'Set-Cookie': `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${attributes}` }
}
