/**
 * The page on which users see which applications they permitted something, and take it back.
 * @module
 */
import { isPublished } from '../core/application/application.js'
import { normalizeScopes } from '../core/scopes.js'
import { shownName } from '../core/text.js'
import { clientKeyOf } from '../core/tokens/digests.js'
import type { ClientId } from '../core/values.js'
import { ownOf } from '../core/values.js'
import type { Grants } from '../management/grants.js'
import { readableGrants } from '../management/grants.js'
import type { KeptResources, OlderGrants, PermittedApplication } from '../management/permitted-applications.js'
import { IDS_KEPT, sumUp } from '../management/permitted-applications.js'
import { shortened } from '../pages/fragments.js'
import type { AuthorizedApplication, AuthorizedResources } from '../pages/index.js'
import { notAccessible } from '../protocol/authorization.js'
import { ENDPOINT_PATHS } from '../protocol/endpoints.js'
import type { HttpRequest, HttpResponse } from '../protocol/message.js'
import { queryOf } from '../protocol/message.js'
import type { FormBinding } from '../protocol/pages/consent.js'
import { FORM_FIELDS } from '../protocol/pages/consent.js'
import { pageResponse, redirectResponse } from '../protocol/pages/page.js'
import { bodyParameters, isError, parseParameters, valuesIn } from '../protocol/parameters.js'
import type { User } from '../shell/options.js'
import { keys, recordAs } from '../shell/records.js'
import { beginningOf, entrySize, LIST_CHARACTERS } from '../shell/shown-lists.js'
import type { Transactions } from '../shell/transactions.js'
import type { Interaction, PageSettings } from './interaction.js'
import { logoAddress } from './logo.js'

/** Grants that are looked at. */
const GRANTS_READ = 10_000

/** Limits of the page: applications, and resources of a grant. */
const APPLICATIONS_SHOWN = 100
const RESOURCES_SHOWN = { characters: 8192, most: IDS_KEPT } as const

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

  /** Returns what a user permitted, by application. */
  async function permittedBy(user: User): Promise<{
    readonly found: ReadonlyMap<ClientId, PermittedApplication>
    readonly more: boolean
    readonly isIncomplete: boolean
  }> {
    let found: ReadonlyMap<ClientId, PermittedApplication> = new Map()
    let read = 0
    let isIncomplete = false
    let cursor: string | undefined
    do {
      const wanted = cursor === undefined ? {} : { cursor }
      const page: Awaited<ReturnType<typeof readableGrants>> = await readableGrants(
        settings,
        transactions,
        user.subject,
        wanted,
      )
      found = sumUp(found, page.grants)
      read += page.grants.length
      isIncomplete ||= page.leftOut !== undefined
      cursor = page.cursor
    } while (cursor !== undefined && read < GRANTS_READ)
    return { found, more: cursor !== undefined, isIncomplete }
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

  /** Shows what several grants permit, so that no wide one is hidden behind newer ones. */
  function together(
    { count, scopes, resources }: OlderGrants,
    names: ReadonlyMap<string, string>,
  ): NonNullable<AuthorizedApplication['older']> {
    const kinds = KINDS.flatMap((kind) => resources.get(kind) ?? [])
    return {
      count,
      scopes: interaction.shownScopes(normalizeScopes(settings.scopes, [...scopes]) ?? []),
      resources: kinds.map((each) => namesOf(each, names)),
    }
  }

  /** The names of what a user can specify; none where the host fails, since that must keep nobody from taking access back. */
  async function resourceNames(user: User): Promise<ReadonlyMap<string, string>> {
    try {
      return new Map((await interaction.resourcesOf(user)).map(({ id, name }) => [id, shownName(name, id)]))
    } catch (error) {
      settings.onError(error)
      return new Map()
    }
  }

  async function get(request: HttpRequest<Native>): Promise<HttpResponse> {
    const user = await interaction.signedIn(request)
    if (user === undefined) return interaction.signIn(request, 'applications', '')
    const { found, more, isIncomplete } = await permittedBy(user)
    const inOrder = [...found.values()].sort(byAgreement)
    const asked = fromOf(request)
    // An empty page would say that no application has access.
    const from = asked < inOrder.length ? asked : 0
    const permitted = inOrder.slice(from, from + APPLICATIONS_SHOWN)
    const logos = await logosOf(permitted.map(({ clientId }) => clientId))
    const names = await resourceNames(user)
    const binder = interaction.bind(request, user)
    const applications = permitted.map((each): AuthorizedApplication => {
      const { clientId, application, newest, older } = ownOf(each)
      return {
        name: application.name,
        website: application.website,
        ...logos.get(clientId),
        suspended: application.state === 'suspended',
        grants: newest.map(({ scopes, resources, createdAt, lastUsedAt }) => ({
          scopes: interaction.shownScopes(scopes),
          resources: namesOf(resources, names),
          createdAt,
          ...(lastUsedAt !== undefined && { lastUsedAt }),
        })),
        ...(older !== undefined && { older: together(older, names) }),
        form: {
          action,
          fields: [{ name: FORM_FIELDS.clientId, value: clientId }, binder.field(revokeForm(clientId))],
        },
      }
    })
    const { shown } = beginningOf(applications, sizeOf, { characters: LIST_CHARACTERS, most: APPLICATIONS_SHOWN })
    const behind = from + shown.length
    const model = {
      user: { name: shownName(user.name, user.subject) },
      applications: shown,
      stylesheet,
      ...(behind < inOrder.length && { next: `${action}?${FROM}=${behind}` }),
      more,
      ...(isIncomplete && { isIncomplete }),
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

/**
 * Orders applications by the user's last agreement, the newest first. An application cannot change it, so none moves from a page that is
 * yet to be read to one that was read.
 */
function byAgreement(a: PermittedApplication, b: PermittedApplication): number {
  return b.agreedAt - a.agreedAt || (a.clientId < b.clientId ? -1 : 1)
}

/** Reads how many applications come before the page that is asked for; 0 for anything else. */
function fromOf({ url }: HttpRequest): number {
  const parameters = parseParameters(queryOf(url))
  const from = isError(parameters) ? undefined : parameters.get(FROM)
  return typeof from === 'string' && /^\d{1,5}$/.test(from) ? Number(from) : 0
}

/** Names the resources that a grant opens, as many as are shown. */
function namesOf({ kind, ids, count, isMore }: KeptResources, names: ReadonlyMap<string, string>): AuthorizedResources {
  const all = [...ids].map((id) => shortened(names.get(id) ?? id))
  const { shown } = beginningOf(all, (name) => entrySize(name), RESOURCES_SHOWN)
  const notShown = count - shown.length
  return { kind, items: shown, ...(notShown > 0 && { notShown }), ...(isMore && { isMore }) }
}

/** Characters of HTML that an application takes on the page. */
function sizeOf(application: AuthorizedApplication): number {
  const { name, website, logo = '', grants, older } = ownOf(application)
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
