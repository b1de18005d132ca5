// How cost grows: a refresh, a guarded request and an introspection over HTTP, with more and more grants and connections.
//   npm run build && node bench/growth.mjs [--store memory] [--grants N,N] [--connections N,N] [--rounds 5] [--requests N] [--unpinned] [--markdown] [--svg FILE]
// Grants are drawn by lot, each of another user. A server for each number of grants, all at once; the rounds go through them in turn.
// On memory to a million grants by default, on `sqlite`, `postgres` and `redis` to 100,000. 10,000 grants and 32 connections are always among them.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { pin } from './cores.mjs'
import { ratio, tableOf, whole } from './figures.mjs'
import { load, median, startServer } from './load.mjs'
import { stop } from './options.mjs'
import { plot } from './plot.mjs'
import { REQUESTS, sampleOf } from './population.mjs'
import { checkBuild } from './ready.mjs'
import { missingFor } from './stores/open.mjs'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'memory' },
    rounds: { type: 'string', default: '5' },
    requests: { type: 'string' },
    grants: { type: 'string' },
    connections: { type: 'string', default: '1,2,4,8,16,32,64' },
    /** Driver and servers on any core: what collects garbage beside a server has one to itself. */
    unpinned: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
    svg: { type: 'string' },
  },
})
checkBuild()
const missing = missingFor(values.store)
if (missing !== undefined) stop(`${missing} does not tell where it is`)
const rounds = Number(values.rounds)
/** Of each cell in a round. */
const requests = Number(values.requests ?? (values.store === 'memory' ? 1_500 : 400))
const GRANTS = (values.grants ?? `1000,10000,100000${values.store === 'memory' ? ',1000000' : ''}`)
  .split(',')
  .map(Number)
const CONNECTIONS = values.connections.split(',').map(Number)
const OPERATIONS = Object.keys(REQUESTS)
/** What the others are compared with. */
const USUAL = { grants: 10_000, connections: 32 }
/** Grants that are drawn: more than the requests of some rounds. */
const DRAWN = 50_000

const cores = values.unpinned ? undefined : pin()
const servers = []
/** `{ round, grants, connections, operation, rate, p50, p99 }` */
const measured = []
const pauses = new Map()
try {
  for (const grants of GRANTS) {
    const server = await startServer('servers/grantwell-many', {
      connections: Math.max(...CONNECTIONS),
      store: values.store,
      core: cores?.server,
    })
    servers.push({ grants, server, draw: sampleOf(grants, DRAWN) })
    await server.seed('grants', grants)
    process.stderr.write(`${whole(grants)} grants: ${whole((await server.seed('bytes')) / 2 ** 20)} MB\n`)
  }
  for (const each of servers) await measure(each, USUAL.connections)
  for (const { server } of servers) await server.seed('pauses')
  for (let round = 0; round < rounds; round++) {
    for (const connections of CONNECTIONS) {
      // No number of grants is always the first.
      for (const each of [...servers.slice(round % servers.length), ...servers.slice(0, round % servers.length)])
        measured.push(...(await measure(each, connections, round)))
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
  }
  for (const { grants, server } of servers) pauses.set(grants, await server.seed('pauses'))
} finally {
  for (const { server } of servers) await server.stop()
}

async function measure({ grants, server, draw }, connections, round) {
  const cells = []
  for (const operation of OPERATIONS) {
    const figures = await load(connections, requests, () => REQUESTS[operation](server, draw()))
    cells.push({ round, grants, connections, operation, ...figures })
  }
  return cells
}

/** The median over the rounds of a figure of a cell, or of its ratio to the usual cell in the same round. */
function of(figure, cell, base) {
  const runs = (wanted) =>
    measured.filter((each) => Object.entries(wanted).every(([name, value]) => each[name] === value))
  const ratios = runs(cell).map((run) => {
    if (base === undefined) return run[figure]
    const [usual] = runs({ round: run.round, operation: run.operation, ...base })
    return run[figure] / usual[figure]
  })
  return median(ratios)
}

const byGrants = GRANTS.map((grants) => [
  whole(grants),
  ...OPERATIONS.flatMap((operation) => {
    const cell = { grants, connections: USUAL.connections, operation }
    return [ratio(1 / of('rate', cell, USUAL)), ratio(of('p50', cell, USUAL)), ratio(of('p99', cell, USUAL))]
  }),
  whole(pauses.get(grants).length),
  Math.max(0, ...pauses.get(grants)).toFixed(1),
])
const head = OPERATIONS.flatMap((operation) => [operation, 'p50', 'p99'])
const byConnections = CONNECTIONS.map((connections) => [
  whole(connections),
  ...GRANTS.flatMap((grants) =>
    OPERATIONS.map((operation) => ratio(of('rate', { grants, connections, operation }, USUAL))).join(' / '),
  ),
])
const milliseconds = OPERATIONS.map((operation) => {
  const cell = { ...USUAL, operation }
  const [rate, p50, p99] = ['rate', 'p50', 'p99'].map((figure) => of(figure, cell))
  return [operation, whole(rate), p50.toFixed(2), p99.toFixed(2)]
})
const print = (title, ...table) => console.log(`${title}\n\n${tableOf(...table, values.markdown)}\n`)
const usual = `${whole(USUAL.grants)} grants and ${USUAL.connections} connections`
print(
  `Store ${values.store}, ${rounds} rounds of ${requests} requests: ${usual}`,
  ['', 'requests/s', 'p50 ms', 'p99 ms'],
  milliseconds,
)
print(
  `Time of a request, p50 and p99 beside ${usual}; pauses of the collector and the longest, ms`,
  ['grants', ...head, 'pauses', 'longest'],
  byGrants,
)
print(
  `Requests a second beside ${usual}: ${OPERATIONS.join(' / ')}`,
  ['connections', ...GRANTS.map((grants) => `${whole(grants)} grants`)],
  byConnections,
)

if (values.svg !== undefined) {
  const lines = (xs, y) => OPERATIONS.map((name) => ({ name, points: xs.map((x) => [x, y(x, name)]) }))
  const cost = (figure, invert) => (grants, operation) => {
    const value = of(figure, { grants, connections: USUAL.connections, operation }, USUAL)
    return invert ? 1 / value : value
  }
  writeFileSync(
    values.svg,
    plot(
      [
        {
          title: 'Time of a request, on average',
          x: 'live grants',
          base: 10,
          lines: lines(GRANTS, cost('rate', true)),
        },
        { title: 'Time of a request, p99', x: 'live grants', base: 10, lines: lines(GRANTS, cost('p99')) },
        {
          title: 'Requests a second',
          x: 'connections',
          base: 2,
          lines: lines(CONNECTIONS, (connections, operation) =>
            of('rate', { grants: USUAL.grants, connections, operation }, USUAL),
          ),
        },
      ],
      `1 is ${usual}`,
    ),
  )
}
