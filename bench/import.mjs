// What it costs to load each entry point of the built package: time, files, and bytes of a bundle.
//   npm run bench:import
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { weigh } from './weight.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Processes for each import. */
const ROUNDS = 21
/** What has nothing in it: what finding a file of the package costs. */
const FLOOR = './empty'

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const peers = Object.keys(manifest.peerDependencies)
const entries = Object.entries(manifest.exports).flatMap(([entry, { import: module }]) =>
  module === undefined ? [] : [[entry, join(ROOT, module.default)]],
)

// Installed, as users have it: a link to it would be followed each time.
const project = mkdtempSync(join(tmpdir(), 'grantwell-import-'))
const installed = join(project, 'node_modules/grantwell')
cpSync(join(ROOT, 'dist'), join(installed, 'dist'), { recursive: true })
for (const kind of ['mjs', 'cjs']) writeFileSync(join(installed, `dist/empty.${kind}`), '')
manifest.exports[FLOOR] = { import: './dist/empty.mjs', require: './dist/empty.cjs' }
writeFileSync(join(installed, 'package.json'), JSON.stringify(manifest))
for (const name of [
  ...Object.keys(manifest.dependencies),
  'oauth4webapi',
  'fast-check',
  'pure-rand',
  '@bufbuild/protobuf',
]) {
  mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true })
  cpSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name), { recursive: true })
}

/** A program that says how many milliseconds it took to load an entry point. */
function program(entry, kind) {
  const file = join(project, `${entry.replaceAll(/\W/g, '-')}.${kind}`)
  const name = JSON.stringify(`grantwell${entry.slice(1)}`)
  const load = kind === 'mjs' ? `await import(${name})` : `require(${name})`
  writeFileSync(file, `const begun = performance.now()\n${load}\nconsole.log(performance.now() - begun)\n`)
  return { entry, kind, file, times: [] }
}

const programs = ['mjs', 'cjs'].flatMap((kind) =>
  [FLOOR, ...entries.map(([entry]) => entry)].map((entry) => program(entry, kind)),
)

function load({ file, times }) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  times.push(Number(stdout))
}

// In turn, so that other work on the machine takes part in all of them alike.
for (let round = 0; round < ROUNDS; round++) programs.forEach(load)

const least = (times) => Math.min(...times)
const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1]

/** Milliseconds over the floor: the median, and the least. */
function overFloor(entry, kind) {
  const timesOf = (name) => programs.find((each) => each.entry === name && each.kind === kind).times
  return [median, least].map((of) => (of(timesOf(entry)) - of(timesOf(FLOOR))).toFixed(1)).join(' / ')
}

const rows = []
for (const [entry, file] of entries) {
  const { files, loaded, all } = await weigh(file, peers)
  const bytes = ({ raw, gzip, brotli }) => [raw, gzip, brotli].map((each) => each.toLocaleString('en')).join(' / ')
  rows.push({
    entry,
    'import, ms': overFloor(entry, 'mjs'),
    'require, ms': overFloor(entry, 'cjs'),
    files: files.length,
    'bytes / gzip / brotli': bytes(loaded),
    'with what is loaded later': all.raw === loaded.raw ? '' : bytes(all),
  })
}
console.log('Milliseconds over an empty file of the package: median / least of', ROUNDS, 'fresh processes.')
console.table(rows)
rmSync(project, { recursive: true })
