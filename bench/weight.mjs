// What an entry point of the built package weighs: for a process that imports it, and for a bundle that has it.
import { basename, relative } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/**
 * @typedef {object} Weight
 * @property {number} raw bytes, minified
 * @property {number} gzip the same, each file compressed at level 9
 * @property {number} brotli the same, each file compressed at quality 11
 */

/**
 * Bundles a file as an application would that has nothing else, its libraries with it, and optional peers left out.
 * @param {string} file
 * @param {readonly string[]} peers
 * @returns {Promise<{ files: readonly string[], loaded: Weight, all: Weight }>} the files that importing it loads, what is left
 * of them in a bundle, and the same with all that is loaded at its first use
 */
export async function weigh(file, peers) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: process.cwd(),
    entryPoints: [file],
    bundle: true,
    splitting: true,
    minify: true,
    charset: 'utf8',
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    external: ['node:*', ...peers],
    preserveSymlinks: true,
    outdir: 'out',
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  // A metafile names files from the working directory.
  const bytes = new Map(outputFiles.map(({ path, contents }) => [relative(process.cwd(), path), contents]))
  const input = relative(process.cwd(), file)
  const [output] = [...bytes.keys()].filter((path) => metafile.outputs[path].entryPoint === input)
  const loaded = reached(metafile.outputs, output).map((path) => bytes.get(path))
  return {
    files: reached(metafile.inputs, input).map((path) => basename(path)),
    loaded: weightOf(loaded),
    all: weightOf([...bytes.values()]),
  }
}

/** What is loaded at once with a file of a metafile, itself first. */
function reached(graph, from, found = []) {
  if (graph[from] === undefined || found.includes(from)) return found
  found.push(from)
  for (const { path, kind, external } of graph[from].imports)
    if (kind === 'import-statement' && external !== true) reached(graph, path, found)
  return found
}

/** @returns {Weight} */
function weightOf(files) {
  const sum = (size) => files.reduce((total, file) => total + size(file), 0)
  return {
    raw: sum((file) => file.length),
    gzip: sum((file) => gzipSync(file, { level: 9 }).length),
    brotli: sum((file) => brotliCompressSync(file).length),
  }
}
