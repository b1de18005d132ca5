/**
 * `init`: writes a service of one file, and its test.
 * @module
 */
import type { Command } from 'commander'
import { Option } from 'commander'
import { exitWith } from '../options.js'
import { escapeLine, print } from '../output.js'
import { inspectFolder, placeOf, SERVICE, TEST, writeFolder } from './folder.js'
import { FRAMEWORK_NAMES, FRAMEWORKS } from './frameworks.js'
import type { ManifestFile } from './manifest.js'
import { completeManifest, dependenciesOf, newManifest, SCRIPTS, sectionOf } from './manifest.js'
import type { Choices } from './questions.js'
import { askMissing, canAsk } from './questions.js'
import { serviceText } from './service.js'
import { testText } from './service-test.js'
import { STORE_NAMES, STORES } from './stores.js'

/** The exit code of a program that Ctrl-C ended, as shells report it: 128 + SIGINT. */
const EXIT_CANCELLED = 130

/** The values of each option, for a command line that lacks it. */
const VALUES = { framework: FRAMEWORK_NAMES, store: STORE_NAMES } as const

/** @param version - the version of this package, for the dependencies of the service */
export function addInit(parent: Command, version: string): void {
  parent
    .command('init')
    .summary('write a service with an authorization server, and its test')
    .description(
      'Write a service of one file with an authorization server inside, and its test. Asks for what no option says.',
    )
    .argument('[directory]', 'the folder to write to; it is made if it is missing', '.')
    .addOption(new Option('--framework <name>', 'the framework of the service').choices(VALUES.framework))
    .addOption(new Option('--store <name>', 'the place of its records').choices(VALUES.store))
    .addHelpText(
      'after',
      `
Writes ${SERVICE}, ${TEST} and package.json. It replaces no file. A package.json that is
there already gets the scripts and dependencies that it lacks.

Example:
  grantwell init my-service --framework express --store postgres

Exit code: 0, 2 when nothing was written, 130 when a question was cancelled.`,
    )
    .action(async (directory: string, given: Partial<Choices>, command: Command) => {
      if (!canAsk()) refuseMissing(given, command)
      const before = await inspectFolder(directory)
      const choices = await askMissing(given)
      if (choices === undefined) return exitWith(EXIT_CANCELLED)
      await writeService(directory, choices, version, before)
      await print(summaryOf(directory, choices, before))
    })
}

/** Ends the command if an option is missing and there is nobody to ask. */
function refuseMissing(given: Partial<Choices>, command: Command): void {
  const missing = (['framework', 'store'] as const).filter((name) => given[name] === undefined)
  if (missing.length === 0) return
  const options = missing.map((name) => `--${name} ${VALUES[name].join('|')}`)
  command.error(`error: there is no terminal to ask on: give ${options.join(' and ')}`)
}

async function writeService(
  directory: string,
  choices: Choices,
  version: string,
  before: ManifestFile | undefined,
): Promise<void> {
  const [framework, store] = [FRAMEWORKS[choices.framework], STORES[choices.store]]
  const dependencies = dependenciesOf(version, [...framework.packages, ...store.packages])
  const manifest = before === undefined ? newManifest(dependencies) : completeManifest(before, dependencies)
  await writeFolder(directory, { service: serviceText(framework, store), test: testText(framework), manifest }, before)
}

/** Says what was written, and what to do next. */
function summaryOf(directory: string, { store }: Choices, before: ManifestFile | undefined): string {
  const place = escapeLine(placeOf(directory))
  const { engine } = STORES[store]
  const scripts = sectionOf(before?.manifest ?? {}, 'scripts')
  const run = (script: 'start' | 'test', otherwise: string): string =>
    (scripts[script] ?? SCRIPTS[script]) === SCRIPTS[script] ? `npm ${script}` : otherwise
  return `${SERVICE} and ${TEST} were written to ${place}.
${before === undefined ? 'A package.json was written as well.' : 'The package.json there has what they need.'}

Run these commands in ${place}:
  npm install
  ${run('test', `node --test ${TEST}`)}
  ${run('start', SCRIPTS.start)}
${engine === undefined ? '' : `\nThe last one needs ${engine}.`}
The sign-in asks for no password. Replace placeholderSignIn in ${SERVICE} before others use the service.
`
}
