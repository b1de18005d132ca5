/**
 * The metadata codec in a real browser, where there is no Buffer and nothing of Node.
 */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import { expect, it } from 'vitest'
import { BROWSER_ARGUMENTS, findChromium, NO_BROWSER } from './chromium.js'

const executablePath = findChromium()

const SCRIPT = `
import { editText, formatText, MetaData, parseText, readMetadata, unknownFields, validate } from './index.js'
const text = 'name: "caf\\\\303\\\\251"\\nthird_party {\\n  version: "1"  # one\\n}\\n'
const bytes = Uint8Array.of(...MetaData.encode(parseText(text)), 0x78, 1)
const record = readMetadata(bytes)
globalThis.result = {
  hasNode: typeof Buffer !== 'undefined' || typeof process !== 'undefined',
  format: record.format,
  json: MetaData.toJSON(MetaData.fromJSON(MetaData.toJSON(record.metadata))),
  unknown: unknownFields(record.metadata).map(({ fieldNumber }) => fieldNumber),
  text: formatText(record.metadata, { unknownFields: 'omit' }),
  edited: editText(text, { 'third_party.version': '2' }),
  problems: validate(record.metadata).map(({ code }) => code),
}`

it.runIf(executablePath !== undefined || process.env['CI'])('the metadata codec works in a browser', async () => {
  if (executablePath === undefined) return expect.fail(NO_BROWSER)
  const resolveDir = fileURLToPath(new URL('../../src/metadata', import.meta.url))
  const { outputFiles } = await build({
    stdin: { contents: SCRIPT, resolveDir },
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  })
  const browser = await chromium.launch({ executablePath, args: BROWSER_ARGUMENTS })
  try {
    const page = await browser.newPage()
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
    expect(await page.evaluate('result')).toEqual({
      hasNode: false,
      format: 'binary',
      json: { name: 'café', thirdParty: { version: '1' } },
      unknown: [15],
      text: 'name: "caf\\303\\251"\nthird_party {\n  version: "1"\n}\n',
      edited: 'name: "caf\\303\\251"\nthird_party {\n  version: "2"  # one\n}\n',
      problems: ['missing_url', 'missing_license_type', 'missing_upgrade_date'],
    })
  } finally {
    await browser.close()
  }
})
