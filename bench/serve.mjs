// One server in a process of its own: says where it listens, and makes what the driver asks for.
//   fork('serve.mjs', [name, port, store])
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const [name, port, store] = process.argv.slice(2)
const { start } = await import(new URL(name.endsWith('.mjs') ? name : `${name}.mjs`, import.meta.url).href)
const { seed, ...rest } = await start({ port: Number(port), store })
process.on('message', async ({ kind, count }) => {
  if (kind === 'cpu') return process.send(process.cpuUsage())
  const seeds = await seed(kind, count)
  // What making them left behind is no cost of the requests that are timed: pages for grants, mostly.
  collectGarbage()
  process.send({ seeds })
})
// So that what is to be done at the end is done.
for (const end of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(end, () => process.exit())
process.send(rest)
