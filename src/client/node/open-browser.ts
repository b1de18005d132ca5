/**
 * The program of the platform that opens an address in the user's browser.
 * @module
 */
import { spawn } from 'node:child_process'
import { configurationError } from '../errors.js'
import type { LoginPage } from './login-page.js'
import { writeLoginPage } from './login-page.js'

/** The browser opener of the platform, for one login. */
export interface PlatformOpener {
  /**
   * Opens an address through a page that only this user can read. The promise settles when the program ends, which may take as
   * long as the browser runs.
   * @param url - begins with `http:` or `https:`
   * @throws ClientError `ERR_CONFIGURATION` if the page cannot be written, or if the program is missing or fails
   */
  readonly open: (url: string) => Promise<void>
  /** Removes the page. */
  readonly end: () => Promise<void>
}

/** Creates the opener of the platform. */
export function createPlatformOpener(): PlatformOpener {
  let page: Promise<LoginPage> | undefined
  let isOver = false
  return {
    open: async (url) => {
      page = writeLoginPage(url)
      const { address } = await page.catch((error: unknown) => {
        throw configurationError(
          `the page that forwards the browser to the login could not be written: ${ADVICE}`,
          error,
        )
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

const ADVICE = 'give the option onUrl, to show the address to the user, or openBrowser, to open it in another way'

/**
 * Runs the program. No shell is involved, since an address may contain characters that are commands there.
 * This process can end before the program.
 * @param address - the address of a file, which no program can mistake for an option
 */
function run(address: string): Promise<void> {
  const [program, ...parameters] = opener(process.platform, process.env)
  const onWindows = process.platform === 'win32'
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void =>
      reject(configurationError(`no browser could be opened (${program} ${reason}): ${ADVICE}`, cause))
    // In a process group of its own, so that Ctrl-C ends this program but not the browser.
    const child = spawn(program, [...parameters, address], { stdio: 'ignore', detached: !onWindows, windowsHide: true })
    child.on('error', (error) => fail('did not start', error))
    child.on('exit', (code) => (code === 0 ? resolve() : fail('failed')))
    child.unref()
  })
}

/** Returns the program that opens an address, and its arguments before the address. */
export function opener(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['/usr/bin/open']
  if (platform !== 'win32') return ['xdg-open']
  // By its full path: Windows looks in the current folder first, where another program may lie. `start` would need a shell.
  return [`${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\rundll32.exe`, 'url.dll,FileProtocolHandler']
}
