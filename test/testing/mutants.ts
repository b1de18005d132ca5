/**
 * Our own sources with one line broken on purpose, bundled and loaded: what the kit must catch.
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A change of one place of a file below `src`. */
export interface Mutation {
  /** What is wrong then, in words; names the bundle, too. */
  readonly name: string
  readonly file: string
  /** A text that the file has exactly once, however it is broken into lines, and what stands there instead. */
  readonly find: string
  readonly replace: string
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * Loads the entry point `src/index.ts` (or another) with a mutation in it.
 * @throws Error where the file does not have the text exactly once: then the mutation no longer says what it means
 */
export async function mutant<Module = typeof import('grantwell')>(
  { name, file, find, replace }: Mutation,
  entry = 'index.ts',
): Promise<Module> {
  const path = join(ROOT, 'src', file)
  const source = readFileSync(path, 'utf8')
  const place = new RegExp(find.trim().split(/\s+/).map(literally).join('\\s+'), 'g')
  if (source.match(place)?.length !== 1) throw new Error(`${file} does not have exactly once: ${find}`)
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'src', entry)],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    external: ['node:*', 'fast-check'],
    plugins: [
      {
        name: 'mutation',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, (args) =>
            args.path === path ? { contents: source.replace(place, () => replace), loader: 'ts' } : undefined,
          )
        },
      },
    ],
  })
  const directory = join(ROOT, 'temp/mutants')
  mkdirSync(directory, { recursive: true })
  const output = join(directory, `${process.pid}-${name.replaceAll(/\W+/g, '-')}.mjs`)
  writeFileSync(output, outputFiles[0]?.contents ?? '')
  return (await import(/* @vite-ignore */ pathToFileURL(output).href)) as Module // it is that very module, but for the mutation
}
