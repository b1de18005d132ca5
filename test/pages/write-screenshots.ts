/**
 * Writes the screenshots of the pages for the site: `npm run docs:screenshots`.
 * @module
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium } from '../browser/chromium.js'
import { SCREENSHOTS } from './screenshots.js'
import { openViewer } from './viewer.js'

const FOLDER = 'docs/public/screenshots'

/** Text stays sharp at this quality, of 100. */
const QUALITY = 80

const executablePath = findChromium()
if (executablePath === undefined) throw new Error('no Chromium or Chrome was found: set CHROMIUM_PATH to the program')

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const { open, changeScreen, page, session, close } = await openViewer(executablePath)
try {
  let bytes = 0
  for (const { file, state, language, ...screen } of SCREENSHOTS) {
    await changeScreen(screen)
    await open(state, language)
    const height = await page.evaluate<number>('Math.ceil(document.body.getBoundingClientRect().bottom)')
    // A picture of a longer page shows its beginning.
    const clip = { x: 0, y: 0, width: screen.width, height: Math.min(height, 1500), scale: 1 }
    const options = { format: 'webp', quality: QUALITY, captureBeyondViewport: true, clip } as const
    const picture = Buffer.from((await session.send('Page.captureScreenshot', options)).data, 'base64')
    writeFileSync(join(FOLDER, file), picture)
    bytes += picture.length
  }
  console.log(`${SCREENSHOTS.length} screenshots in ${FOLDER}: ${Math.ceil(bytes / 1024)} KiB`)
} finally {
  await close()
}
