/**
 * The page on which users see which applications they permitted something, and take it back.
 * @module
 */
import { isPublished } from './core/application.js'
import { clientKeyOf } from './core/digests.js'
import type { Resources } from './core/grant.js'
import { normalizeScopes } from './core/scopes.js'
import type { ClientId } from './core/values.js'
import type { Grants, PermittedGrant } from './grants.js'
import type { Interaction, PageSettings } from './interaction.js'
import { logoAddress } from './logo-endpoint.js'
import type { User } from './options.js'
import { shortened } from './pages/fragments.js'
import type { AuthorizedApplication } from './pages/index.js'
import { notAccessible } from './protocol/authorization.js'
import type { FormBinding } from './protocol/consent.js'
import { FORM_FIELDS } from './protocol/consent.js'
import { ENDPOINT_PATHS } from './protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from './protocol/message.js'
import { queryOf } from './protocol/message.js'
import { pageResponse, redirectResponse } from './protocol/page.js'
import { bodyParameters, isError, parseParameters, valuesIn } from './protocol/parameters.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from './shown-lists.js'
import type { Transactions } from './transactions.js'
import { keys, recordAs } from './transactions.js'

/** Grants that are looked at. */
const GRANTS_READ = 10_000

/** Limits of the page: applications, grants of each, resources of a grant, and characters of the lists. */
const APPLICATIONS_SHOWN = 100
const GRANTS_SHOWN = 5
const RESOURCES_SHOWN = { characters: 8192, most: 100 } as const

/** The parameter of a page behind the first: how many applications come before it. */
const FROM = 'from'

/** Kinds of resources, the widest first. */
const KINDS = ['all', 'public', 'specified'] as const

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
    // Alike ones by a name that stays, so that one page goes on where another ended.
    const byName = (a: PermittedGrant, b: PermittedGrant): number => (a.clientId < b.clientId ? -1 : 1)
    found.sort((a, b) => (b.lastUsedAt ?? b.createdAt) - (a.lastUsedAt ?? a.createdAt) || byName(a, b))
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

  /** Sums up what several grants permit, so that no wide one is hidden behind newer ones. */
  function together(
    grants: readonly PermittedGrant[],
    names: ReadonlyMap<string, string>,
  ): NonNullable<AuthorizedApplication['older']> {
    const kinds = KINDS.filter((kind) => grants.some(({ resources }) => resources.kind === kind))
    const all = grants.flatMap(({ scopes }) => scopes)
    return {
      count: grants.length,
      scopes: interaction.shownScopes(normalizeScopes(settings.scopes, all) ?? []),
      resources: kinds.map((kind) => ({ kind, ...namesOf(allOf(kind, grants), names) })),
    }
  }

  /** The names of what a user can specify; none where the host fails, since that must keep nobody from taking access back. */
  async function resourceNames(user: User): Promise<ReadonlyMap<string, string>> {
    try {
      return new Map((await interaction.resourcesOf(user)).map(({ id, name }) => [id, name ?? id]))
    } catch (error) {
      settings.onError(error)
      return new Map()
    }
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn(request, 'applications', '')
    const { found, more } = await grantsOf(user)
    const byClient = new Map<ClientId, PermittedGrant[]>()
    for (const grant of found) byClient.set(grant.clientId, [...(byClient.get(grant.clientId) ?? []), grant])
    const from = fromOf(request)
    const clients = [...byClient.keys()].slice(from, from + APPLICATIONS_SHOWN)
    const logos = await logosOf(clients)
    const names = await resourceNames(user)
    const binder = interaction.bind(request, user)
    const applications = clients.map((clientId): AuthorizedApplication => {
      const permitted = byClient.get(clientId) as [PermittedGrant] // made with one
      const [{ application }] = permitted
      const newest = permitted.slice(0, GRANTS_SHOWN)
      const older = permitted.slice(GRANTS_SHOWN)
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
        ...(older.length > 0 && { older: together(older, names) }),
        form: {
          action,
          fields: [{ name: FORM_FIELDS.clientId, value: clientId }, binder.field(revokeForm(clientId))],
        },
      }
    })
    const { shown } = beginningOf(applications, sizeOf, { characters: LIST_CHARACTERS, most: APPLICATIONS_SHOWN })
    const behind = from + shown.length
    const model = {
      user: { name: user.name ?? user.subject },
      applications: shown,
      stylesheet,
      ...(behind < byClient.size && { next: `${action}?${FROM}=${behind}` }),
      more,
    }
    return pageResponse(200, pages.authorizedApplications(model), [], binder.headers)
  }

  async function post(request: HttpRequest<Native>): Promise<HttpResponse> {
    const form = bodyParameters(request)
    if (isError(form)) return interaction.errorPage('applications', form)
    const fields = valuesIn(form, [FORM_FIELDS.clientId, FORM_FIELDS.consent])
    if (isError(fields)) return interaction.errorPage('applications', fields)
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn(request, 'applications', '')
    const clientId = fields.client_id ?? ''
    if (interaction.verify(request, user, revokeForm(clientId), fields.consent) === undefined) {
      return interaction.errorPage('applications', notAccessible('consent_invalid'))
    }
    await grants.revokeAll(user.subject, { clientId })
    return redirectResponse(issuer + ENDPOINT_PATHS.applications)
  }

  return interaction.guarded('applications', (request) => (request.method === 'POST' ? post(request) : get(request)))
}

/** Reads how many applications come before the page that is asked for; 0 for anything else. */
function fromOf({ url }: HttpRequest): number {
  const parameters = parseParameters(queryOf(url))
  const from = isError(parameters) ? undefined : parameters.get(FROM)
  return typeof from === 'string' && /^\d{1,5}$/.test(from) ? Number(from) : 0
}

/** All resources of a kind that some grants open. */
function allOf(kind: Resources['kind'], grants: readonly PermittedGrant[]): Resources {
  if (kind !== 'specified') return { kind }
  const ids = grants.flatMap(({ resources }) => (resources.kind === 'specified' ? resources.ids : []))
  return { kind, ids: [...new Set(ids)] }
}

/** The names of the resources that a grant opens, as many as are shown. */
function namesOf(
  resources: Resources,
  names: ReadonlyMap<string, string>,
): { readonly items: readonly string[]; readonly notShown?: number } {
  if (resources.kind !== 'specified') return { items: [] }
  const all = resources.ids.map((id) => shortened(names.get(id) ?? id))
  const { shown, ...rest } = beginningOf(all, (name) => entrySize(name), RESOURCES_SHOWN)
  return { items: shown, ...rest }
}

/** Characters of HTML that an application takes on the page. */
function sizeOf({ name, website, logo = '', grants, older }: AuthorizedApplication): number {
  const permissions = [...grants, ...(older === undefined ? [] : [older])].flatMap(({ scopes }) => scopes)
  const places = [...grants.map(({ resources }) => resources), ...(older?.resources ?? [])]
  return (
    entrySize(name, name, website, website, logo) +
    FORM_CHARACTERS +
    permissions.reduce((size, { scope, description }) => size + entrySize(scope, description), 0) +
    places.reduce((size, { items }) => items.reduce((sum, item) => sum + entrySize(item), size + entrySize()), 0)
  )
}

/** Characters of HTML of an application's form, and of what is around its grants. */
const FORM_CHARACTERS = 1000

function revokeForm(clientId: string): FormBinding['shown'] {
  return ['revoke', clientId]
}
