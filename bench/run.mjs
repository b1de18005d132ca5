// Authorization servers side by side over HTTP, each against the least that `node:http` can do.
//   npm run bench -- --help
// bench/README.md tells what it does and how to add a contestant.
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { contestants } from './contestants.mjs'
import { pin } from './cores.mjs'
import { load, startServer } from './load.mjs'
import { OPERATIONS } from './operations.mjs'
import { options } from './options.mjs'
import { checkBuild } from './ready.mjs'
import { checkRefusals, REPLAYS } from './refusals.mjs'
import { besideTable, markdown, plain, rowsOf } from './table.mjs'

const settings = options()
const { rounds, requests, slices, warmUp, connections, grants, operations, beside, awake } = settings
checkBuild()
const { taking, absent } = contestants(settings)
const cores = settings.unpinned ? undefined : pin()

const measured = []
const wrong = []
const replays = {}
let running = []
let round = 0
let isInterrupted = false
process.once('SIGINT', () => {
  isInterrupted = true
  for (const { server } of running) server?.child.kill()
})

for (; round < rounds && !isInterrupted; round++) {
  const begun = performance.now()
  running = taking.map((contestant) => ({ ...contestant, lists: { exchanged: [] } }))
  await inTurn(round, async (entrant) => {
    entrant.server = await startServer(entrant.module, { connections, store: entrant.store, core: cores?.server })
  })
  for (const operation of operations) await compare(operation)
  await inTurn(round, checkReplay)
  await Promise.all(running.map(({ server }) => server?.stop()))
  process.stderr.write(`round ${round + 1} of ${rounds}: ${((performance.now() - begun) / 1000).toFixed(1)} s\n`)
}

/**
 * Does something with all that run, one after another. Each time another one begins, and every other time they come in reverse, since a
 * server also pays for what the one before it left to do. Whoever fails is out of the round.
 */
async function inTurn(from, task) {
  const first = (from >> 1) % running.length
  const row = [...running.slice(first), ...running.slice(0, first)]
  for (const entrant of from % 2 === 0 ? row : row.reverse()) {
    if (isInterrupted) return
    const error = await task(entrant).catch((error) => error)
    if (error === undefined || isInterrupted) continue
    wrong.push(`${entrant.name}, round ${round + 1}: ${error.message}`)
    running = running.filter((other) => other !== entrant)
    await entrant.server?.stop()
  }
}

/** Of the requests that count, every contestant answers a slice in turn, since a machine's speed changes from one second to the next. */
async function compare(operation) {
  const { needs, list, seeds, times = 1, step } = OPERATIONS[operation]
  const ofSlice = Math.ceil((requests * times) / slices)
  // After the others' turns its connections are closed, and its memory is not in the processor's caches.
  const again = 2 * connections
  const steps = new Map()
  await inTurn(round, async (entrant) => {
    const { server, lists } = entrant
    if (!server[needs]) return
    const [kind, count] = seeds(warmUp + slices * (again + ofSlice), grants)
    lists[list] ??= []
    lists[list].push(...(await server.seed(kind, Math.max(0, count - lists[list].length))))
    const once = step(server, lists[list], lists.exchanged)
    await load(connections, warmUp, once, awake)
    steps.set(entrant, once)
  })
  for (let slice = 0; slice < slices; slice++) {
    await inTurn(round + slice, async (entrant) => {
      const once = steps.get(entrant)
      if (once === undefined) return
      const { name, server } = entrant
      await load(connections, again, once, awake)
      const before = await server.cpu()
      const figures = await load(connections, ofSlice, once, awake)
      const cpu = ((await server.cpu()) - before) / ofSlice
      measured.push({ round, slice, name, operation, ...figures, cpu })
    })
  }
}

async function checkReplay({ name, server }) {
  const replay = await checkRefusals(server)
  replays[name] = replay
  if (server.replay !== undefined && server.replay !== replay)
    throw new Error(`a refresh token that was presented twice was ${REPLAYS[replay]}; it claims "${server.replay}"`)
}

const rows = rowsOf(measured, operations, taking)
const where = cores === undefined ? 'not pinned' : `driver on core ${cores.driver}, server on core ${cores.server}`
const becomes = Object.entries(REPLAYS).flatMap(([replay, what]) => {
  const names = Object.keys(replays).filter((name) => replays[name] === replay)
  return names.length === 0 ? [] : [`  ${what}: ${names.join(', ')}`]
})
const lines = [
  `Node.js ${process.versions.node}, ${cpus().length} cores, ${where}`,
  `${rounds} rounds of ${requests} requests in ${slices} slices after ${warmUp}, ${connections} at a time, ${grants} grants${awake ? ', driver awake' : ''}`,
  '',
  settings.markdown ? markdown(rows) : plain(rows),
  ...(beside === undefined ? [] : ['', besideTable(measured, operations, taking, beside, settings.markdown)]),
  '',
  'A refresh token that is presented twice is, the second time,',
  ...becomes,
  ...absent.map(({ name, why }) => `${name} did not take part: ${why}`),
  ...wrong.map((each) => `WRONG ${each}`),
]
process.stdout.write(`${lines.join('\n')}\n`)
if (settings.json !== undefined) {
  const about = { node: process.versions.node, cores, rounds, requests, slices, warmUp, connections, grants }
  writeFileSync(settings.json, `${JSON.stringify({ about, measured, replays, absent, wrong }, undefined, 2)}\n`)
}
process.exitCode = isInterrupted ? 130 : wrong.length > 0 ? 1 : 0
