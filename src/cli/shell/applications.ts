/**
 * `applications`: what administrators decide on, on the command line.
 * @module
 */
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { InvalidArgumentError, Option } from 'commander'
import type { Application, AuthorizationServer, Registration } from '../../index.js'
import type { ChangeOptions } from './run.js'
import { actorOf, addChange, agrees, allOf, Refused, show, tableOf, timeOf, withServer } from './run.js'
import { withStoreOptions } from './store-options.js'

const STATES = ['pending', 'approved', 'suspended', 'rejected'] as const

/** The most applications of a page of the list. */
const PAGE = 100

/** Adds the command. */
export function addApplications(root: Command): void {
  const applications = root
    .command('applications')
    .description('List applications, and decide on them.')
    .addHelpText(
      'after',
      `
Every command takes the store: --config FILE, --postgres URL, --sqlite FILE or --redis URL, or
the variable GRANTWELL_POSTGRES, GRANTWELL_SQLITE or GRANTWELL_REDIS.

Examples:
  grantwell applications list --state pending
  grantwell applications approve X6jZm1yQ --revision 1
  grantwell applications suspend web --yes

Exit code: 0, 1 when the store refuses it, 2 when nothing was done.`,
    )
  addReading(applications)
  addReview(applications)
  addLife(applications)
}

function addReading(parent: Command): void {
  withStoreOptions(parent.command('list').description('List applications.'))
    .addOption(new Option('--state <state>', 'those of one state').choices(STATES))
    .addOption(new Option('--applicant <user>', 'those that a user handed in'))
    .option('--search <text>', 'those with words in their name, website, redirect URIs or applicant')
    .action(async (options: ListOptions) => withServer(options, (server) => list(server, options)))
  withStoreOptions(parent.command('show').description('Show all of an application.').argument('<id>')).action(
    async (id: string, options: ChangeOptions) =>
      withServer(options, async ({ applications }) => {
        const found = await applications.get(id)
        if (found === undefined) throw new Refused(`there is no application ${id}`)
        await show({ ...options, json: true }, withoutDigests(found), () => [])
      }),
  )
}

function addReview(parent: Command): void {
  addChange(parent, 'approve', 'Approve what waits: a new application, or a change.')
    .argument('<id>')
    .requiredOption('--revision <number>', 'the revision that you looked at', wholeNumber)
    .option('--scopes <scopes...>', 'fewer or narrower scopes than it asked for')
    .action(async (id: string, options: ChangeOptions & { revision: number; scopes?: string[] }) =>
      withServer(options, async ({ applications }) => {
        const { revision, scopes } = options
        const credentials = await applications.approve(id, { revision, ...(scopes && { scopes }), ...actorOf(options) })
        await showCredentials(options, credentials)
      }),
    )
  addChange(parent, 'reject', 'Reject what waits.')
    .argument('<id>')
    .requiredOption('--revision <number>', 'the revision that you looked at', wholeNumber)
    .requiredOption('--reason <text>', 'the reason, which the applicant reads')
    .action(async (id: string, options: ChangeOptions & { revision: number; reason: string }) =>
      withServer(options, async ({ applications }) => {
        await applications.reject(id, { revision: options.revision, reason: options.reason, ...actorOf(options) })
        await show(options, { rejected: id }, () => [`rejected ${id}`])
      }),
    )
}

