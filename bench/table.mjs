/** The one table of a run: operations, and in each the contestants, beside the floor in the same slice of the same round. */
import { tableOf } from './figures.mjs'
import { median } from './load.mjs'

const HEAD = ['operation', 'contestant', 'requests/s', 'of floor', 'half of all', 'p50 ms', 'p99 ms', 'CPU µs']

const turnOf = ({ round, slice }) => `${round} ${slice}`

/** What a quarter, half and three quarters of the numbers are at most; nothing of none. */
function quartersOf(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  return [1, 2, 3].map((quarters) => sorted[(sorted.length * quarters) >> 2])
}

/** @param measured - `{ round, slice, name, operation, rate, p50, p99, cpu }`, of which some may be missing */
export function rowsOf(measured, operations, contestants) {
  const rows = []
  for (const operation of operations) {
    const ofOperation = measured.filter((each) => each.operation === operation)
    for (const { name, floor = 'bare' } of contestants) {
      const runs = ofOperation.filter((each) => each.name === name)
      const floors = new Map(ofOperation.filter((each) => each.name === floor).map((each) => [turnOf(each), each.rate]))
      if (runs.length === 0) continue
      const ratios = runs.filter((each) => floors.has(turnOf(each))).map((each) => each.rate / floors.get(turnOf(each)))
      const [quarter, half, threeQuarters] = quartersOf(ratios)
      const middle = (figure, digits) => median(runs.map((run) => run[figure])).toFixed(digits)
      rows.push([
        operation,
        name,
        Math.round(median(runs.map(({ rate }) => rate))).toLocaleString('en'),
        half?.toFixed(2) ?? '',
        half === undefined ? '' : `${quarter.toFixed(2)}–${threeQuarters.toFixed(2)}`,
        middle('p50', 2),
        middle('p99', 2),
        middle('cpu', 0),
      ])
    }
  }
  return rows
}

/** Each operation's name stands once, at its first row. */
const grouped = (rows) =>
  rows.map(([operation, ...rest], at) => [rows[at - 1]?.[0] === operation ? '' : operation, ...rest])

export function plain(rows) {
  const all = [HEAD, ...grouped(rows)]
  const widths = HEAD.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  const pad = (cell, column) => (column < 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))
  return all.map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
}

export function markdown(rows) {
  const rule = HEAD.map((_, column) => (column < 2 ? '---' : '---:'))
  return [HEAD, rule, ...grouped(rows)].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

/** The median of many ratios, and where it lies in 19 of 20 such runs: between the two of their order that are so far from the middle. */
function medianWithin(ratios) {
  const sorted = ratios.toSorted((a, b) => a - b)
  const away = Math.ceil(0.98 * Math.sqrt(sorted.length))
  const at = (place) => sorted[Math.min(sorted.length - 1, Math.max(0, place))].toFixed(3)
  const middle = sorted.length >> 1
  return [at(middle), `${at(middle - away)}–${at(middle + away)}`]
}

/** Each contestant beside one of them, in the same slice of the same round: requests a second, and processor time of a request. */
export function besideTable(measured, operations, contestants, beside, isMarkdown) {
  const rows = operations.flatMap((operation) => {
    const ofOperation = measured.filter((each) => each.operation === operation)
    const others = new Map(ofOperation.filter(({ name }) => name === beside).map((each) => [turnOf(each), each]))
    return contestants.flatMap(({ name }) => {
      const pairs = ofOperation.filter((each) => each.name === name && others.has(turnOf(each)))
      if (name === beside || pairs.length === 0) return []
      const ratios = (figure) => medianWithin(pairs.map((each) => each[figure] / others.get(turnOf(each))[figure]))
      return [[`${operation}: ${name}`, ...ratios('rate'), ...ratios('cpu')]]
    })
  })
  return tableOf([`beside ${beside}`, 'requests/s', '95 % within', 'CPU', '95 % within'], rows, isMarkdown)
}
