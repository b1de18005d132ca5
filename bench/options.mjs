/** What `npm run bench` is told. */
import { parseArgs } from 'node:util'
import { OPERATIONS } from './operations.mjs'
import { STORES } from './stores/open.mjs'

const OPTIONS = {
  rounds: { type: 'string', default: '5' },
  requests: { type: 'string', default: '2500' },
  slices: { type: 'string', default: '5' },
  'warm-up': { type: 'string', default: '6000' },
  connections: { type: 'string', default: '32' },
  grants: { type: 'string', default: '2000' },
  only: { type: 'string' },
  operations: { type: 'string', default: Object.keys(OPERATIONS).join() },
  stores: { type: 'string', default: STORES.join() },
  add: { type: 'string', multiple: true, default: [] },
  beside: { type: 'string' },
  awake: { type: 'boolean', default: false },
  unpinned: { type: 'boolean', default: false },
  json: { type: 'string' },
  markdown: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
}

const HELP = `npm run bench -- [options]
  --rounds N          of every contestant, in turn; 5
  --requests N        of each operation in a round that count, of those that only read 8 times as many; 2500
  --slices N          that those requests are cut into: contestants take turns slice by slice; 5
  --warm-up N         of each operation in a round before those; 6000
  --connections N     in use at a time; 32
  --grants N          that are validated in turn; 2000
  --only A,B          these contestants; all, and bare always takes part
  --operations A,B    some of: ${Object.keys(OPERATIONS).join(', ')}
  --stores A,B        those that grantwell is measured on, of: ${STORES.join(', ')}
  --add FILE.mjs      a contestant of your own; may be given several times
  --beside NAME       also what each costs and does beside this contestant, slice by slice
  --awake             the driver never sleeps, so no answer has to wake it: for differences of a few percent
  --unpinned          driver and server on any core
  --json FILE         every measurement, as JSON
  --markdown          the table in Markdown
`

/** Ends the run before it began. */
export function stop(why) {
  process.stderr.write(`${why}\n`)
  process.exit(2)
}

export function options() {
  const values = parsed()
  if (values.help) {
    process.stdout.write(HELP)
    process.exit()
  }
  const number = (name) =>
    /^[1-9]\d*$/.test(values[name]) ? Number(values[name]) : stop(`--${name} takes a whole number from 1 on`)
  const some = (name, known) => {
    const asked = values[name].split(',')
    const unknown = asked.filter((each) => !known.includes(each))
    return unknown.length === 0 ? asked : stop(`--${name}: ${unknown.join(', ')} is none of ${known.join(', ')}`)
  }
  const { only, add, beside, awake, unpinned, json, markdown } = values
  const [rounds, requests, slices, connections, grants] = ['rounds', 'requests', 'slices', 'connections', 'grants'].map(
    number,
  )
  const warmUp = number('warm-up')
  // Else one would be refreshed twice at a time.
  if (grants < connections) stop('--grants takes as many as --connections at least')
  return {
    ...{ rounds, requests, slices, warmUp, connections, grants, add, beside, awake, unpinned, json, markdown },
    only: only?.split(','),
    operations: some('operations', Object.keys(OPERATIONS)),
    stores: some('stores', STORES),
  }
}

function parsed() {
  try {
    return parseArgs({ options: OPTIONS }).values
  } catch (error) {
    return stop(`${error.message}\n\n${HELP}`)
  }
}
