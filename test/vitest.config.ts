/**
 * The two runs of the tests: `npm test`, and `npm run test:slow` for the files named `*.slow.test.ts`.
 * @module
 */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { LongestFirst } from './longest-first.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const everyLine = { statements: 100, branches: 100, functions: 100, lines: 100 }

/** `import ... from 'grantwell'` in a test means the sources, never a build that may be old. */
const entryPoints = {
  grantwell: 'src/index.ts',
  'grantwell/console': 'src/console/index.ts',
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
  'grantwell/opentelemetry': 'src/opentelemetry/index.ts',
}

/** What every project has. */
const resolve = {
  alias: Object.entries(entryPoints).map(([name, file]) => ({
    find: new RegExp(`^${name}$`),
    replacement: `${root}${file}`,
  })),
}

/** Outages, killed servers, explorations of every order, mutations, growth, runtimes, and whatever else takes long. */
const SLOW = '**/*.slow.test.ts'

/** The messages that must be answered alike whichever way they take: directly in the quick run, by the two adapters in the slow one. */
const PROTOCOL = 'test/{protocol,transports}/*'

/** Those of them that the two adapters take: all but four files that are long, and about nothing that an adapter touches. */
const ADAPTED = 'test/{protocol,transports}/!(client-authentication|consent-binding|device-page|mac).test.ts'

/** All tests that are messages; one file has a way of its own. */
const MESSAGES = `${PROTOCOL}|test/server/!(application-life)*`

/** The tests of functions alone. */
const FUNCTIONS = 'test/{core,metadata,pages}/*'

/**
 * Other tests whose quick files share their processes: the 45 of the documentation took 114 seconds of processor time apart, and take 71.
 * Those left out replace globals or modules of Node, measure memory, or start engines and processes of their own.
 */
const SHARING =
  'docs/snippets/!(fetch)|test/{console,docs,testing,release,opentelemetry}/*|test/client/!(file-lock-race|file-lock-strangers|modeless-disk)'

/** Makes the configuration of one of the two runs. */
export function configureRun(run: 'quick' | 'slow') {
  const ending = run === 'slow' ? '.slow.test.ts' : '.test.ts'
  const filesOf = (folders: string): string[] => folders.split('|').map((folder) => `${folder}${ending}`)
  const slow = run === 'quick' ? [SLOW] : []
  const sharing = run === 'quick' ? filesOf(SHARING) : []
  // Against hanging alone, and no test has a shorter one: a slow or busy machine makes every test many times as long.
  const limit = run === 'slow' ? 900_000 : 300_000
  const patience = { testTimeout: limit, hookTimeout: limit }

  /** Makes a project whose files share their processes: loading the sources anew for each would take a third of the time. */
  function together(name: string, include: readonly string[], adapter: 'direct' | 'node' | 'fetch' = 'direct') {
    const exclude = [...configDefaults.exclude, ...slow]
    const env = { GRANTWELL_ADAPTER: adapter }
    const setupFiles = ['test/same-globals.ts']
    return {
      root,
      resolve,
      test: { name, env, ...patience, isolate: false, setupFiles, include: [...include], exclude },
    }
  }
  const adapters = (['node', 'fetch'] as const).map((adapter) => together(adapter, [ADAPTED], adapter))

  /** Makes the project of all other files, each in a process of its own. */
  function apart(name: string) {
    const exclude = [...configDefaults.exclude, ...slow, ...filesOf(MESSAGES), ...filesOf(FUNCTIONS), ...sharing]
    const env = { GRANTWELL_ADAPTER: 'direct' }
    return { root, resolve, test: { name, env, ...patience, include: [`{test,docs/snippets}/**/*${ending}`], exclude } }
  }

  return defineConfig({
    root,
    test: {
      projects: [
        // `test/transports` has the ways that messages take.
        together('direct', filesOf(MESSAGES)),
        ...(run === 'slow' ? adapters : []),
        together('functions', filesOf(FUNCTIONS)),
        together('sharing', sharing),
        apart('apart'),
      ],
      // Two more than there are cores, since tests of stores, browsers and processes wait for these.
      maxWorkers: availableParallelism() + 2,
      sequence: { sequencer: LongestFirst },
      // Of the whole run, not of each project.
      globalSetup: ['test/once.ts', 'test/engines/notice.ts', ...(run === 'slow' ? ['test/clients/notice.ts'] : [])],
      // .ci/run counts the tests from this file.
      reporters: process.env['CI'] ? ['default', ['json', { outputFile: `temp/tests-${run}.json` }]] : ['default'],
      coverage: {
        provider: 'v8',
        // Of `npm run coverage`, which runs the tests of messages and functions alone: to measure costs a third of their time.
        include: ['src/core/**', 'src/protocol/**'],
        reporter: ['text-summary', 'json'],
        reportsDirectory: 'coverage',
        thresholds: everyLine,
      },
    },
  })
}

export default configureRun('quick')
