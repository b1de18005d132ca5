/**
 * The page on which users see which applications they permitted something, and take it back.
 * @module
 */
import { isPublished } from './core/application.js'
import { clientKeyOf } from './core/digests.js'
import type { Resources } from './core/grant.js'
import type { ClientId } from './core/values.js'
import type { Grants, PermittedGrant } from './grants.js'
import type { Interaction, PageSettings } from './interaction.js'
import { logoAddress } from './logo-endpoint.js'
import type { User } from './options.js'
import type { AuthorizedApplication } from './pages/index.js'
import { notAccessible } from './protocol/authorization.js'
import type { FormBinding } from './protocol/consent.js'
import { FORM_FIELDS } from './protocol/consent.js'
import { ENDPOINT_PATHS } from './protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { pageResponse, redirectResponse } from './protocol/page.js'
import { bodyParameters, isError, valuesIn } from './protocol/parameters.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from './shown-lists.js'
import type { Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** Grants that are looked at. */
const GRANTS_READ = 1000

/** Limits of the page: applications, grants of each, resources of a grant, and characters of the lists. */
const APPLICATIONS_SHOWN = 100
const GRANTS_SHOWN = 5
const RESOURCES_SHOWN = { characters: 8192, most: 100 } as const

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
    } while (cursor !== undefined && found.length < GRANTS_READ)
    found.sort((a, b) => (b.lastUsedAt ?? b.createdAt) - (a.lastUsedAt ?? a.createdAt))
    return { found, more: cursor !== undefined }
  }

  /** Returns the addresses of the logos; none where the store fails. */
  async function logosOf(clients: readonly ClientId[]): Promise<ReadonlyMap<ClientId, { readonly logo?: string }>> {
    if (clients.length === 0) return new Map()
    const records = await transactions.read(clients.map((clientId) => keys.application(clientKeyOf(digests, clientId))))
    if ('type' in records) return new Map()
    return new Map(
      clients.map((clientId, index) => {
        const application = recordAs.application(records[index]?.value)
        return [clientId, isPublished(application) ? { logo: issuerPath + logoAddress(application) } : {}]
      }),
    )
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn('applications', '')
    const { found, more } = await grantsOf(user)
    const byClient = new Map<ClientId, PermittedGrant[]>()
    for (const grant of found) byClient.set(grant.clientId, [...(byClient.get(grant.clientId) ?? []), grant])
    const clients = [...byClient.keys()].slice(0, APPLICATIONS_SHOWN)
    const logos = await logosOf(clients)
    const names = new Map((await interaction.resourcesOf(user)).map(({ id, name }) => [id, name ?? id]))
    const binder = interaction.bind(request, user)
    const applications = clients.map((clientId): AuthorizedApplication => {
      const permitted = byClient.get(clientId) as [PermittedGrant] // made with one
      const [{ application }] = permitted
      const newest = permitted.slice(0, GRANTS_SHOWN)
      return {
        name: application.name,
        website: application.website,
        ...logos.get(clientId),
        suspended: application.state === 'suspended',
        grants: newest.map(({ scopes, resources, createdAt, lastUsedAt }) => ({
          scopes: interaction.shownScopes(scopes),
          resources: { kind: resources.kind, ...namesOf(resources, names) },
          createdAt,
          ...(lastUsedAt !== undefined && { lastUsedAt }),
        })),
        ...(newest.length < permitted.length && { notShown: permitted.length - newest.length }),
        form: {
          action,
          fields: [{ name: FORM_FIELDS.clientId, value: clientId }, binder.field(revokeForm(clientId))],
        },
      }
    })
    const { shown } = beginningOf(applications, sizeOf, { characters: LIST_CHARACTERS, most: APPLICATIONS_SHOWN })
    const model = {
      user: { name: user.name ?? user.subject },
      applications: shown,
      stylesheet,
      more: more || shown.length < byClient.size,
    }
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

/** The names of the resources that a grant opens, as many as are shown. */
function namesOf(
  resources: Resources,
  names: ReadonlyMap<string, string>,
): { readonly items: readonly string[]; readonly notShown?: number } {
  if (resources.kind !== 'specified') return { items: [] }
  const all = resources.ids.map((id) => names.get(id) ?? id)
  const { shown, ...rest } = beginningOf(all, (name) => entrySize(name), RESOURCES_SHOWN)
  return { items: shown, ...rest }
}

/** Characters of HTML that an application takes on the page. */
function sizeOf({ name, website, logo = '', grants }: AuthorizedApplication): number {
  return grants.reduce(
    (sum, { scopes, resources }) => {
      const permissions = scopes.reduce((size, { scope, description }) => size + entrySize(scope, description), 0)
      return resources.items.reduce((size, item) => size + entrySize(item), sum + permissions + entrySize())
    },
    entrySize(name, name, website, website, logo) + FORM_CHARACTERS,
  )
}

/** Characters of HTML of an application's form, and of what is around its grants. */
const FORM_CHARACTERS = 1000

function revokeForm(clientId: string): FormBinding['shown'] {
  return ['revoke', clientId]
}
