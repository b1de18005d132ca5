import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Contrib, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library'
import parseLicense from 'spdx-expression-parse'
import { defineConfig, type Options } from 'tsup'

/**
 * One build for all entry points, so that the ESM files share their chunks. `neutral` serves every runtime; what the
 * Node adapter adds to it are the `node:` modules, left as imports. That no other file has one is a rule in biome.json.
 */
const library: Options = {
  entry: {
    index: 'src/index.ts',
    node: 'src/adapters/node/index.ts',
    fetch: 'src/adapters/fetch/index.ts',
    'storage/memory': 'src/storage/memory.ts',
    'storage/sqlite': 'src/storage/sqlite.ts',
    'storage/postgres': 'src/storage/postgres.ts',
    'storage/redis': 'src/storage/redis.ts',
    pages: 'src/pages/index.ts',
    metadata: 'src/metadata/index.ts',
    client: 'src/client/index.ts',
    'client/node': 'src/client/node/index.ts',
    testing: 'src/testing/index.ts',
  },
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  external: [/^node:/],
  removeNodeProtocol: false,
  // `splitting` stays at its default, ESM alone: for CJS it rewrites the code by a second compiler, `??` into calls.
  esbuildPlugins: [{ name: 'one piece', setup: keepInOnePiece }],
  sourcemap: true,
  minify: false,
  esbuildOptions: (options) => {
    // Half the bytes of a language that is not written in ASCII.
    options.charset = 'utf8'
  },
  // The core and the command are built at the same time.
  clean: ['!core.*', '!console.*', '!opentelemetry.*', '!bin/**', '!sbom.*'],
}

/**
 * The core has a build of its own: as an entry point beside the others, it would split what they share into three files more, which
 * each start reads. Nothing in it has an identity, so a program may have it twice.
 */
const core: Options = { ...library, entry: { core: 'src/core/index.ts' }, clean: false, dts: false }

/** So has the console: what it shares with the pages of the server would be split off from them. It tells nothing by its class. */
const consoleBuild: Options = { ...library, entry: { console: 'src/console/index.ts' }, clean: false, dts: false }

/** So has telemetry: it shares a few small files with every store and server, and would split each off. */
const telemetry: Options = {
  ...library,
  entry: { opentelemetry: 'src/opentelemetry/index.ts' },
  clean: false,
  dts: false,
}

/**
 * The types are made in one go. `npm run typecheck` checks them; to do it here, too, would make a build take twice as long. tsup hands the
 * compiler a `baseUrl`, which TypeScript 6 calls deprecated.
 */
library.dts = {
  entry: { ...library.entry, ...core.entry, ...consoleBuild.entry, ...telemetry.entry },
  compilerOptions: { ignoreDeprecations: '6.0', noCheck: true },
}

/**
 * The command, with its libraries in it, so that whoever installs the package installs none of them. What it loads late has files of its
 * own: a start that needs no server takes a fifth less without reading one.
 */
const command = {
  entry: {
    'bin/grantwell': 'src/cli/main.ts',
    'bin/connect': 'src/cli/shell/connect.ts',
    'bin/prompts': 'src/cli/prompts.ts',
  },
  format: ['cjs'],
  platform: 'node',
  target: 'node20',
  noExternal: [/./],
  env: { GRANTWELL_VERSION: JSON.parse(readFileSync('package.json', 'utf8')).version },
  esbuildPlugins: [
    { name: 'late files', setup: leaveForLater },
    { name: 'bundled packages', setup: writeBundled },
  ],
  esbuildOptions: (options) => {
    // Else the bundle says where a linked node_modules really is.
    options.preserveSymlinks = true
  },
  dts: false,
} satisfies Options

export default defineConfig([library, core, consoleBuild, telemetry, command])

type Build = Parameters<Plugin['setup']>[0]

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Makes all that is loaded later import the server, which is there by then. Without it, esbuild would put what the two share
 * into a file of its own for every combination of those that use it, and at start each file costs more than what is in it. The texts of
 * a language share nothing with anything.
 */
function keepInOnePiece(build: Build): void {
  // For CommonJS, all of an entry point is one file anyway.
  if (build.initialOptions.splitting !== true) return
  build.onResolve({ filter: /^\./ }, ({ kind, path, resolveDir }) =>
    kind === 'dynamic-import' && basename(resolveDir) !== 'texts'
      ? { path: join(resolveDir, path), namespace: 'later' }
      : undefined,
  )
  build.onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
    contents: `export {} from ${JSON.stringify(resolve('src/server.ts'))}\nexport * from './${basename(path)}'`,
    resolveDir: dirname(path),
  }))
}

