/**
 * The two runs of the tests: `npm test`, and `npm run test:slow` for the files named `*.slow.test.ts`.
 * @module
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const everyLine = { statements: 100, branches: 100, functions: 100, lines: 100 }

/** `import ... from 'grantwell'` in a test means the sources, never a build that may be old. */
const entryPoints = {
  grantwell: 'src/index.ts',
  'grantwell/core': 'src/core/index.ts',
  'grantwell/node': 'src/adapters/node/index.ts',
  'grantwell/fetch': 'src/adapters/fetch/index.ts',
  'grantwell/storage/memory': 'src/storage/memory.ts',
  'grantwell/storage/sqlite': 'src/storage/sqlite.ts',
  'grantwell/storage/postgres': 'src/storage/postgres.ts',
  'grantwell/storage/redis': 'src/storage/redis.ts',
  'grantwell/pages': 'src/pages/index.ts',
  'grantwell/metadata': 'src/metadata/index.ts',
  'grantwell/client': 'src/client/index.ts',
  'grantwell/client/node': 'src/client/node/index.ts',
  'grantwell/testing': 'src/testing/index.ts',
}

/** What every project has. */
const resolve = {
  alias: Object.entries(entryPoints).map(([name, file]) => ({
    find: new RegExp(`^${name}$`),
    replacement: `${root}${file}`,
  })),
}
// Against hanging alone: a machine that does something else makes every test several times as long.
const patience = { testTimeout: 180_000, hookTimeout: 180_000 }

/** The files of a project: {@link SLOW} keeps those of one run from the other. */
interface Files {
  readonly include: string[]
  readonly exclude?: string[]
}

/** Outages, killed servers, explorations of every order, mutations, growth, runtimes, and whatever else takes long. */
const SLOW = '**/*.slow.test.ts'

/** The tests that are messages, which must be answered alike whichever way they take; one file has a way of its own. */
const messages = (ending: string): Files => ({
  include: [`test/{protocol,server,transports}/*${ending}`],
  exclude: ['test/server/application-life.test.ts'],
})

/** Makes the configuration of one of the two runs. */
export function configureRun(run: 'quick' | 'slow') {
  const ending = run === 'slow' ? '.slow.test.ts' : '.test.ts'

  /** Makes a run whose messages take one way to a server: `test/transports` has the ways. */
  function project(name: 'direct' | 'node' | 'fetch', { include, exclude = [] }: Files) {
    const others = [...configDefaults.exclude, ...exclude, ...(run === 'quick' ? [SLOW] : [])]
    return { root, resolve, test: { name, env: { GRANTWELL_ADAPTER: name }, ...patience, include, exclude: others } }
  }

  return defineConfig({
    root,
    test: {
      projects: [
        project('direct', { include: [`test/**/*${ending}`] }),
        project('node', messages(ending)),
        project('fetch', messages(ending)),
      ],
      // One more than there are cores, since tests of stores, browsers and processes wait for these.
      maxWorkers: availableParallelism() + 1,
      // Of the whole run, not of each project.
      globalSetup: ['test/engines/notice.ts'],
      // .ci/run counts the tests from this file.
      reporters: process.env['CI'] ? ['default', ['json', { outputFile: `temp/tests-${run}.json` }]] : ['default'],
      coverage: {
        provider: 'v8',
        include: ['src/**/*.ts'],
        // The command is tested as a process of its own, which is not seen from here; what is generated is not ours to test.
        exclude: ['src/cli/**', 'src/metadata/generated/**'],
        reporter: ['text-summary', 'json'],
        reportsDirectory: 'coverage',
        thresholds: { 'src/core/**': everyLine, 'src/protocol/**': everyLine },
      },
    },
  })
}

export default configureRun('quick')
