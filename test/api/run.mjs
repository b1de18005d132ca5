/**
 * Compares the public API of every entry point with its committed report (`*.api.md`), one config beside this file each.
 * Exits 1 and shows the difference when one changed; with `--local` the reports are rewritten instead. Exits 1, too, for a public
 * name without a docstring, and for a type that a public name needs and that no entry point exports.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import ts from 'typescript'

const here = fileURLToPath(new URL('.', import.meta.url))
const localBuild = process.argv.includes('--local')

rmSync(join(here, '../../temp/types'), { recursive: true, force: true })
mkdirSync(join(here, '../../temp'), { recursive: true })
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const declarations = spawnSync(process.execPath, [tsc, '-p', here], { stdio: 'inherit' })
if (declarations.status !== 0) process.exit(1)

const configs = readdirSync(here)
  .sort()
  .filter((file) => file.endsWith('.json') && file !== 'tsconfig.json')
  .map((file) => ({ file, config: ExtractorConfig.loadFileAndPrepare(join(here, file)) }))
const exported = exportedNames(configs.map(({ config }) => config.mainEntryPointFilePath))

let failed = 0
for (const { file, config } of configs) {
  const { succeeded, apiReportChanged } = Extractor.invoke(config, {
    localBuild,
    printApiReportDiff: true,
    messageCallback: (message) => {
      if (message.messageId === 'console-preamble') message.handled = true
      if (isExcused(message)) message.logLevel = 'none'
    },
  })
  if (!succeeded) failed += 1
  const outcome = succeeded ? (apiReportChanged ? 'report rewritten' : 'as reported') : 'differs from its report'
  console.log(`${file.replace('.json', '')}: ${outcome}`)
}
if (failed > 0) {
  console.log(`entry points at fault: ${failed}; if one differs from its report and that is meant: npm run api`)
  process.exit(1)
}

/** Lists the names that entry points export. */
function exportedNames(files) {
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  })
  const checker = program.getTypeChecker()
  return new Set(
    files.flatMap((file) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file))
      return checker.getExportsOfModule(module).flatMap((symbol) => {
        const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0
        return isAlias ? [symbol.name, checker.getAliasedSymbol(symbol).name] : [symbol.name]
      })
    }),
  )
}

/** True for what generated code lacks, and for a symbol that another entry point exports, so that its users can name it. */
function isExcused({ messageId, sourceFilePath = '', text }) {
  if (messageId === 'ae-undocumented') return /[\\/]generated[\\/]/.test(sourceFilePath)
  const [, name] = /^The symbol "(\w+?)(?:_\d+)?" needs/.exec(text) ?? []
  return messageId === 'ae-forgotten-export' && exported.has(name)
}
