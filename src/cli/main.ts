#!/usr/bin/env node
/**
 * The command `grantwell`: `init` writes a service with an authorization server inside, `applications`, `grants` and `store` are for the
 * administrators of one, and `metadata` reads, checks and changes records of third-party projects.
 * @module
 */
import { Command, CommanderError } from 'commander'
import { addCheck } from './check.js'
import { addConvert } from './convert.js'
import { isFileName } from './files/file-names.js'
import { STDIN } from './files/files.js'
import { addInit } from './init/init.js'
import { EXIT, exitWith } from './options.js'
import { escapeLine, escapeLines, exitOnClosedPipe, printError } from './output.js'
import { addSet } from './set.js'
import { addApplications } from './shell/applications.js'
import { addGrants } from './shell/grants.js'
import { markIdentifiers, unmarkIdentifiers } from './shell/identifiers.js'
import { addStore } from './shell/store.js'
import { addShow } from './show.js'

/** The version, which the build inserts. */
const VERSION = process.env['GRANTWELL_VERSION'] ?? 'unknown'

function program(): Command {
  const root = new Command('grantwell')
    .description(
      'An embeddable authorization server, and a codec for metadata records: init writes a service with the server inside; applications, grants and store administer it; metadata works on records.',
    )
    .exitOverride()
    // Error messages quote unknown options. An option can be the name of an untrusted file that a pattern matched.
    .configureOutput({
      writeOut: (text) => process.stdout.write(escapeLines(text)),
      writeErr: (text) => process.stderr.write(escapeLines(text)),
    })
    .showHelpAfterError('(--help says more)')
  addInit(root, VERSION)
  addApplications(root)
  addGrants(root)
  addStore(root)
  const metadata = root
    .command('metadata')
    .description('Read, check, convert and change metadata records: text (as in files named METADATA), JSON or binary.')
    .addHelpText(
      'after',
      `
Folders are searched for files named METADATA or *.textproto, *.textpb, *.txtpb, *.pbtxt.
A path of - is standard input, and so is no path where something is piped in.

Examples:
  grantwell metadata show third_party                   a table of all records below
  grantwell metadata check third_party                  what is wrong with them
  grantwell metadata set third_party.version=1.3.2 third_party.last_upgrade_date=2026-11-21 zlib/METADATA
  grantwell metadata convert --to json zlib/METADATA | jq .thirdParty.url`,
    )
  addShow(metadata)
  addCheck(metadata)
  addConvert(metadata)
  addSet(metadata)
  for (const command of [root, ...root.commands, ...root.commands.flatMap(({ commands }) => commands)])
    command.version(VERSION, '-V, --version')
  unmarkIdentifiers(root)
  return root
}

/**
 * Refuses options that are also names of files, so that a pattern such as `*` cannot turn a file's name into an option. A file
 * named `--` would turn the options after it into paths.
 */
async function refuseNamesOfFiles(command: Command, words: readonly string[]): Promise<void> {
  for (const word of words) {
    if (word.startsWith('-') && word !== STDIN && (await isFileName(word)))
      command.error(
        `error: ${word} is an option, and a file has that name: write ./${word} for the file, and run this in another folder for the option`,
      )
    if (word === '--') return
  }
}

async function run(): Promise<void> {
  const words = process.argv.slice(2)
  const command = program()
  await refuseNamesOfFiles(command, words)
  await command.parseAsync(markIdentifiers(words), { from: 'user' })
}

async function main(): Promise<void> {
  exitOnClosedPipe()
  try {
    await run()
  } catch (error) {
    // Commander has printed the message. `--help` and `--version` end here too, with exit code 0.
    if (error instanceof CommanderError) exitWith(error.exitCode === 0 ? 0 : EXIT.failure)
    else {
      printError(`grantwell: ${escapeLine(error instanceof Error ? error.message : String(error))}`)
      exitWith(EXIT.failure)
    }
  }
  // A connection that a configuration file opened and does not close would keep the process for ever. A closed pipe ends it by itself.
  process.stdout.write('', (error) => {
    if (!error) process.exit()
  })
}

void main()