function addLife(parent: Command): void {
  addChange(parent, 'suspend', 'Suspend an application: its tokens stop working with the next request.')
    .argument('<id>')
    .action(async (id: string, options: ChangeOptions) =>
      withServer(options, async ({ applications }) => {
        if (!(await agrees(options, `Suspend ${id}? Nothing works that its users permitted, until it is reinstated.`)))
          return
        await applications.suspend(id, actorOf(options))
        await show(options, { suspended: id }, () => [`suspended ${id}`])
      }),
    )
  addChange(parent, 'reinstate', 'Reinstate a suspended application.')
    .argument('<id>')
    .action(async (id: string, options: ChangeOptions) =>
      withServer(options, async ({ applications }) => {
        await applications.reinstate(id, actorOf(options))
        await show(options, { reinstated: id }, () => [`reinstated ${id}`])
      }),
    )
  addChange(parent, 'rotate', 'Give an application a new client secret, and print it.')
    .argument('<id>')
    .option('--overlap <seconds>', 'the seconds that older secrets still work; a day by default', wholeNumber)
    .action(async (id: string, options: ChangeOptions & { overlap?: number }) =>
      withServer(options, async ({ applications }) => {
        const { overlap } = options
        if (overlap === 0 && !(await agrees(options, `End every older secret of ${id} at once?`))) return
        const made = await applications.rotateSecret(id, {
          ...(overlap !== undefined && { overlap }),
          ...actorOf(options),
        })
        await showCredentials(options, made)
      }),
    )
  addChange(parent, 'register', 'Register an application that needs no review, from a file of JSON.')
    .argument('<file>', 'its registration: name, website, redirectUris and the rest; logo is the path of an image')
    .action(async (file: string, options: ChangeOptions) =>
      withServer(options, async ({ applications }) =>
        showCredentials(options, await applications.register(await readRegistration(file), actorOf(options))),
      ),
    )
  addChange(parent, 'delete', 'Delete an application, and end all that its users permitted.')
    .argument('<id>')
    .option('--erase', 'erase all that is left of it, its applicant too')
    .action(async (id: string, options: ChangeOptions & { erase?: true }) =>
      withServer(options, async ({ applications, grants }) => {
        const { grants: count, users } = await grants.countGrants(id)
        if (!(await agrees(options, `Delete ${id}? It ends ${count} grants of ${users} users.`))) return
        await (options.erase ? applications.erase(id, actorOf(options)) : applications.delete(id, actorOf(options)))
        await show(options, { deleted: id }, () => [`deleted ${id}`])
      }),
    )
}

type ListOptions = ChangeOptions & {
  readonly state?: Application['state']
  readonly applicant?: string
  readonly search?: string
}

/** Lists applications, all pages of them. */
async function list({ applications }: AuthorizationServer, options: ListOptions): Promise<void> {
  const { state, applicant, search: text } = options
  const wanted = { ...(state && { state }), ...(applicant && { applicant }), ...(text && { text }) }
  const found = await allOf(
    (from) => applications.search(wanted, { limit: PAGE, ...from }),
    (page) => page.applications,
  )
  await show(options, found.map(withoutDigests), () =>
    tableOf(['ID', 'STATE', 'NAME', 'WAITS', 'APPLICANT', 'SINCE'], found.map(rowOf)),
  )
}

/** Leaves out the digests of the client secrets: what is printed is often passed on. */
function withoutDigests(application: Application): object {
  const { secrets, ...others } = application
  return secrets === undefined ? others : { ...others, secrets: secrets.map(({ digest: _, ...secret }) => secret) }
}

function rowOf(application: Application): readonly unknown[] {
  const { id, state, review, applicant, createdAt } = application
  const { name } = 'name' in application ? application : application.review.details
  return [id, state, name, review === undefined ? '' : `revision ${review.revision}`, applicant, timeOf(createdAt)]
}

async function showCredentials(
  options: ChangeOptions,
  made: { readonly clientId: string; readonly clientSecret?: string },
): Promise<void> {
  const { clientId, clientSecret } = made
  await show(options, made, () => [
    `client_id      ${clientId}`,
    ...(clientSecret === undefined ? [] : [`client_secret  ${clientSecret}`, 'It is not shown again.']),
  ])
}

/** Reads a registration from a file. Its logo is the path of an image. */
async function readRegistration(file: string): Promise<Registration> {
  const registration = JSON.parse(await readFile(file, 'utf8'))
  const { logo } = registration
  return typeof logo === 'string' ? { ...registration, logo: new Uint8Array(await readFile(logo)) } : registration
}

/** Reads a whole number of the command line. */
function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}
