/**
 * Identifiers on the command line. They are random, so one in 64 begins with a hyphen, as an option does.
 * @module
 */
import type { Command } from 'commander'

/** Commands whose arguments are identifiers. */
const COMMANDS: readonly (string | undefined)[] = ['applications', 'grants']

/** An identifier of 16 bytes in base64url that begins with a hyphen. No option is as long. */
const LIKE_AN_OPTION = /^-[\w-]{21}$/

/** Stands in front of such an identifier while the line is read. No word of a command line can have it. */
const MARK = '\0'

/** Marks the identifiers that look like options. */
export function markIdentifiers(words: readonly string[]): readonly string[] {
  if (!COMMANDS.includes(words[0])) return words
  const end = words.indexOf('--')
  return words.map((word, index) =>
    LIKE_AN_OPTION.test(word) && (end === -1 || index < end) ? `${MARK}${word}` : word,
  )
}

/** Takes the marks away before a command runs. */
export function unmarkIdentifiers(root: Command): void {
  root.hook('preAction', (_, command) => {
    for (const [index, value] of command.processedArgs.entries()) command.processedArgs[index] = unmark(value)
    for (const [name, value] of Object.entries(command.opts())) command.setOptionValue(name, unmark(value))
  })
}

function unmark(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmark)
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : value
}
