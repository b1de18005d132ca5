// One server in a process of its own: says where it listens, and makes what the driver asks for.
//   fork('serve.mjs', [name, port, store])
const [name, port, store] = process.argv.slice(2)
const { start } = await import(new URL(name.endsWith('.mjs') ? name : `${name}.mjs`, import.meta.url).href)
const { seed, ...rest } = await start({ port: Number(port), store })
process.on('message', async ({ kind, count }) =>
  process.send(kind === 'cpu' ? process.cpuUsage() : { seeds: await seed(kind, count) }),
)
// So that what is to be done at the end is done.
for (const end of ['disconnect', 'SIGTERM', 'SIGINT']) process.on(end, () => process.exit())
process.send(rest)
