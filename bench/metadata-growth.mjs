// How time and memory grow with the input: shapes made to be dear, each in a process of its own.
//   npm run bench:metadata -- --growth [part of a name ...]
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { editText, formatText, getField, MetaData, parseText, readMetadata, validate } from 'grantwell/metadata'

const KIB = 1024
const SIZES = [64 * KIB, 1024 * KIB, 8192 * KIB]
const LARGEST = 8192 * KIB
/** Bytes of heap for each byte of the largest input, what it was made into before included; a case that needs more ends there. */
const HEAP = 100
/** Where memory is called large. */
const LARGE = 60
/** A case that is not through by then is stopped, in milliseconds. */
const LIMIT = 60_000
const FLAGS = ['--expose-gc', '--single-threaded', `--max-old-space-size=${(HEAP * LARGEST) / KIB / KIB}`]

const bytes = (...parts) => Buffer.concat(parts.map((part) => Buffer.from(part)))

/** Length-delimited: a field within a field. */
function field(tag, content) {
  const length = []
  let rest = content.length
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) length.push((rest & 0x7f) | 0x80)
  return bytes([tag], [...length, rest], content)
}
const times = (part, size) => Buffer.alloc(Math.floor(size / part.length) * part.length, part)
const NAME = 10
const THIRD_PARTY = 106
const URL = 10
const SECURITY = 58
const TAG = 26

/** @returns as many opened as closed, around nothing */
const nested = (open, close, depth) => open.repeat(depth) + close.repeat(depth)

const BINARY = {
  'unknown varints': (size) => times(bytes([0x20, 1]), size),
  'unknown varints between known fields': (size) => times(bytes([0x20, 1, 0x0a, 0]), size),
  'unknown bytes, empty': (size) => times(bytes([0x22, 0]), size),
  'unknown groups': (size) => times(bytes(Array(90).fill(0x23), Array(90).fill(0x24)), size),
  'one name, ASCII': (size) => field(NAME, times(bytes('a'), size)),
  'one name, not ASCII': (size) => field(NAME, times(bytes('é'), size)),
  'many tags': (size) => field(THIRD_PARTY, field(SECURITY, times(field(TAG, bytes('tag')), size))),
  'many tags, empty': (size) => field(THIRD_PARTY, field(SECURITY, times(bytes([TAG, 0]), size))),
  'many url': (size) => field(THIRD_PARTY, times(field(URL, bytes([8, 1, 18, 12], 'https://a.bc')), size)),
  'many url, empty': (size) => field(THIRD_PARTY, times(bytes([URL, 0]), size)),
  'many url, each with an unknown field': (size) => field(THIRD_PARTY, times(bytes([URL, 2, 0x18, 1]), size)),
  'many url, each with an unknown field 127': (size) => field(THIRD_PARTY, times(bytes([URL, 3, 0xf8, 7, 1]), size)),
  'many third_party': (size) => times(field(THIRD_PARTY, bytes([18, 3], '1.0')), size),
  'many third_party, each with an unknown field': (size) => times(bytes([THIRD_PARTY, 2, 0x18, 1]), size),
}

