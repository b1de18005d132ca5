/**
 * The platform's way to open an address in the browser of the user.
 * @module
 */
import { spawn } from 'node:child_process'
import { mistake } from '../options.js'
import { type LoginPage, writeLoginPage } from './login-page.js'

/** The opener of the platform, for one login. */
export interface PlatformOpener {
  /**
   * Opens an address by way of a page that only this user can read. It settles when the opener has ended, which may take as
   * long as the browser runs.
   * @param url - begins with `http:` or `https:`
   * @throws ClientError `ERR_CONFIGURATION` where the page cannot be written, or where the program is not there or fails
   */
  readonly open: (url: string) => Promise<void>
  /** Removes the page. */
  readonly end: () => Promise<void>
}

/** Makes the opener of the platform ready. */
export function platformOpener(): PlatformOpener {
  let page: Promise<LoginPage> | undefined
  let isOver = false
  return {
    open: async (url) => {
      page = writeLoginPage(url)
      const { address } = await page.catch((error: unknown) => {
        throw mistake(`no page could be written that leads a browser to the login: ${ADVICE}`, error)
      })
      if (!isOver) await run(address)
    },
    end: async () => {
      isOver = true
      const written = await page?.catch(() => undefined)
      await written?.remove()
    },
  }
}

const ADVICE = 'give the option onUrl, to show the address to the user, or openBrowser, to open it otherwise'

/**
 * Runs the opener. It gets the address as it is: no shell reads it, for an address has characters that are commands there.
 * It is not waited for when this process ends.
 * @param address - that of a file, so that no program can take it for an option
 */
function run(address: string): Promise<void> {
  const [program, ...parameters] = opener(process.platform, process.env)
  const onWindows = process.platform === 'win32'
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void =>
      reject(mistake(`no browser could be opened (${program} ${reason}): ${ADVICE}`, cause))
    // In a group of its own, so that the Ctrl-C which ends this program leaves the browser alone.
    const child = spawn(program, [...parameters, address], { stdio: 'ignore', detached: !onWindows, windowsHide: true })
    child.on('error', (error) => fail('did not start', error))
    child.on('exit', (code) => (code === 0 ? resolve() : fail('failed')))
    child.unref()
  })
}

/** The program that opens an address, and what stands in front of the address. */
export function opener(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform !== 'win32') return ['xdg-open']
  // By its whole path: Windows looks in the current folder first, where anybody's file may lie. `start` would need a shell.
  return [`${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler']
}
