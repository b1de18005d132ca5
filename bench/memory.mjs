// What a live grant costs: bytes of this process in the memory store, heap and arrays, and bytes of JSON in every other one.
//   npm run build && node bench/memory.mjs [--grants 10000,100000,1000000] [--markdown]
// Heaps differ by some bytes from run to run; JSON does not. A million grants take some minutes and 3 GB.
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAuthorizationServer } from 'grantwell'
import { PAIRS_IN_GRACE, parseCredential, RETIRED_KEPT } from 'grantwell/core'
import { nodeDigests } from 'grantwell/node'
import { memoryStore } from 'grantwell/storage/memory'
import { CLIENT } from './client.mjs'
import { tableOf, whole } from './figures.mjs'
import { grantOf, pairOf, put, refreshed, SCOPES, subjectOf } from './population.mjs'
import { checkBuild } from './ready.mjs'
import { pairOf as walkedPairOf } from './seeds.mjs'

const { values } = parseArgs({
  options: {
    grants: { type: 'string', default: '10000,100000,1000000' },
    markdown: { type: 'boolean', default: false },
  },
})
checkBuild()
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
const START = 1_800_000_000
const EIGHT_HOURS = 28_800
const TOKEN_CHARACTERS = 85
/** Grants for which the flow is walked, which takes a millisecond each. */
const WALKED = 5_000
const entropyOf = (number, time) => new Uint8Array(createHash('sha512').update(`${number} ${time}`).digest())

async function memory() {
  collect()
  await new Promise((resolve) => setTimeout(resolve, 50))
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** A store of so many grants, and their newest refresh tokens. */
async function stocked(count) {
  const clock = { now: START }
  const tokens = Buffer.alloc(count * TOKEN_CHARACTERS)
  const before = await memory()
  const store = memoryStore({ clock: () => clock.now })
  for (let number = 0; number < count; number++) {
    put(store, grantOf(number, clock.now), 0)
    tokens.latin1Write(pairOf(number).refresh_token, number * TOKEN_CHARACTERS)
  }
  return {
    clock,
    refreshAll: () => {
      for (let number = 0; number < count; number++) {
        const at = number * TOKEN_CHARACTERS
        const [record] = store.read([`grant:${grantIdAt(tokens, at)}`])
        const token = tokens.latin1Slice(at, at + TOKEN_CHARACTERS)
        const after = refreshed({ grant: record.value, token }, clock.now, entropyOf(number, clock.now))
        if (!put(store, after.grant, record.version)) throw new Error('not written')
        tokens.latin1Write(after.token, at)
      }
    },
    bytesEach: async () => ((await memory()) - before) / count,
  }
}

/** A token tells its grant. */
function grantIdAt(tokens, at) {
  return parseCredential(tokens.latin1Slice(at, at + TOKEN_CHARACTERS)).grantId
}

/** Refreshes after which a grant is weighed; more of them only where grants are few. */
const WEIGHED = [0, 1, 2, 10, 100]
const refreshesOf = (count) => (count <= 10_000 ? 100 : 2)

/** Bytes of a grant after so many refreshes, one every 8 hours. */
async function memoryOf(count) {
  const { clock, refreshAll, bytesEach } = await stocked(count)
  const bytes = new Map([[0, await bytesEach()]])
  for (let refreshes = 1; refreshes <= refreshesOf(count); refreshes++) {
    clock.now += EIGHT_HOURS
    refreshAll()
    if (WEIGHED.includes(refreshes)) bytes.set(refreshes, await bytesEach())
  }
  return bytes
}

/** Bytes of a grant for which a browser and a client walked the whole flow: texts that are parts of requests included. */
async function memoryOfWalked(count) {
  let subject = 'nobody'
  const store = memoryStore()
  const server = createAuthorizationServer({
    issuer: 'http://127.0.0.1',
    store,
    digests: nodeDigests,
    user: () => ({ subject }),
    signInUrl: () => '/sign-in',
  })
  const logo = Uint8Array.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01', (character) =>
    character.charCodeAt(0),
  )
  const application = {
    name: 'bench',
    website: 'https://app.example',
    logo,
    type: 'confidential',
    resourceScope: 'all',
  }
  await server.applications.register(
    { ...application, scopes: SCOPES, redirectUris: [CLIENT.redirectUri] },
    { clientId: CLIENT.id, clientSecret: CLIENT.secret },
  )
  const walk = async (from, to) => {
    for (let number = from; number < to; number++) {
      subject = subjectOf(number)
      await walkedPairOf(server)
    }
  }
  await walk(0, 500)
  const [before, records] = [await memory(), store.size]
  await walk(500, 500 + count)
  // Beside each grant is the record of its user's decisions.
  if (store.size !== records + 2 * count) throw new Error('other records than grants and decisions')
  return ((await memory()) - before) / count
}

