/**
 * What both sites of the demo are made of: pages under a strict policy, forms, cookies.
 * @module
 */
import { displayText, html, renderHtml, stylesheet } from 'grantwell/pages'

/** Bytes of a form; the ones here are small. */
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
  // A form on another site can be sent here too, with the user's cookies; browsers tell. Programs send no such header.
  if ((request.headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') {
    sendError(response, 403, 'This form came from another site')
    return undefined
  }
  if (!(Number(request.headers['content-length']) <= FORM_LIMIT)) {
    sendError(response, 413, 'This form is too long', { Connection: 'close' })
    return undefined
  }
  let text = ''
  for await (const part of request.setEncoding('utf8')) text += part
  return new URLSearchParams(text)
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

/** The look of the consent page, and what the pages of the demo have more. */
const css = `${stylesheet}
:root { --code: #f3f5f7; --app: #4b3fc4; --app-hover: #3c319f; --good: #17693a; }
@media (prefers-color-scheme: dark) {
  :root { --code: #0d1117; --app: #6257d6; --app-hover: #7268e0; --good: #6fcf97; }
}

/* The application has colours of its own, so that one sees on whose page one is. */
.application { --primary: var(--app); --primary-hover: var(--app-hover); max-width: 72rem; }

main > * + *, main > form > * + * { margin-top: 1rem; }
main form { padding: 0; border: 0; }

.button, button {
  display: inline-block;
  min-height: 2.75rem;
  padding: 0.5rem 1.25rem;
  border: 1px solid var(--primary);
  border-radius: 0.5rem;
  background: var(--primary);
  color: var(--on-primary);
  font: inherit;
  font-weight: 600;
  line-height: 1.625rem;
  text-decoration: none;
  cursor: pointer;
}
.button:hover, button:hover { border-color: var(--primary-hover); background: var(--primary-hover); }

.field { display: block; font-weight: 600; }
.field input {
  display: block;
  width: min(100%, 24rem);
  min-height: 2.75rem;
  margin-top: 0.25rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--control);
  border-radius: 0.5rem;
  background: var(--page);
  color: var(--text);
  font: inherit;
  font-weight: 400;
}

.steps { margin-bottom: 0; padding: 0; list-style: none; counter-reset: step; }
.steps > li { overflow: visible; border-top: 1px solid var(--line); counter-increment: step; }
.steps summary, .steps > li > h2 { display: flex; gap: 0.75rem; align-items: center; padding: 0.75rem 0; }
.steps h2 { font-size: 1.0625rem; }
.steps summary { cursor: pointer; }
.steps summary::-webkit-details-marker { display: none; }
.steps summary::after { content: 'show'; margin-inline-start: auto; color: var(--link); font-size: 0.875rem; }
.steps [open] > summary::after { content: 'hide'; }
.steps summary::before, .steps > li > h2::before {
  content: counter(step);
  flex: none;
  width: 1.75rem;
  height: 1.75rem;
  border: 1px solid var(--control);
  border-radius: 50%;
  font-size: 0.875rem;
  font-weight: 600;
  line-height: 1.625rem;
  text-align: center;
}
.done summary::before { border-color: var(--good); background: var(--good); color: var(--card); }
.failed summary::before { border-color: var(--fault); background: var(--fault); color: var(--card); }
.next > h2::before { border-color: var(--primary); background: var(--primary); color: var(--on-primary); }
.later { color: var(--muted); }
.later h2 { font-weight: 400; }
.step { padding: 0 0 1.25rem 2.5rem; }
.step > * + *, .step form { margin-top: 0.75rem; }
.outcome { font-weight: 600; }
.failed .outcome { color: var(--fault); }

.message { border: 1px solid var(--line); border-radius: 0.5rem; overflow: clip; }
.message h3 { margin: 0; padding: 0.375rem 0.75rem; border-bottom: 1px solid var(--line); font-size: 0.8125rem; }
.message pre {
  margin: 0;
  padding: 0.625rem 0.75rem;
  background: var(--code);
  white-space: pre-wrap;
}
.message pre, .terms dt { font: 0.8125rem/1.55 ui-monospace, 'Liberation Mono', Menlo, Consolas, monospace; }
.terms { display: grid; grid-template-columns: auto 1fr; gap: 0.125rem 1rem; align-items: baseline; }
.terms dd { font-weight: 400; }

/* Credentials, so that one can follow each from message to message. Their names are not copied with them. */
mark { padding: 0.0625rem 0.125rem; border-radius: 0.1875rem; background: #ffe9a8; color: #1c2128; }
mark.access { background: #bfe8cd; }
mark.refresh { background: #c9dcff; }
mark::before { content: attr(data-name) ' '; white-space: nowrap; color: #57606a; }

@media (max-width: 36rem) {
  .step { padding-left: 0; }
  .terms { grid-template-columns: 1fr; }
  .terms dd { margin-bottom: 0.375rem; }
}
`
