/**
 * The program curl, where the machine has it, and what it gets.
 * @module
 */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Without a configuration or proxy of the machine; the head of the answer in front of its body. */
const ALWAYS = ['--disable', '--noproxy', '*', '--silent', '--show-error', '--include']

/** The version that the machine has; undefined where there is none. */
export const curlVersion: string | undefined = /^curl (\S+)/.exec(
  spawnSync('curl', ['--version'], { encoding: 'utf8' }).stdout ?? '',
)?.[1]

export const NO_CURL =
  'The flows with curl were NOT tested, since there is no curl on this machine. Install it, and run the tests again.'

/** What curl got. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Runs curl with these arguments. Rejects where it got no answer. */
export async function curl(...args: readonly string[]): Promise<Answer> {
  const { stdout } = await run('curl', [...ALWAYS, ...args])
  const end = stdout.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = stdout.slice(0, end).split('\r\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { status: Number(statusLine.split(' ')[1]), headers: new Map(headers), body: stdout.slice(end + 4) }
}

/** A form as arguments, each value encoded by curl itself. */
export function form(fields: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`])
}