const TEXT = {
  'a comment a line': (size) => times(bytes('# a comment\n'), size),
  'one comment': (size) => times(bytes('#'), size),
  'blank lines': (size) => times(bytes('\n'), size),
  'one name, plain': (size) => bytes('name: "', times(bytes('a'), size), '"'),
  'one name, not ASCII': (size) => bytes('name: "', times(bytes('é'), size), '"'),
  'one name, of \\n': (size) => bytes('name: "', times(bytes('\\n'), size), '"'),
  'one name, of octal escapes': (size) => bytes('name: "', times(bytes('\\303\\251'), size), '"'),
  'one name, of \\u escapes': (size) => bytes('name: "', times(bytes('\\u00e9'), size), '"'),
  'one name, in empty pieces': (size) => bytes('name: ', times(bytes('""'), size)),
  'one name, in pieces with escapes': (size) => bytes('name: ', times(bytes('"\\t"'), size)),
  'many tags': (size) => bytes('third_party{security{', times(bytes('tag: "a"\n'), size), '}}'),
  'one list of tags': (size) => bytes('third_party{security{tag:["a"', times(bytes(',""'), size), ']}}'),
  'many url': (size) => bytes('third_party{\n', times(bytes('url { type: GIT value: "https://a.bc" }\n'), size), '}'),
  'many url, on one line': (size) => bytes('third_party{', times(bytes('url{value:"a"}'), size), '}'),
  'many url, empty': (size) => bytes('third_party{', times(bytes('url{}'), size), '}'),
  'one list of url, empty': (size) => bytes('third_party{url:[{}', times(bytes(',{}'), size), ']}'),
  'one name again and again': (size) => times(bytes('a:1 '), size),
  'many unknown names': (size) => {
    const parts = []
    for (let index = 0, length = 0; length < size; index++) {
      parts.push(`n${index}: ${index}\n`)
      length += parts[parts.length - 1].length
    }
    return bytes(parts.join(''))
  },
  'unknown list': (size) => bytes('a: [0', times(bytes(',0'), size), ']'),
  'unknown strings': (size) => bytes('a: [""', times(bytes(',""'), size), ']'),
  'unknown messages, empty': (size) => times(bytes('a{}'), size),
  'unknown messages, 100 deep': (size) => times(bytes(nested('a{', '}', 100)), size),
  'unknown messages, 100 deep, on lines': (size) => times(bytes(nested('a {\n', '}\n', 100)), size),
  'one number': (size) => bytes('a: ', times(bytes('7'), size)),
  'one hexadecimal number': (size) => bytes('a: 0x', times(bytes('7'), size)),
  'one year': (size) => bytes('third_party{last_upgrade_date{year: ', times(bytes('7'), size), '}}'),
  'one year, octal': (size) => bytes('third_party{last_upgrade_date{year: 0', times(bytes('0'), size), '7}}'),
  'one extension name': (size) => bytes('[a', times(bytes('.a'), size), ']: 1'),
  'not closed, at the end': (size) => bytes(times(bytes('a: 1\n'), size), 'name: "'),
  'brackets only': (size) => times(bytes('{'), size),
}

const CHANGE = {
  'third_party.version': '1.2.3',
  'third_party.last_upgrade_date': { year: 2026, month: 11, day: 21 },
  'third_party.security.note': 'a note',
}
const REMOVAL = { name: null, 'third_party.security.tag': null, 'third_party.url': null, a: null }

/** What is done with an input: prepared outside the time that is taken. */
const JOBS = {
  binary: {
    decode: (input) => () => MetaData.decode(input),
    'decode to a fault': (input) => () => MetaData.decode(Buffer.concat([input, Buffer.from([0x0c])])),
    encode: (input) => after(MetaData.decode(input), (message) => MetaData.encode(message)),
    format: (input) => after(MetaData.decode(input), (message) => formatText(message)),
    'to JSON': (input) => after(MetaData.decode(input), (message) => MetaData.toJSON(message)),
    validate: (input) => after(MetaData.decode(input), (message) => validate(message)),
  },
  text: {
    parse: (input) => after(input.toString(), (text) => parseText(text)),
    read: (input) => () => readMetadata(input),
    format: (input) => after(parseText(input), (message) => formatText(message)),
    'to JSON': (input) => after(parseText(input), (message) => MetaData.toJSON(message, { unknownText: 'string' })),
    validate: (input) => after(parseText(input), (message) => validate(message)),
    'get a field': (input) => after(parseText(input), (message) => getField(message, 'a')),
    edit: (input) => after(input.toString(), (text) => editText(text, CHANGE)),
    remove: (input) => after(input.toString(), (text) => editText(text, REMOVAL)),
  },
}
const SHAPES = { binary: BINARY, text: TEXT }