const bytesOf = (grant) => Buffer.byteLength(JSON.stringify(grant))

/** The largest that a grant can become by refreshes for tokens of type bearer: as large as every pair in grace and every digest make it. */
function largest(grant) {
  const [first] = grant.pairs
  const old = { ...first, superseded: { at: START, until: START, salt: first.access.digest } }
  const pairs = [...Array.from({ length: PAIRS_IN_GRACE }, () => old), first]
  return bytesOf({ ...grant, pairs, retired: Array.from({ length: RETIRED_KEPT }, () => first.access.digest) })
}

/** A grant with its token after one more refresh, so many seconds later; one that is refused as too soon is sent again. */
function next({ grant, token, now }, seconds) {
  for (let at = now + seconds; ; at += seconds) {
    const after = refreshed({ grant, token }, at, entropyOf(0, at))
    if (after !== undefined) return { ...after, now: at }
  }
}

/** Bytes of JSON after 0, 1, 2 and so on to 1,000 refreshes, so many seconds apart. */
function jsonOf(first, seconds) {
  const sizes = [bytesOf(first.grant)]
  for (let after = first; sizes.length <= 1_000; ) {
    after = next(after, seconds)
    sizes.push(bytesOf(after.grant))
  }
  return sizes
}

/** The way to the largest: until no more digests are kept, then until no more pairs are let into grace. */
function jsonOfLargest(first) {
  let after = first
  for (let done = 0; done < RETIRED_KEPT + PAIRS_IN_GRACE; done++) {
    if (done <= RETIRED_KEPT) after = next(after, EIGHT_HOURS)
    else after = { ...after, ...refreshed(after, after.now, entropyOf(done, after.now)) }
  }
  if (refreshed(after, after.now, entropyOf(0, 0)) !== undefined)
    throw new Error('more pairs in grace than there may be')
  return bytesOf(after.grant)
}

const first = { grant: grantOf(0, START), token: pairOf(0).refresh_token, now: START }
const most = largest(first.grant)
const shown = [0, 1, 2, 10, 100, 1_000]
const rows = [
  ['every 8 hours', EIGHT_HOURS],
  ['every 10 seconds', 10],
  ['every 5 seconds', 5],
].map(([name, seconds]) => {
  const sizes = jsonOf(first, seconds)
  if (Math.max(...sizes) > most) throw new Error(`a record of ${Math.max(...sizes)} bytes, over ${most}`)
  return [name, ...shown.map((times) => whole(sizes[times])), whole(Math.max(...sizes))]
})
if (jsonOfLargest(first) !== most) throw new Error(`the largest record has ${jsonOfLargest(first)} bytes, not ${most}`)
console.log('Bytes of JSON of a grant after so many refreshes\n')
console.log(tableOf(['', ...shown.map(whole), 'largest on the way'], rows, values.markdown))
console.log(`\n${whole(most)} at most, whatever is refreshed when\n`)

const counts = values.grants.split(',').map(Number)
await memoryOf(1_000) // so that what engines compile is there before
const columns = []
for (const count of counts) columns.push(await memoryOf(count))
const walked = await memoryOfWalked(WALKED)
console.log('Bytes of a grant in the memory store, heap and arrays, after so many refreshes\n')
const weights = WEIGHED.map((times) => [whole(times), ...columns.map((column) => column.get(times)), undefined])
weights[0][counts.length + 1] = walked
const cells = weights.map(([name, ...bytes]) => [name, ...bytes.map((each) => (each === undefined ? '' : whole(each)))])
console.log(tableOf(['refreshes', ...counts.map(whole), `${whole(WALKED)}, by requests`], cells, values.markdown))
