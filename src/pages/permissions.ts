/**
 * The words for scopes and resources.
 * @module
 * @see Specification, sections 2.1 and 5.3
 */
import { isolated } from './fragments.js'
import { displayText, html, type SafeHtml } from './html.js'
import type { Texts } from './texts/texts.js'

/** The authorization resource scope: all resources, all public ones, or those that are named (specification, section 2.1). */
export type ResourceKind = 'all' | 'public' | 'specified'

/** A permission that is asked for or was given. */
export interface ConsentScope {
  /** The name on the wire, for example `repo-code:rw`. It is not shown, but in the source of the page. */
  readonly scope: string
  /** `r` reads, `rw` reads and writes. */
  readonly permission: 'r' | 'rw'
  /** A description in the user's words. */
  readonly description: string
  /** The reason that the application gives for it, in its own words: say so. Absent if it gives none. */
  readonly reason?: string
  /** True if the user permits this application something else already, and not this; absent otherwise, and the first time. */
  readonly isNew?: true
}

/** A protected resource that tokens are limited to. */
export interface ConsentAudience {
  /** The URL of the resource, as the host declared it. */
  readonly resource: string
  /** The name that the user is shown. */
  readonly name: string
}

/** Writes every scope once, under the words for its permission. Permissions to change come first. */
export function permissionGroups(texts: Texts, scopes: readonly ConsentScope[]): SafeHtml {
  return html`${permissionGroup(texts, scopes, 'rw')}
${permissionGroup(texts, scopes, 'r')}`
}

function permissionGroup(
  texts: Texts,
  all: readonly ConsentScope[],
  kind: ConsentScope['permission'],
): SafeHtml | undefined {
  const group = all.filter((scope) => scope.permission === kind)
  if (group.length === 0) return undefined
  return html`<h3 class="${kind}">${texts[`permissions.${kind}`]}</h3>
<ul class="scopes">
${group.map((each) => html`<li>${permission(texts, each)}</li>\n`)}</ul>`
}

function permission(texts: Texts, { scope, description, reason, isNew }: ConsentScope): SafeHtml {
  const mark = isNew ? html` <strong class="new">${texts['permissions.new']}</strong>` : undefined
  const why = reason === undefined ? undefined : html`\n<p class="reason" dir="auto">${displayText(reason)}</p>`
  return html`<data value="${scope}">${isolated(description)}</data>${mark}${why}`
}

/** Writes the protected resources that tokens are limited to; nothing where they are not. */
export function worksAt(texts: Texts, audiences: readonly ConsentAudience[] | undefined): SafeHtml | undefined {
  if (audiences === undefined) return undefined
  return html`<div><dt>${texts['permissions.worksAt']}</dt>
${audiences.map(
  ({ resource, name }) => html`<dd>${isolated(name)} (${isolated(resource)})</dd>
`,
)}</div>`
}
