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
import { markdown, plain, rowsOf } from './table.mjs'

const settings = options()
const { rounds, requests, warmUp, connections, grants, operations } = settings
checkBuild()
const { taking, absent } = contestants(settings)
const cores = settings.unpinned ? undefined : pin()

const measured = []
const wrong = []
const replays = {}
let running
let isInterrupted = false
process.once('SIGINT', () => {
  isInterrupted = true
  running?.child.kill()
})

for (let round = 0; round < rounds; round++) {
  // No place in the row is favoured.
  const first = round % taking.length
  for (const contestant of [...taking.slice(first), ...taking.slice(0, first)]) {
    if (isInterrupted) break
    const begun = performance.now()
    const error = await contest(contestant, round).catch((error) => error)
    await running?.stop()
    running = undefined
    if (error !== undefined && !isInterrupted) wrong.push(`${contestant.name}, round ${round + 1}: ${error.message}`)
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    process.stderr.write(`round ${round + 1} of ${rounds}: ${contestant.name}, ${seconds} s\n`)
  }
}

async function contest({ name, module, store }, round) {
  const server = await startServer(module, { connections, store, core: cores?.server })
  running = server
  const lists = { exchanged: [] }
  for (const operation of operations) {
    const { needs, list, seeds, step } = OPERATIONS[operation]
    if (!server[needs]) continue
    const [kind, count] = seeds(warmUp + requests, grants)
    lists[list] ??= []
    lists[list].push(...(await server.seed(kind, Math.max(0, count - lists[list].length))))
    const once = step(server, lists[list], lists.exchanged)
    await load(connections, warmUp, once)
    const before = await server.cpu()
    const figures = await load(connections, requests, once)
    measured.push({ round, name, operation, ...figures, cpu: ((await server.cpu()) - before) / requests })
  }
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
  `${rounds} rounds of ${requests} requests after ${warmUp}, ${connections} at a time, ${grants} grants`,
  '',
  settings.markdown ? markdown(rows) : plain(rows),
  '',
  'A refresh token that is presented twice is, the second time,',
  ...becomes,
  ...absent.map(({ name, why }) => `${name} did not take part: ${why}`),
  ...wrong.map((each) => `WRONG ${each}`),
]
process.stdout.write(`${lines.join('\n')}\n`)
if (settings.json !== undefined) {
  const about = { node: process.versions.node, cores, rounds, requests, warmUp, connections, grants }
  writeFileSync(settings.json, `${JSON.stringify({ about, measured, replays, absent, wrong }, undefined, 2)}\n`)
}
process.exitCode = isInterrupted ? 130 : wrong.length > 0 ? 1 : 0
