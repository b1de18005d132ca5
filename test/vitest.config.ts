import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const everyLine = { statements: 100, branches: 100, functions: 100, lines: 100 }

/** `import ... from 'grantwell'` in a test means the sources, never a build that may be old. */
const entryPoints = {
  grantwell: 'src/index.ts',
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

/** A run of tests whose messages take one way to a server: `test/transports` has them. */
function project(name: 'direct' | 'node' | 'fetch', files: { include: string[]; exclude?: string[] }) {
  return { root, resolve, test: { name, env: { GRANTWELL_ADAPTER: name }, ...patience, ...files } }
}

/** The tests that are messages, which must be answered alike whichever way they take; one file has a way of its own. */
const messages = {
  include: ['test/{protocol,server,transports}/*.test.ts'],
  exclude: ['test/server/application-life.test.ts'],
}

export default defineConfig({
  root,
  test: {
    projects: [
      project('direct', { include: ['test/**/*.test.ts'] }),
      project('node', messages),
      project('fetch', messages),
    ],
    // One more than there are cores, since tests of stores, browsers and processes wait for these.
    maxWorkers: availableParallelism() + 1,
    // Of the whole run, not of each project.
    globalSetup: ['test/engines/notice.ts'],
    // .ci/run counts the tests from this file.
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: 'temp/tests.json' }]] : ['default'],
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
