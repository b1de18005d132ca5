/**
 * The form of an application: its fields, each with what is wrong with it, and what they say.
 * @module
 */
import { html } from 'grantwell/pages'
import { sentence } from './registration.mjs'

const TYPES = {
  confidential: 'Confidential: a server, which can keep a secret',
  public: 'Public: an app or a tool, which cannot',
}
const RESOURCES = { all: 'All of an account', public: 'Public ones', specified: 'Those that the user chooses' }
const PERMISSIONS = { '': 'None', r: 'Read', rw: 'Read and change' }
const LOGO_TYPES = 'image/png,image/jpeg,image/gif,image/webp'

/** What the fields of a new form have in them. */
export const EMPTY = {
  name: '',
  website: '',
  description: '',
  type: 'confidential',
  redirectUris: '',
  authorizedDomain: '',
  allowSubdomains: false,
  deviceFlow: false,
  scopes: [],
  resourceScope: 'all',
}

/** What they have for an application that is there already. */
export function valuesOf({ scopes, reasons, redirectUris, ...details }) {
  return {
    ...EMPTY,
    ...details,
    redirectUris: redirectUris.join('\n'),
    scopes: scopes.map((scope) => ({ scope, reason: reasons[scope] ?? '' })),
  }
}

/** What they have in a form that was sent. */
export function valuesIn(form, { definitions }) {
  const text = (name) => {
    const value = form.get(name)
    return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '' // browsers send line ends as CR LF
  }
  const fields = Object.keys(EMPTY).filter((name) => typeof EMPTY[name] === 'string')
  return {
    ...Object.fromEntries(fields.map((name) => [name, text(name)])),
    allowSubdomains: text('allowSubdomains') !== '',
    deviceFlow: text('deviceFlow') !== '',
    scopes: definitions.flatMap(({ name }) => {
      const permission = text(`permission ${name}`)
      return permission === '' ? [] : [{ scope: `${name}:${permission}`, reason: text(`reason ${name}`) }]
    }),
  }
}

/** What they say, as grantwell takes it; the logo is apart. */
export function registrationOf(values) {
  const { name, website, description, type, redirectUris, authorizedDomain, allowSubdomains } = values
  const { deviceFlow, scopes, resourceScope } = values
  const lines = redirectUris.split('\n').map((line) => line.trim())
  return {
    ...{ name, website, description, type, allowSubdomains, deviceFlow, scopes, resourceScope },
    redirectUris: lines.filter((line) => line !== ''),
    ...(authorizedDomain !== '' && { authorizedDomain }),
  }
}

/**
 * The form.
 * @param id - of the application that is to change; undefined for a new one
 * @param values - of the fields
 * @param faults - what grantwell found wrong, each with the path of its field
 * @param problem - what to say above all
 */
export function submissionForm({ id, values, faults = [], problem }, { definitions }) {
  const action = id === undefined ? '/applications/new' : `/applications/change?id=${encodeURIComponent(id)}`
  const size = `Logo: PNG, JPEG, GIF or WebP, at most 1 MB and 4,096 pixels a side${id === undefined ? '' : '; without one, the present one stays'}`
  return html`${problem && html`<p class="fault" role="alert">${problem}</p>`}
<p>An administrator looks at what you hand in. ${id && 'Until it is approved, what is in force stays so.'}</p>
<form method="post" action="${action}" enctype="multipart/form-data">
${field('name', 'Name')}
${labelled('logo', size, (marks) => html`<input name="logo" type="file" accept="${LOGO_TYPES}"${marks}>`)}
${field('website', 'Website')}
${area('description', 'Description')}
${choice('type', 'Type', TYPES)}
${area('redirectUris', 'Redirect URIs, one a line')}
${field('authorizedDomain', 'Authorized domain, needed where they have several hosts')}
${box('allowSubdomains', 'Subdomains of it as well')}
${box('deviceFlow', 'It runs where there is no browser, and users type a code elsewhere')}
<fieldset><legend>Scopes, and why the application needs each</legend>${note('scopes')}
${definitions.map(scopeRow)}</fieldset>
${choice('resourceScope', 'Resources', RESOURCES)}
<button>Hand in</button>
</form>
<p><a href="/applications">Your applications</a></p>`

  function field(name, label) {
    return labelled(name, label, (marks) => html`<input name="${name}" value="${values[name]}"${marks}>`)
  }

  function area(name, label) {
    // A parser drops the first line end in an area.
    return labelled(name, label, (marks) => html`<textarea name="${name}"${marks}>\n${values[name]}</textarea>`)
  }

  function labelled(name, label, control) {
    const fault = note(name)
    const marks = fault && html` aria-invalid="true" aria-describedby="fault-${name}"`
    return html`<div><label class="field">${label}${control(marks)}</label>${fault}</div>`
  }

  function box(name, label) {
    return html`<label class="choice">
<input type="checkbox" name="${name}" value="yes"${ifTrue(values[name], 'checked')}> ${label}</label>${note(name)}`
  }

  function choice(name, legend, options) {
    const radio = ([value, label]) => html`<label class="choice">
<input type="radio" name="${name}" value="${value}"${ifTrue(values[name] === value, 'checked')}> ${label}</label>\n`
    return html`<fieldset><legend>${legend}</legend>${note(name)}${Object.entries(options).map(radio)}</fieldset>`
  }

  function scopeRow({ name, permissions, description }) {
    const index = values.scopes.findIndex(({ scope }) => scope.replace(/:rw?$/, '') === name)
    const { scope, reason } = values.scopes[index] ?? { reason: '' }
    const option = (permission) => html`<option value="${permission}"\
${ifTrue(scope === `${name}:${permission}`, 'selected')}>${PERMISSIONS[permission]}</option>`
    return html`<div class="scope-row"><p><code>${name}</code> ${description}</p>
<label class="field">Permission<select name="permission ${name}">${['', ...permissions].map(option)}</select></label>
<label class="field">Reason<input name="reason ${name}" value="${reason}"></label>
${index < 0 ? undefined : note(`scopes[${index}]`)}</div>
`
  }

  /** What is wrong with a field, or with a part of it, such as `redirectUris[1]`. */
  function note(path) {
    const parts = faults.filter((fault) => fault.path.startsWith(path) && /^[[.]/.test(fault.path.slice(path.length)))
    // The faults of one scope stand beside that one.
    const found = [...faults.filter((fault) => fault.path === path), ...(path === 'scopes' ? [] : parts)]
    if (found.length === 0) return undefined
    const texts = found.map((fault) => sentence(partOf(fault.path) + fault.message))
    return html`<p class="fault" id="fault-${path}">${texts.join(' ')}</p>`
  }
}

/** Which of several it is that a fault is about. */
function partOf(path) {
  const [, index] = /^redirectUris\[(\d+)\]$/.exec(path) ?? []
  if (index !== undefined) return `number ${Number(index) + 1} `
  return path.endsWith('.reason') ? 'the reason ' : ''
}

function ifTrue(holds, attribute) {
  return holds ? html` ${attribute}` : undefined
}
