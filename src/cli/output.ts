/**
 * Output of the command: results on standard output, everything else on standard error.
 * @module
 */
import { once } from 'node:events'
import { styleText } from 'node:util'

/** One style at a time: given several, Node 20 does not check whether the stream is a terminal. */
type Style = 'red' | 'green' | 'yellow' | 'cyan' | 'bold' | 'dim'

/** The exit code of a program whose output pipe was closed, as shells report it: 128 + SIGPIPE. */
const EXIT_CLOSED_PIPE = 141

/** Writes a result. Resolves when the stream can take the next one. */
export async function print(result: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(result)) await once(process.stdout, 'drain')
}

/** Writes a line on standard error. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Colours a text where it goes to a terminal. `NO_COLOR` and `FORCE_COLOR` have their usual meaning. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream })
}

/** Exits without a message when the reader closes the pipe, as `head` does after ten lines. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') printError(`standard output: ${error.message}`)
    process.exit(error.code === 'EPIPE' ? EXIT_CLOSED_PIPE : 2)
  })
  process.stderr.on('error', () => {})
}

/** Characters that move the cursor or change the direction of text. Records and file names must not do that. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Escapes a text for one line of a terminal. */
export function escapeLine(text: string): string {
  return text.replace(UNSAFE, escapeCharacter)
}

/** Escapes a text of several lines for a terminal. JSON keeps its meaning. */
export function escapeLines(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  )
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Escapes text format for a terminal, with the octal escapes of text format, so that it keeps its meaning. */
export function escapeTextFormat(text: string): string {
  const octal = (byte: number): string => `\\${byte.toString(8).padStart(3, '0')}`
  return text.replace(UNSAFE, (character) =>
    character === '\n' ? character : Array.from(Buffer.from(character), octal).join(''),
  )
}

/** Writes a number with its noun: `1 record`, `2 records`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
