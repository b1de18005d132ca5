/**
 * The form of a registration as HTML: each field with its faults beside it.
 * @module
 */
import type { RegistrationFault } from '../../core/application/faults.js'
import type { HiddenField } from '../../endpoints/interaction/forms.js'
import { hiddenFields, ifTrue, isolated, NOT_RESTORED } from '../../pages/fragments.js'
import type { SafeHtml } from '../../pages/html.js'
import { displayText, html } from '../../pages/html.js'
import type { TextName } from '../../pages/index.js'
import { faultText, fillText } from '../../pages/index.js'
import { scopeName } from '../describe.js'
import { dataUrl, toBase64 } from '../logo.js'
import type { Visit } from '../visit.js'
import { pathOf } from '../visit.js'
import type { Values } from './values.js'
import { linesOf } from './values.js'

/** The things that the form shows. */
export interface RegistrationForm {
  readonly values: Values
  readonly faults: readonly RegistrationFault[]
  /** The hidden fields that bind it. */
  readonly fields: readonly HiddenField[]
  /** The logo that was sent before; undefined for none. */
  readonly sentLogo: Uint8Array | undefined
  /** The path of the logo that the application has already; undefined for a new one. */
  readonly presentLogo: string | undefined
  /** True if the type of the application stays as it is. */
  readonly isTypeFixed: boolean
}

/** Returns true if the form shows a logo that is part of its page. */
export function hasOwnImage({ sentLogo }: RegistrationForm): boolean {
  return sentLogo !== undefined && dataUrl(sentLogo) !== undefined
}

/** The faults of the form by the names of their fields, each as a sentence with what it is about. */
type FaultsByField = ReadonlyMap<string, readonly SafeHtml[]>

/** Writes the form. */
export function registrationForm(visit: Visit, form: RegistrationForm): SafeHtml {
  const { texts } = visit.context.language
  const { values, fields } = form
  const faults = faultsByField(visit, form)
  const text = (name: 'name' | 'website' | 'authorizedDomain', label: TextName, isNeeded: boolean): SafeHtml =>
    html`<label class="field">${String(texts[label])}
<input name="${name}" value="${values[name]}"${ifTrue(isNeeded, html` required`)} spellcheck="false" ${described(faults, name)}></label>
${faultsOf(faults, name)}`
  return html`<form class="registration" method="post" action="${pathOf(visit, visit.place)}" enctype="multipart/form-data" ${NOT_RESTORED}>
${hiddenFields(fields)}${faultsOf(faults, '')}
${text('name', 'console.name', true)}
${logoField(visit, form, faults)}
${text('website', 'application.website', true)}
<label class="field">${texts['console.description']}
<textarea name="description" rows="3" ${described(faults, 'description')}>${values.description}</textarea></label>
${faultsOf(faults, 'description')}
${typeField(visit, form, faults)}
<label class="field">${texts['console.redirectUris']}
<textarea name="redirectUris" rows="3" dir="ltr" spellcheck="false" required ${described(faults, 'redirectUris', 'redirectUris-hint')}>${values.redirectUris}</textarea></label>
<p class="hint" id="redirectUris-hint">${texts['console.redirectUrisHint']}</p>
${faultsOf(faults, 'redirectUris')}
${matchingField(visit, form, faults)}
${text('authorizedDomain', 'console.authorizedDomain', false)}
<p class="hint">${texts['console.domainHint']}</p>
${checkbox('allowSubdomains', values.allowSubdomains, texts['console.allowSubdomains'])}
${faultsOf(faults, 'allowSubdomains')}
${scopeFields(visit, form, faults)}
${resourceField(visit, form, faults)}
${checkbox('deviceFlow', values.deviceFlow, texts['console.deviceFlow'])}
${faultsOf(faults, 'deviceFlow')}
${ifTrue(visit.context.macTokens, checkbox('isMac', values.isMac, texts['console.tokenType']))}
${faultsOf(faults, 'tokenType')}
<div class="actions"><button type="submit" class="primary">${texts['console.handIn']}</button>
<button type="submit" name="preview" value="1" formnovalidate>${texts['console.preview']}</button></div>
</form>`
}

function logoField(visit: Visit, { sentLogo, presentLogo }: RegistrationForm, faults: FaultsByField): SafeHtml {
  const { texts } = visit.context.language
  const sent = sentLogo && dataUrl(sentLogo)
  const shown = sent ?? presentLogo
  const kept = sentLogo === undefined || sent === undefined ? [] : [{ name: 'keptLogo', value: toBase64(sentLogo) }]
  return html`<label class="field">${texts['console.logo']}
<input type="file" name="logo" accept="image/png,image/jpeg,image/gif,image/webp" ${described(faults, 'logo', 'logo-hint')}></label>
<p class="hint" id="logo-hint">${texts['console.logoHint']}</p>
${shown === undefined ? undefined : html`<p><img class="logo" src="${shown}" alt="" width="56" height="56"></p>`}
${hiddenFields(kept)}${faultsOf(faults, 'logo')}`
}

