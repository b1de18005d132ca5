/**
 * The page on which users see which applications they permitted something, and take it back.
 * @module
 */
import { clientKeyOf } from './core/digests.js'
import type { ClientId } from './core/values.js'
import type { Grants, PermittedGrant } from './grants.js'
import type { Interaction, PageSettings } from './interaction.js'
import { dataUri } from './interaction.js'
import type { User } from './options.js'
import type { AuthorizedApplication } from './pages/index.js'
import { notAccessible } from './protocol/authorization.js'
import type { FormBinding } from './protocol/consent.js'
import { FORM_FIELDS } from './protocol/consent.js'
import { ENDPOINT_PATHS } from './protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { pageResponse, redirectResponse } from './protocol/page.js'
import { bodyParameters, isError, valuesIn } from './protocol/parameters.js'
import type { Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** How many grants are looked at, of how many applications the logos, and how many characters of logos a page embeds. */
const GRANTS_SHOWN = 1000
const LOGOS_SHOWN = 12
const LOGO_CHARACTERS = 2 * 1024 * 1024

/** Makes the page of a server: `GET` shows it, `POST` takes one of its forms. */
export function authorizedApplicationsEndpoint<Native>(
  settings: PageSettings<Native>,
  transactions: Transactions,
  interaction: Interaction<Native>,
  grants: Grants,
): (request: HttpRequest<Native>) => Promise<HttpResponse> {
  const { issuer, issuerPath, digests, pages } = settings
  const stylesheet = issuerPath + ENDPOINT_PATHS.stylesheet
  const action = issuerPath + ENDPOINT_PATHS.applications

  /** The grants of a user, the newest first. */
  async function grantsOf(user: User): Promise<{ readonly found: readonly PermittedGrant[]; readonly more: boolean }> {
    const found: PermittedGrant[] = []
    let cursor: string | undefined
    do {
      const page = await grants.listGrants(user.subject, cursor === undefined ? {} : { cursor })
      for (const grant of page.grants) found.push(grant)
      cursor = page.cursor
    } while (cursor !== undefined && found.length < GRANTS_SHOWN)
    found.sort((a, b) => (b.lastUsedAt ?? b.createdAt) - (a.lastUsedAt ?? a.createdAt))
    return { found, more: cursor !== undefined }
  }

  async function logosOf(clients: readonly ClientId[]): Promise<ReadonlyMap<ClientId, { readonly logo?: string }>> {
    const shown = clients.slice(0, LOGOS_SHOWN)
    const logos = new Map<ClientId, { readonly logo?: string }>()
    if (shown.length === 0) return logos
    const records = await transactions.read(shown.map((clientId) => keys.application(clientKeyOf(digests, clientId))))
    if ('type' in records) return logos
    const names = records.map((record) => {
      const application = recordAs.application(record?.value)
      return application !== undefined && 'logo' in application ? application.logo : ''
    })
    const found = await transactions.read(names.map((name) => keys.logo(name)))
    if ('type' in found) return logos
    let left = LOGO_CHARACTERS
    for (const [index, clientId] of shown.entries()) {
      const embedded = dataUri(recordAs.logo(found[index]?.value))
      left -= embedded.logo?.length ?? 0
      if (left >= 0) logos.set(clientId, embedded)
    }
    return logos
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn('applications', '')
    const { found, more } = await grantsOf(user)
    const byClient = new Map<ClientId, PermittedGrant[]>()
    for (const grant of found) byClient.set(grant.clientId, [...(byClient.get(grant.clientId) ?? []), grant])
    const logos = await logosOf([...byClient.keys()])
    const names = new Map((await interaction.resourcesOf(user)).map(({ id, name }) => [id, name ?? id]))
    const binder = interaction.bind(request, user)
    const applications = [...byClient].map(([clientId, permitted]): AuthorizedApplication => {
      const [{ application }] = permitted as [PermittedGrant] // made with one
      return {
        name: application.name,
        website: application.website,
        ...logos.get(clientId),
        suspended: application.state === 'suspended',
        grants: permitted.map(({ scopes, resources, createdAt, lastUsedAt }) => ({
          scopes: interaction.shownScopes(scopes),
          resources: {
            kind: resources.kind,
            items: resources.kind === 'specified' ? resources.ids.map((id) => names.get(id) ?? id) : [],
          },
          createdAt,
          ...(lastUsedAt !== undefined && { lastUsedAt }),
        })),
        form: {
          action,
          fields: [{ name: FORM_FIELDS.clientId, value: clientId }, binder.field(revokeForm(clientId))],
        },
      }
    })
    const model = { user: { name: user.name ?? user.subject }, applications, stylesheet, more }
    return pageResponse(200, pages.authorizedApplications(model), [], binder.headers)
  }

  async function post(request: HttpRequest<Native>): Promise<HttpResponse> {
    const form = bodyParameters(request)
    if (isError(form)) return interaction.errorPage('applications', form)
    const fields = valuesIn(form, [FORM_FIELDS.clientId, FORM_FIELDS.consent])
    if (isError(fields)) return interaction.errorPage('applications', fields)
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn('applications', '')
    const clientId = fields.client_id ?? ''
    if (interaction.verify(request, user, revokeForm(clientId), fields.consent) === undefined) {
      return interaction.errorPage('applications', notAccessible('consent_invalid'))
    }
    await grants.revokeAll(user.subject, { clientId })
    return redirectResponse(issuer + ENDPOINT_PATHS.applications)
  }

  return interaction.guarded('applications', (request) => (request.method === 'POST' ? post(request) : get(request)))
}

function revokeForm(clientId: string): FormBinding['shown'] {
  return ['revoke', clientId]
}
