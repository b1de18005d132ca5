import { defineConfig } from 'tsup'

/**
 * One build for all entry points, so that the ESM files share their chunks. `neutral` serves every runtime; what the
 * Node adapter adds to it are the `node:` modules, left as imports. That no other file has one is a rule in biome.json.
 */
export default defineConfig({
  entry: {
    index: 'src/index.ts',
    node: 'src/adapters/node.ts',
    fetch: 'src/adapters/fetch.ts',
    'storage/memory': 'src/storage/memory.ts',
    pages: 'src/pages/index.ts',
  },
  format: ['esm', 'cjs'],
  platform: 'neutral',
  target: 'es2022',
  external: [/^node:/],
  removeNodeProtocol: false,
  // `splitting` stays at its default, ESM alone: for CJS it rewrites the code by a second compiler, `??` into calls.
  sourcemap: true,
  minify: false,
  clean: true,
  // tsup hands the compiler a `baseUrl`, which TypeScript 6 calls deprecated.
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
})