function typeField(visit: Visit, { values, isTypeFixed }: RegistrationForm, faults: FaultsByField): SafeHtml {
  const { texts } = visit.context.language
  if (isTypeFixed) return html`${hiddenFields([{ name: 'type', value: values.type }])}${faultsOf(faults, 'type')}`
  const types = (['confidential', 'public'] as const).map((type) => [type, texts[`console.type.${type}`]] as const)
  return html`${radios(texts['console.type'], 'type', types, values.type)}${faultsOf(faults, 'type')}`
}

function matchingField(visit: Visit, { values }: RegistrationForm, faults: FaultsByField): SafeHtml | undefined {
  const { redirect, language } = visit.context
  const { texts } = language
  // Where the server matches all of them exactly, there is nothing to choose.
  if (redirect.matching === 'exact') return faultsOf(faults, 'redirectMatching')
  const ways = (['domain', 'exact'] as const).map((way) => [way, texts[`console.redirectMatching.${way}`]] as const)
  return html`${radios(texts['console.redirectMatching'], 'redirectMatching', ways, values.redirectMatching)}${faultsOf(faults, 'redirectMatching')}`
}

function resourceField(visit: Visit, { values }: RegistrationForm, faults: FaultsByField): SafeHtml {
  const { texts } = visit.context.language
  const kinds = (['all', 'public', 'specified'] as const)
    .filter((kind) => kind !== 'specified' || visit.context.resources !== undefined)
    .map((kind) => [kind, texts[`resources.${kind}`]] as const)
  return html`${radios(texts['resources.title'], 'resourceScope', kinds, values.resourceScope)}${faultsOf(faults, 'resourceScope')}`
}

/** Writes a checkbox for each scope of the service, with a field for its reason. */
function scopeFields(visit: Visit, { values }: RegistrationForm, faults: FaultsByField): SafeHtml {
  const { scopes, language } = visit.context
  const { texts } = language
  const each = [...scopes.entries.keys()].map((scope) => {
    const label = fillText(texts['console.scopeReason'], { scope })
    const field = `scope:${scope}`
    return html`<li>${checkbox('scope', values.scopes.includes(scope), scopeName(visit, scope), scope)}
<input class="reason-field" name="reason ${scope}" value="${values.reasons.get(scope)}" aria-label="${label}" placeholder="${label}" ${described(faults, field)}>
${faultsOf(faults, field)}</li>
`
  })
  const describedBy = ifTrue(faults.has('scopes'), html` aria-describedby="${idOf('scopes')}"`)
  return html`<fieldset class="choices"${describedBy}><legend>${texts['console.scopes']}</legend>
${faultsOf(faults, 'scopes')}
<ul>
${each}</ul></fieldset>`
}

function radios(
  legend: string,
  name: string,
  choices: readonly (readonly [value: string, label: string])[],
  chosen: string,
): SafeHtml {
  return html`<fieldset class="choices"><legend>${legend}</legend>
${choices.map(([value, label]) => html`<label class="choice"><input type="radio" name="${name}" value="${value}"${ifTrue(value === chosen, html` checked`)}> <span>${label}</span></label>\n`)}</fieldset>
`
}

/** Writes a checkbox with its label. */
export function checkbox(name: string, isChecked: boolean, label: string | SafeHtml, value = '1'): SafeHtml {
  return html`<label class="choice"><input type="checkbox" name="${name}" value="${value}"${ifTrue(isChecked, html` checked`)}> <span>${label}</span></label>
`
}

/** Sorts faults by the field that they are shown beside. */
function faultsByField(visit: Visit, { faults, values }: RegistrationForm): FaultsByField {
  const { scopes } = values
  const lines = linesOf(values)
  const sorted = new Map<string, SafeHtml[]>()
  for (const fault of faults) {
    const [, name = '', place] = /^(\w*)(?:\[(\d+)\])?/.exec(fault.path) ?? []
    const scope = name === 'scopes' && place !== undefined ? scopes[Number(place)] : undefined
    const field = scope === undefined ? name : `scope:${scope}`
    const uri = name === 'redirectUris' && place !== undefined ? lines[Number(place)] : undefined
    const sentence = isolated(faultText(visit.context.language, fault))
    const about = uri === undefined ? undefined : html`<code dir="ltr">${displayText(uri)}</code> `
    sorted.set(field, [...(sorted.get(field) ?? []), html`${about}${sentence}`])
  }
  return sorted
}

/** Writes the faults of a field, which names their id. */
function faultsOf(faults: FaultsByField, field: string): SafeHtml | undefined {
  const found = faults.get(field)
  if (found === undefined) return undefined
  return html`<div class="field-fault" id="${idOf(field)}">${found.map((each) => html`<p>${each}</p>`)}</div>`
}

/** Writes the attributes by which a field names its faults and its hint. */
function described(faults: FaultsByField, field: string, hint?: string): SafeHtml | undefined {
  const isFaulty = faults.has(field)
  const ids = [...(isFaulty ? [idOf(field)] : []), ...(hint === undefined ? [] : [hint])]
  if (ids.length === 0) return undefined
  return html`${ifTrue(isFaulty, html`aria-invalid="true" `)}aria-describedby="${ids.join(' ')}"`
}

function idOf(field: string): string {
  return `fault-${field}`
}
