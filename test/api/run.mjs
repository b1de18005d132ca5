/**
 * Compares the public API of every entry point with its committed report (`*.api.md`), one config beside this file each.
 * Exits 1 and shows the difference when one changed; with `--local` the reports are rewritten instead.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'

const here = fileURLToPath(new URL('.', import.meta.url))
const localBuild = process.argv.includes('--local')

rmSync(join(here, '../../temp/types'), { recursive: true, force: true })
mkdirSync(join(here, '../../temp'), { recursive: true })
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const declarations = spawnSync(process.execPath, [tsc, '-p', here], { stdio: 'inherit' })
if (declarations.status !== 0) process.exit(1)

let failed = 0
for (const file of readdirSync(here).sort()) {
  if (!file.endsWith('.json') || file === 'tsconfig.json') continue
  const config = ExtractorConfig.loadFileAndPrepare(join(here, file))
  const { succeeded, apiReportChanged } = Extractor.invoke(config, {
    localBuild,
    printApiReportDiff: true,
    messageCallback: (message) => {
      if (message.messageId === 'console-preamble') message.handled = true
    },
  })
  if (!succeeded) failed += 1
  const outcome = succeeded ? (apiReportChanged ? 'report rewritten' : 'as reported') : 'differs from its report'
  console.log(`${file.replace('.json', '')}: ${outcome}`)
}
if (failed > 0) {
  console.log(`entry points that differ from their report: ${failed}; if that is meant: npm run api`)
  process.exit(1)
}
