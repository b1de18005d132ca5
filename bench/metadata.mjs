// What `grantwell/metadata` costs beside other codecs: binary and text, as ratios, in one run.
//   npm run bench:metadata                 decode, encode, parse and print of two records
//   npm run bench:metadata -- --growth     time and memory over input made to be dear, 64 KiB to 8 MiB
import assert from 'node:assert/strict'
import { contestantsOf } from './metadata-contestants.mjs'
import { RECORDS } from './metadata-records.mjs'

const ROUNDS = 61
/** How long one contestant runs in one round, and how long before the first, in nanoseconds. */
const TURN = 4e6
const WARM = 4e8

if (process.argv.includes('--growth')) await import('./metadata-growth.mjs')
else compare(await contestantsOf())

function compare(contestants) {
  for (const [record, text] of Object.entries(RECORDS)) {
    const jobs = jobsOf(contestants, text)
    const size = contestants.grantwell.encode(contestants.grantwell.parse(text)).length
    console.log(`\n${record}: ${Buffer.byteLength(text)} bytes of text, ${size} of binary`)
    for (const [job, { beside, runs }] of Object.entries(jobs)) report(job, beside, measure(runs))
  }
}

/**
 * Every contestant's work, after a check that it comes to the same: a record that one read is what the other read, and all
 * write the same bytes.
 */
function jobsOf(contestants, text) {
  const { grantwell } = contestants
  const record = grantwell.parse(text)
  const binary = grantwell.encode(record)
  const json = grantwell.json(record)
  const runs = { decode: {}, encode: {}, 'parse text': {}, 'print text': {} }
  for (const [name, { decode, encode, parse, print, json: toJson }] of Object.entries(contestants)) {
    const message = decode(binary)
    assert.deepEqual(toJson(message), json, `${name}: decode`)
    assert.deepEqual(Buffer.from(encode(message)), Buffer.from(binary), `${name}: encode`)
    runs.decode[name] = () => decode(binary)
    runs.encode[name] = () => encode(message)
    if (parse === undefined) continue
    assert.deepEqual(toJson(parse(text)), json, `${name}: parse`)
    assert.deepEqual(grantwell.json(grantwell.parse(print(message))), json, `${name}: print`)
    runs['parse text'][name] = () => parse(text)
    runs['print text'][name] = () => print(message)
  }
  const rivals = { decode: ['@bufbuild/protobuf'], encode: ['@bufbuild/protobuf'] }
  return Object.fromEntries(
    Object.entries(runs).map(([job, each]) => [
      job,
      { beside: rivals[job] ?? Object.keys(each).filter((name) => name !== 'grantwell'), runs: each },
    ]),
  )
}

/**
 * Nanoseconds of the processor that each takes, round by round. All take a turn in every round, each time from another place
 * in the row, so that what disturbs the machine disturbs them alike.
 */
function measure(runs) {
  const names = Object.keys(runs)
  const counts = names.map((name) => calibrate(runs[name]))
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const times = {}
    for (let turn = 0; turn < names.length; turn++) {
      const index = (turn + round) % names.length
      times[names[index]] = nanoseconds(runs[names[index]], counts[index])
    }
    rounds.push(times)
  }
  return rounds
}

function nanoseconds(run, count) {
  let result
  const begun = process.cpuUsage()
  for (let index = 0; index < count; index++) result = run()
  const { user, system } = process.cpuUsage(begun)
  // So that no compiler finds the work to be for nothing.
  assert.notEqual(result, undefined)
  return ((user + system) * 1000) / count
}

/** How often a turn does it; it is warm then. */
function calibrate(run) {
  let each = nanoseconds(run, 1000)
  for (let spent = 0; spent < WARM; spent += each * 5000) each = nanoseconds(run, 5000)
  return Math.max(1, Math.round(TURN / each))
}

function report(job, beside, rounds) {
  const names = Object.keys(rounds[0])
  // The quicker of the rivals, by their medians over all rounds.
  const medians = Object.fromEntries(names.map((name) => [name, median(rounds.map((times) => times[name]))]))
  const rival = beside.toSorted((a, b) => medians[a] - medians[b])[0]
  const least = (name) => Math.min(...rounds.map((times) => times[name]))
  console.log(`\n${job}, beside ${rival}`)
  console.table(
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          // Of two that ran in one round.
          'median ratio': ratio(median(rounds.map((times) => times[name] / times[rival]))),
          'ratio of the least': ratio(least(name) / least(rival)),
          'median ns': Math.round(medians[name]),
          'least ns': Math.round(least(name)),
        },
      ]),
    ),
  )
}

function ratio(number) {
  return Number(number.toFixed(2))
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[sorted.length >> 1]
}
