/**
 * What a user permits, in words: scopes and resources (specification, 2.1 and 5.3).
 * @module
 */
import { isolated } from './fragments.js'
import { html, type SafeHtml } from './html.js'

/** The authorization resource scope (specification, 2.1): all resources, all public ones, or those that are named. */
export type ResourceKind = 'all' | 'public' | 'specified'

/** One permission that is asked for or was given. */
export interface ConsentScope {
  /** Its name on the wire, such as `repo-code:rw`. Not shown, but in the document for who looks. */
  readonly scope: string
  readonly permission: 'r' | 'rw'
  /** What it covers, in the user's words. */
  readonly description: string
}

/** What each kind of resources means to the user who chooses among them. */
export const choiceLabels: Readonly<Record<ResourceKind, string>> = {
  all: 'All resources of your account',
  public: 'All public resources of your account',
  specified: 'Only the resources that you choose',
}

/** Every scope once, under the words for its permission: what changes something first. */
export function permissionGroups(scopes: readonly ConsentScope[]): SafeHtml {
  return html`${permissionGroup(scopes, 'rw')}
${permissionGroup(scopes, 'r')}`
}

const permissionTitles: Readonly<Record<ConsentScope['permission'], string>> = { r: 'Read', rw: 'Read and change' }

function permissionGroup(all: readonly ConsentScope[], permission: ConsentScope['permission']): SafeHtml | undefined {
  const group = all.filter((scope) => scope.permission === permission)
  if (group.length === 0) return undefined
  return html`<h3 class="${permission}">${permissionTitles[permission]}</h3>
<ul class="scopes">
${group.map(({ scope, description }) => html`<li><data value="${scope}">${isolated(description)}</data></li>\n`)}</ul>`
}