/**
 * Leaves what the command imports late in files beside this one, which are entries of this build. It asks for them by `require`: an import
 * of a file in CommonJS has Node read it twice, first for its names.
 */
function leaveForLater(build: Build): void {
  build.onResolve({ filter: /^\./ }, ({ kind, path, importer, namespace }) => {
    if (namespace === 'late') return { path, external: true }
    if (kind !== 'dynamic-import' || !importer.startsWith(resolve('src/cli'))) return undefined
    const name = basename(path, '.js')
    if (!(`bin/${name}` in command.entry)) throw new Error(`${path} is imported late, and is no entry of the command`)
    return { path: `./${name}.cjs`, namespace: 'late' }
  })
  build.onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
    contents: `module.exports = require(${JSON.stringify(path)})`,
  }))
}

/** Says which packages are in the bundle: their licences beside it, as each of them asks, and a bill of materials. */
function writeBundled(build: Build): void {
  build.initialOptions.metafile = true
  build.onEnd(({ metafile }) => {
    const used = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) => Object.entries(inputs))
    const inputs = used.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []))
    const packages = new Map<string, string[]>()
    for (const file of inputs.sort()) {
      const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []
      if (folder !== undefined) packages.set(folder, [...(packages.get(folder) ?? []), file])
    }
    const texts = [...packages].map(([folder, files]) => licenseOf(folder, files))
    const dist = build.initialOptions.outdir ?? 'dist'
    mkdirSync(join(dist, 'bin'), { recursive: true })
    writeFileSync(
      join(dist, 'bin', 'LICENSES.txt'),
      `The files beside this one have these packages in them.\n\n${texts.join(RULE)}`,
    )
    writeFileSync(join(dist, 'sbom.cdx.json'), billOfMaterials([...packages.keys()]))
  })
}

/**
 * A bill of materials in CycloneDX 1.6: the package, what is bundled into its command, and what npm installs beside it. It has no date
 * and no serial number, so that the same sources give the same file.
 */
function billOfMaterials(bundled: readonly string[]): string {
  const manifest = readManifest('.')
  const root = componentOf(manifest, 'this package')
  for (const folder of bundled) root.components.add(componentOf(readManifest(folder), 'bundled into the command'))
  const bom = new Models.Bom({ metadata: new Models.Metadata({ component: root }) })
  for (const name of Object.keys(manifest.dependencies)) {
    const dependency = componentOf(readManifest(`node_modules/${name}`), 'installed with it')
    bom.components.add(dependency)
    root.dependencies.add(dependency.bomRef)
  }
  const json = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6)
  return `${new Serialize.JsonSerializer(json).serialize(bom, { sortLists: true, space: 2 })}\n`
}

/** What a package says of itself. */
function componentOf(manifest: Manifest, scope: string): Models.Component {
  const { Builders, Factories } = Contrib.FromNodePackageJson
  const licenses = new Contrib.License.Factories.LicenseFactory(parseLicense)
  const builder = new Builders.ComponentBuilder(new Factories.ExternalReferenceFactory(), licenses)
  const component = builder.makeComponent(manifest)
  const { name, version } = manifest
  if (component === undefined) throw new Error(`${name} does not say what it is`)
  component.bomRef.value = `${name}@${version}`
  component.purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  component.properties.add(new Models.Property('grantwell:use', scope))
  return component
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly dependencies: Readonly<Record<string, string>>
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

const RULE = `\n${'-'.repeat(80)}\n\n`

/** The licence of a package; where it has none as a file, the notices at the head of its files, with the licence they name. */
function licenseOf(folder: string, files: readonly string[]): string {
  const { name, version, license } = readManifest(folder)
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  const heads = files.map(
    (each) => /^(?:\/\/.*\n)*/.exec(readFileSync(each, 'utf8'))?.[0].replaceAll(/^\/\/ ?/gm, '') ?? '',
  )
  const texts = file === undefined ? [...new Set(heads)] : [readFileSync(join(folder, file), 'utf8')]
  if (file === undefined && license.includes('Apache-2.0')) texts.push(readFileSync(APACHE, 'utf8'))
  const text = texts.map((each) => each.trim().replaceAll('\r\n', '\n')).join('\n\n')
  if (text === '') throw new Error(`${name} has no licence in it, so it cannot be handed on in a bundle`)
  return `${name} ${version} (${license})\n\n${text}\n`
}

/** The text of the Apache License 2.0, which packages may leave out. */
const APACHE = 'node_modules/typescript/LICENSE.txt'
