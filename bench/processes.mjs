// Two server processes over the records of one PostgreSQL, and over those of one Redis, beside one process alone.
//   npm run build && POSTGRES_URL=... REDIS_URL=... node bench/processes.mjs [--stores postgres,redis] [--rounds 7] [--requests 1500] [--markdown]
// First of all, what makes two processes one service: pairs that one gave work at the other, and a token that is refreshed at both
// at once gives one pair. Then the same load for one and for both, half of the connections each, in turn.
import { parseArgs } from 'node:util'
import { ratio, tableOf, whole } from './figures.mjs'
import { load, median, startServer } from './load.mjs'
import { pairOf, REQUESTS, sampleOf, subjectOf } from './population.mjs'
import { checkBuild } from './ready.mjs'
import { missingFor, removeRecords } from './stores/open.mjs'

const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: 'postgres,redis' },
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '1500' },
    markdown: { type: 'boolean', default: false },
  },
})
checkBuild()
const [rounds, requests] = [Number(values.rounds), Number(values.requests)]
const GRANTS = 10_000
const CONNECTIONS = 32
/** Grants that are looked at closely before the load; the load has the others. */
const CHECKED = 300
const OPERATIONS = Object.keys(REQUESTS)

const rows = []
for (const store of values.stores.split(',')) {
  const missing = missingFor(store)
  if (missing === undefined) rows.push(...(await compare(store)))
  else console.log(`${store} did not take part: ${missing} does not tell where it is`)
}
console.log(`${rounds} rounds of ${requests} requests, ${CONNECTIONS} at a time, ${whole(GRANTS)} grants\n`)
console.log(tableOf(['', 'one, requests/s', 'two / one', 'p50', 'p99'], rows, values.markdown))

async function compare(store) {
  const namespace = `bench-two-${process.pid}`
  const begin = () =>
    startServer('servers/grantwell-many', { connections: CONNECTIONS, store: `${store}@${namespace}` })
  const running = []
  try {
    // One after the other: the first registers the applications.
    running.push(await begin())
    running.push(await begin())
    const [one, other] = running
    await one.seed('grants', GRANTS)
    await check(one, other)
    console.log(
      `${store}: ${CHECKED} pairs of either process work at the other; refreshed at both at once, ${CHECKED} tokens gave one pair each`,
    )
    const draw = sampleOf(GRANTS, GRANTS - CHECKED, CHECKED)
    const measured = []
    for (let round = 0; round <= rounds; round++) {
      for (const operation of OPERATIONS) {
        let turn = 0
        const runs = [
          ['one', () => REQUESTS[operation](one, draw())],
          ['two', () => REQUESTS[operation](turn++ % 2 === 0 ? one : other, draw())],
        ]
        const figures = {}
        for (const [name, step] of round % 2 === 0 ? runs : runs.toReversed())
          figures[name] = await load(CONNECTIONS, requests, step)
        // The first round is for warming up.
        if (round > 0) measured.push({ operation, ...figures })
      }
    }
    return OPERATIONS.map((operation) => {
      const own = measured.filter((each) => each.operation === operation)
      const beside = (figure) => ratio(median(own.map(({ one, two }) => two[figure] / one[figure])))
      return [
        `${store}, ${operation}`,
        whole(median(own.map((each) => each.one.rate))),
        ...['rate', 'p50', 'p99'].map(beside),
      ]
    })
  } finally {
    for (const server of running) await server.stop()
    await removeRecords(store, namespace)
  }
}

/** @throws Error where the two processes are not one service */
async function check(one, other) {
  for (let number = 0; number < CHECKED; number++) {
    const pair = { ...pairOf(number), sub: subjectOf(number) }
    const [here, there] = number % 2 === 0 ? [one, other] : [other, one]
    await REQUESTS.refresh(here, pair)
    await REQUESTS.guard(there, pair)
    await REQUESTS.introspect(there, pair)
    const twins = [{ ...pair }, { ...pair }]
    await Promise.all([REQUESTS.refresh(here, twins[0]), REQUESTS.refresh(there, twins[1])])
    if (twins[0].access_token !== twins[1].access_token || twins[0].refresh_token !== twins[1].refresh_token)
      throw new Error('refreshed at both at once, a token gave two pairs')
    await REQUESTS.guard(one, twins[0])
    await REQUESTS.guard(other, twins[0])
  }
}
