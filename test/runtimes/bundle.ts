/**
 * The portable suite as a file for each kind of runtime, over a build of the library: what is tested is what users get,
 * reached by the `exports` of package.json.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { HERE } from './runtimes.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Other people's records, which tests may read where they are, and which are never a part of this project. */
const RECORDS = join(ROOT, '../shared/metadata')

/** Marks what is resolved for the second time. */
const ALREADY = Symbol('already')

/** What is bundled: the suite as a program and as a worker, and a host as both. */
const ENTRIES = ['main', 'worker', 'serve', 'serve-worker'] as const

/** A directory with, for each entry, a module `NAME.mjs` and a configuration of workerd, `NAME.capnp`, that has it as a worker. */
export interface Bundle {
  readonly directory: string
  /** The modules that are left to the runtime: none, if all is well. */
  readonly imports: readonly string[]
}

/**
 * Builds the library and bundles the suite into an empty directory.
 * @param date - of the workerd that will run it: it is to behave as it does for who begins today
 * @throws Error with all that the build said
 */
export async function bundleSuite(directory: string, date: string): Promise<Bundle> {
  buildLibrary(join(directory, 'node_modules/grantwell'))
  const { metafile } = await build({
    entryPoints: ENTRIES.map((name) => join(HERE, `${name}.ts`)),
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    mainFields: ['module', 'main'],
    // Whatever of Node is imported, the runtime is to say so.
    external: ['node:*'],
    nodePaths: [join(ROOT, 'node_modules')],
    // Those of the project lead to the sources.
    tsconfigRaw: '{}',
    metafile: true,
    logLevel: 'silent',
    plugins: [
      {
        name: 'package',
        // From wherever it is imported: else a file of this repository would take what may lie in its own `dist`.
        setup: ({ onResolve, resolve }) => {
          onResolve({ filter: /^grantwell(\/|$)/ }, ({ path, kind, pluginData }) =>
            pluginData === ALREADY ? undefined : resolve(path, { kind, resolveDir: directory, pluginData: ALREADY }),
          )
        },
      },
      {
        name: 'records',
        setup: ({ onLoad }) => {
          onLoad({ filter: /[\\/]runtimes[\\/]suite[\\/]records\.ts$/ }, () => ({
            contents: `export const records = ${JSON.stringify(readRecords())}`,
          }))
        },
      },
    ],
  })
  for (const name of ENTRIES) writeFileSync(join(directory, `${name}.capnp`), configuration(`${name}.mjs`, date))
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path))
  return { directory, imports: [...new Set(imports)] }
}

/** From its sources, as it is published. */
function buildLibrary(directory: string): void {
  mkdirSync(directory, { recursive: true })
  copyFileSync(join(ROOT, 'package.json'), join(directory, 'package.json'))
  const tsup = join(ROOT, 'node_modules/tsup/dist/cli-default.js')
  const args = [tsup, '--config', join(HERE, 'tsup.config.ts'), '--out-dir', join(directory, 'dist')]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the library was not built: ${stdout}\n${stderr}`)
}

function readRecords(): Record<string, string> {
  if (!existsSync(RECORDS)) return {}
  const files = readdirSync(RECORDS).filter((file) => file.endsWith('.textproto'))
  return Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(RECORDS, file), 'utf8')]))
}

/** A worker of one file. As of late, its runtime has Node's modules and globals unless both flags say that it has not. */
function configuration(file: string, date: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "${file}", esModule = embed "${file}")],
  compatibilityDate = "${date}",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
);
`
}
