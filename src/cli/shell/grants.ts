/**
 * `grants`: what users permitted, on the command line.
 * @module
 */
import type { Command } from 'commander'
import { Option } from 'commander'
import type { AuthorizationServer, GrantSummary } from '../../index.js'
import type { ChangeOptions } from './run.js'
import { actorOf, addChange, agrees, allOf, Refused, show, tableOf, timeOf, withServer } from './run.js'
import { withStoreOptions } from './store-options.js'

/** Adds the command. */
export function addGrants(root: Command): void {
  const grants = root
    .command('grants')
    .description('List what users permitted, and end it.')
    .addHelpText(
      'after',
      `
Examples:
  grantwell grants list ada
  grantwell grants revoke ada nQzJ3tUwq1h0Vb6xkT8m2A
  grantwell grants revoke-all --client web --yes

Exit code: 0, 1 when there is no such grant or the store refuses it, 2 when nothing was done.`,
    )
  withStoreOptions(
    grants.command('list').description('List the grants of a user that work.').argument('<user>'),
  ).action(async (user: string, options: ChangeOptions) =>
    withServer(options, async (server) => {
      const found = await grantsOf(server, user)
      await show(options, found, () =>
        tableOf(['GRANT', 'APPLICATION', 'NAME', 'SCOPES', 'SINCE', 'LAST USED', 'ENDS'], found.map(rowOf)),
      )
    }),
  )
  addChange(grants, 'revoke', 'End one grant of a user.')
    .argument('<user>')
    .argument('<grant>')
    .action(async (user: string, grant: string, options: ChangeOptions) =>
      withServer(options, async (server) => {
        if (!(await agrees(options, `End the grant ${grant} of ${user}?`))) return
        if (!(await server.grants.revokeGrant(user, grant, actorOf(options))))
          throw new Refused(`${user} has no grant ${grant} that works`)
        await show(options, { revoked: 1 }, () => ['1 grant ended'])
      }),
    )
  addChange(grants, 'revoke-all', 'End all grants of a user, of an application, or all that there are.')
    .argument('[user]')
    .addOption(new Option('--client <id>', 'those to one application'))
    .addOption(new Option('--everything', 'all of them: for the day after a backup was restored').conflicts('client'))
    .action(async (user: string | undefined, options: RevokeAllOptions, command: Command) => {
      if (user === undefined && options.client === undefined && !options.everything)
        command.error('error: name a user, --client ID or --everything')
      if (user !== undefined && options.everything) command.error('error: --everything takes no user')
      await withServer(options, (server) => revokeAll(server, user, options))
    })
}

type RevokeAllOptions = ChangeOptions & { readonly client?: string; readonly everything?: true }

/** Ends many grants, once the user agreed. */
async function revokeAll(
  { grants }: AuthorizationServer,
  user: string | undefined,
  options: RevokeAllOptions,
): Promise<void> {
  const { client } = options
  const whose = user === undefined ? '' : ` of ${user}`
  const to = client === undefined ? '' : ` to ${client}`
  if (!(await agrees(options, `End every grant${whose}${to}?`))) return
  const by = actorOf(options)
  let revoked: number
  if (user !== undefined)
    revoked = await grants.revokeAll(user, { ...(client !== undefined && { clientId: client }), ...by })
  else revoked = client === undefined ? await grants.revokeEverything(by) : await grants.revokeApplication(client, by)
  await show(options, { revoked }, () => [`${revoked} ${revoked === 1 ? 'grant' : 'grants'} ended`])
}

/** Lists the grants of a user, all pages of them. */
function grantsOf({ grants }: AuthorizationServer, user: string): Promise<readonly GrantSummary[]> {
  return allOf(
    (from) => grants.listGrants(user, from),
    (page) => page.grants,
  )
}

function rowOf({ grantId, clientId, application, scopes, createdAt, lastUsedAt, expiresAt }: GrantSummary) {
  return [
    grantId,
    clientId,
    application.name,
    scopes.join(' '),
    timeOf(createdAt),
    timeOf(lastUsedAt),
    timeOf(expiresAt),
  ]
}
