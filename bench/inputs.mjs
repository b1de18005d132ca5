// What a stranger can make each endpoint compute: milliseconds of the processor for a KiB of the dearest request that it takes.
//   npm run bench:inputs
import { createAuthorizationServer } from 'grantwell'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'

const KIB = 1024
const ISSUER = 'https://git.example'
const FORM = 'application/x-www-form-urlencoded'
/** A header of Node's is no longer. */
const HEADER = 15 * KIB
/** Runs of each request; the quickest counts, since other work on the machine makes one slower and none quicker. */
const RUNS = 30

const server = createAuthorizationServer({
  issuer: ISSUER,
  store: memoryStore(),
  digests: nodeDigests,
  user: () => ({ subject: 'ada' }),
  signInUrl: () => '/sign-in',
  userCodeLimiter: () => 0,
  deviceLimiter: () => 0,
  macTokens: true,
  derivationKey: new Uint8Array(32).fill(7),
  onError: (error) => console.error(error),
})
await server.applications.register(
  {
    name: 'Native',
    logo: Buffer.from('89504e470d0a1a0a0000000d494844520000000100000001', 'hex'),
    website: 'https://app.example',
    type: 'public',
    redirectUris: ['http://127.0.0.1/callback'],
    scopes: ['repo-code:rw', 'account-profile:r'],
    resourceScope: 'all',
    deviceFlow: true,
  },
  { clientId: 'native' },
)

/** @returns as many whole parts as have room */
const times = (part, size) => part.repeat(Math.floor(size / part.length))
const pump = (name) => (unit) => [`${name} of ${unit}`, `${name}=${times(unit, 8 * KIB)}`]

/** Forms and queries; what stands in front of them makes a request that is read to its end. */
const TEXTS = [
  ['one parameter again and again', times('a&', 4 * KIB)],
  ['one parameter again and again, with values', times('a=b&', 8 * KIB)],
  ['many parameters', Array.from({ length: 2000 }, (_, index) => `name${index}=b`).join('&')],
  ['parameters of escapes', times(`a=${times('%C3%A9', 30)}&`, 60 * KIB)],
  ...['a', '%41', '+', '%C3%A9'].map(pump('unknown')),
  ...['repo-code:r+', 'x+', '+'].map(pump('scope')),
  ...['a/', '.', '%2F'].map((unit) => [
    `redirect_uri of ${unit}`,
    `redirect_uri=https://app.example/${times(unit, 8 * KIB)}`,
  ]),
  ...['B', '-'].map(pump('user_code')),
  ...['A', '.'].map(pump('consent')),
  ...['a'].flatMap((unit) =>
    ['token', 'refresh_token', 'code', 'device_code', 'code_verifier', 'state', 'code_challenge'].map((name) =>
      pump(name)(unit),
    ),
  ),
]
const HEADERS = [
  ...['A', ' ', ':'].map((unit) => ['authorization', `Basic ${times(unit, HEADER)}`]),
  ...['a', ' ', '='].map((unit) => ['authorization', `Bearer ${times(unit, HEADER)}`]),
  ...[' ', ', ', 'a="",'].map((unit) => ['authorization', `MAC id="a", ${times(unit, HEADER)}`]),
  ...['a=b; ', '; ', '__Host-grantwell=a; '].map((unit) => ['cookie', times(unit, HEADER)]),
  ...['application/json,', ' ', ';'].map((unit) => ['accept', times(unit, HEADER)]),
  ...[' ', ';', ' charset=utf-8;'].map((unit) => ['content-type', `${FORM};${times(unit, HEADER)}`]),
]

const BASE = {
  '/oauth2/token': 'client_id=native&grant_type=refresh_token&refresh_token=x',
  '/oauth2/revoke': 'client_id=native&token=x',
  '/oauth2/introspect': 'client_id=native&token=x',
  '/oauth2/device_authorization': 'client_id=native',
  '/oauth2/auth': 'client_id=native&response_type=code',
  '/oauth2/device': 'decision=agree',
  '/oauth2/applications': 'a=b',
}

async function costOf(work) {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now()
    await work()
    best = Math.min(best, performance.now() - begun)
  }
  return best
}

/** The dearest of some requests: for a KiB, and as a whole. */
async function dearest(requests) {
  let worst = { perKib: 0 }
  let longest = 0
  for (const [name, bytes, work] of requests) {
    const cost = await costOf(work)
    longest = Math.max(longest, cost)
    const perKib = cost / (bytes / KIB)
    if (bytes >= KIB && perKib > worst.perKib) worst = { perKib, name }
  }
  return { ...worst, longest }
}

const rows = []
for (const [path, base] of Object.entries(BASE)) {
  const asked = (message) => () =>
    server.handle({ method: 'POST', url: path, headers: { 'content-type': FORM }, native: undefined, ...message })
  const requests = TEXTS.flatMap(([name, text]) => {
    const form = `${base}&${text}`
    const list = text.split('&').map((pair) => pair.split('=')[1] ?? '')
    const fields = { ...Object.fromEntries(new URLSearchParams(base)), a: list.slice(0, 2000) }
    return [
      [`form: ${name}`, form.length, asked({ body: { type: 'text', text: form } })],
      [`query: ${name}`, form.length, asked({ method: 'GET', url: `${path}?${form}` })],
      [`query of a POST: ${name}`, form.length, asked({ url: `${path}?${text}`, body: { type: 'text', text: base } })],
      [`parsed: ${name}`, form.length, asked({ body: { type: 'parsed', fields } })],
    ]
  })
  for (const [header, value] of HEADERS) {
    const message = { headers: { 'content-type': FORM, [header]: value }, body: { type: 'text', text: base } }
    requests.push([`${header}: ${value.slice(0, 24)}`, value.length, asked(message)])
  }
  rows.push([path, await dearest(requests)])
}
const guard = server.guard({ scope: 'repo-code:r' })
const guarded = HEADERS.map(([name, value]) => [
  `${name}: ${value.slice(0, 24)}`,
  value.length,
  () => guard({ headers: { [name]: value }, url: '/', method: 'GET' }),
])
guarded.push([
  'a query',
  HEADER,
  () => guard({ headers: {}, url: `/?${times('access_token&', HEADER)}`, method: 'GET' }),
])
rows.push(['a guard', await dearest(guarded)])

console.log('| where | ms for a KiB | ms for the dearest request | dearest for its size |\n|---|---|---|---|')
for (const [path, { perKib, name, longest }] of rows)
  console.log(`| ${path} | ${perKib.toFixed(3)} | ${longest.toFixed(2)} | ${name} |`)