function after(prepared, work) {
  return () => work(prepared)
}

/**
 * One case in this process: nanoseconds for each byte at each size, and how far the process grew at the largest, for each byte of input. Time is
 * the processor's, in one thread, garbage collection included, so that other work on the machine does not count.
 * @returns undefined when no such input comes so far
 */
function measure(form, shape, job) {
  const expected = (work) => {
    try {
      return work()
    } catch (error) {
      if (error?.name !== 'MetadataError') throw error
      return undefined
    }
  }
  const prepare = (size) => expected(() => JOBS[form][job](SHAPES[form][shape](size)))
  const small = prepare(4 * KIB)
  if (small === undefined) return undefined
  const warm = performance.now()
  while (performance.now() - warm < 60) expected(small)
  let memory = 0
  let bound = ''
  const nanoseconds = SIZES.map((size) => {
    const work = prepare(size)
    let best = Number.POSITIVE_INFINITY
    for (let round = 0, spent = 0; round < 3 && spent < 5e5; round++) {
      globalThis.gc()
      const before = process.memoryUsage.rss()
      const highest = process.resourceUsage().maxRSS
      const begun = process.cpuUsage()
      expected(work)
      const { user, system } = process.cpuUsage(begun)
      spent += user + system
      best = Math.min(best, ((user + system) * 1000) / size)
      if (size === LARGEST && round === 0) {
        const peak = process.resourceUsage().maxRSS
        // What was prepared may have been higher; then all that is known is that this was not.
        bound = peak === highest ? 'under' : ''
        memory = peak * KIB - before
      }
    }
    return Number(best.toFixed(2))
  })
  return { nanoseconds, memory: Number((memory / LARGEST).toFixed(1)), bound }
}

const child = process.argv.indexOf('--case')
if (child >= 0) {
  const [form, shape, job] = process.argv.slice(child + 1)
  process.stdout.write(JSON.stringify(measure(form, shape, job) ?? null))
} else {
  const wanted = process.argv.slice(process.argv.indexOf('--growth') + 1)
  const rows = []
  for (const [form, shapes] of Object.entries(SHAPES))
    for (const shape of Object.keys(shapes))
      for (const job of Object.keys(JOBS[form])) {
        const name = `${form}: ${shape}: ${job}`
        if (wanted.length === 0 || wanted.some((part) => name.includes(part))) rows.push(run(form, shape, job, name))
      }
  console.log(
    `\nsuperlinear (8 MiB more than 3 times as dear a byte as 1 MiB), or more than ${LARGE} bytes an input byte:`,
  )
  console.log(rows.filter((row) => row?.includes('!')).join('\n') || 'none')
}

/** Prints one row. */
function run(form, shape, job, name) {
  const self = fileURLToPath(import.meta.url)
  let row
  try {
    const printed = execFileSync(process.execPath, [...FLAGS, self, '--case', form, shape, job], {
      encoding: 'utf8',
      timeout: LIMIT,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const result = JSON.parse(printed)
    if (result === null) return undefined
    const { nanoseconds, memory, bound } = result
    // What is as quick as copying is not looked at: a first touch of memory is dearer than the work.
    const isSuperlinear = nanoseconds[2] > 10 && nanoseconds[2] > 3 * nanoseconds[1]
    const isLarge = memory > LARGE && bound === ''
    const figures = nanoseconds.map((each) => String(each).padStart(8)).join('')
    row = `${name.padEnd(64)}${figures} ns/B ${`${bound} ${memory}`.padStart(12)} B/B ${isSuperlinear || isLarge ? '!' : ''}`
  } catch (error) {
    row = `${name.padEnd(64)} ! ${error.code ?? String(error.stderr ?? error).match(/(?:FATAL ERROR|Error).*/)?.[0]}`
  }
  console.log(row)
  return row
}
