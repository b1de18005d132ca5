// What one connection with an unfinished request makes a server hold: kilobytes of heap and of buffers, for each endpoint and attack.
//   npm run build && node bench/held.mjs [--platform node,fetch] [--connections 8] [--heap 512] [--markdown] [--slow]
// "ended" is a server that ran out of its heap of so many MB. With --slow, the host's functions never answer.
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { tableOf, whole } from './figures.mjs'
import { attacksOf, endpointsOf, measure, startServer } from './held/attacks.mjs'
import { checkBuild } from './ready.mjs'

const { values } = parseArgs({
  options: {
    platform: { type: 'string', default: 'node,fetch' },
    connections: { type: 'string', default: '8' },
    markdown: { type: 'boolean', default: false },
    slow: { type: 'boolean', default: false },
    heap: { type: 'string', default: '512' },
    file: { type: 'string' },
  },
})
if (values.file === undefined) checkBuild()
const file = values.file ?? fileURLToPath(new URL('held/server.mjs', import.meta.url))
/** One figure; a server that ran out of memory is started anew. */
async function figure(servers, platform, attack, endpoint) {
  servers[platform] ??= await startServer(file, platform, [`--max-old-space-size=${values.heap}`])
  const server = servers[platform]
  await server.ask({ slow: values.slow })
  try {
    // Once before, for what is made at the first use.
    await measure(server, attack(endpoint(server)), 1)
    return whole((await measure(server, attack(endpoint(server)), Number(values.connections))) / 1024)
  } catch {
    await server.end()
    servers[platform] = undefined
    return 'ended'
  }
}

const ATTACKS = attacksOf()
const servers = {}
for (const platform of values.platform.split(',')) {
  const rows = []
  for (const [index, { path }] of endpointsOf().entries()) {
    const row = [path]
    for (const attack of Object.values(ATTACKS))
      row.push(await figure(servers, platform, attack, ({ endpoints }) => endpoints[index]))
    process.stderr.write(`${row.join(' ')}\n`)
    rows.push(row)
  }
  process.stdout.write(`${tableOf([`kB on ${platform}`, ...Object.keys(ATTACKS)], rows, values.markdown)}\n\n`)
  await servers[platform]?.end()
}
