/**
 * The platform's way to open an address in the browser of the user.
 * @module
 */
import { spawn } from 'node:child_process'
import { mistake } from '../options.js'

/**
 * Opens an address. The program gets it as it is: no shell reads it, for an address has characters that are commands there.
 * It is not waited for when this process ends.
 * @param url - begins with `http:` or `https:`, so that no program can take it for an option or a file
 * @throws ClientError `ERR_CONFIGURATION` where that program is not there, or fails; it may take as long as the browser runs
 */
export function openBrowser(url: string): Promise<void> {
  const [program, ...parameters] = opener(process.platform, process.env)
  const onWindows = process.platform === 'win32'
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void => {
      const advice = 'give the option onUrl, to show the address to the user, or openBrowser, to open it otherwise'
      reject(mistake(`no browser could be opened (${program} ${reason}): ${advice}`, cause))
    }
    // In a group of its own, so that the Ctrl-C which ends this program leaves the browser alone.
    const child = spawn(program, [...parameters, url], { stdio: 'ignore', detached: !onWindows, windowsHide: true })
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
