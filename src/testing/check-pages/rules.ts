/**
 * The rules that pages of a host must keep: the table "What a page must keep" of the guide to pages of one's own.
 * @module
 */
import type { AuthorizedApplicationsPageModel, ConsentPageModel, DevicePageModel } from '../../pages/index.js'
import type { Control, Form, PageDocument } from './document.js'
import { UNESCAPED } from './samples.js'

type ModelForm = ConsentPageModel['form']

/** Words of a template that names something that is not there. */
const WRONG_NAME = /\bundefined\b|\bNaN\b|Invalid Date|\[object Object\]/

/** Returns the faults that any page can have. */
export function faultsOfAny({ hasDoctype, names, text, forms }: PageDocument): readonly string[] {
  const values = forms.flatMap(({ controls }) => controls.map(({ value }) => value))
  const [wrong] = WRONG_NAME.exec([text, ...values].join(' ')) ?? []
  return [
    ...(hasDoctype ? [] : ['does not begin with <!doctype html>']),
    ...(names.has(UNESCAPED) ? ['does not escape a value: a name with markup became an element or an attribute'] : []),
    ...(names.has('script') ? ['has a script, which the policy of the pages stops'] : []),
    ...(wrong === undefined ? [] : [`shows "${wrong}": look for a wrong name in it`]),
  ]
}

/** Returns the faults of a consent page. */
export function faultsOfConsent(model: ConsentPageModel, page: PageDocument): readonly string[] {
  const { redirectHost, userCode, resources } = model
  const answer = redirectHost ?? userCode
  const form = findForm(page, model.form)
  const missing = (name: string, value: string): readonly string[] =>
    form === undefined || has(form, name, value) ? [] : [`has no ${name} with the value ${JSON.stringify(value)}`]
  const choices = form?.controls.filter(({ name, value }) => name === 'resource_scope' && value !== '') ?? []
  const offered = choices.map(({ value }) => value)
  const wrong = offered.find((choice) => !resources.choices.some((each) => each === choice))
  return [
    ...faultsOfForm(page, model.form),
    ...missing('decision', 'agree'),
    ...missing('decision', 'refuse'),
    ...(form !== undefined && offered.length === 0 ? ['has no resource_scope in its form'] : []),
    ...(wrong === undefined ? [] : [`offers the resource_scope ${JSON.stringify(wrong)}, which is no choice`]),
    ...(offered.includes('specified') ? resources.items.flatMap(({ id }) => missing('resource', id)) : []),
    ...(page.text.includes(answer)
      ? []
      : [`does not show ${redirectHost === undefined ? 'userCode' : 'redirectHost'}`]),
  ]
}

/** Returns the faults of a page for the code of a device. */
export function faultsOfDevice({ form, userCode, complete }: DevicePageModel, page: PageDocument): readonly string[] {
  const fields = findForm(page, form)?.controls.filter(({ name }) => name === 'user_code') ?? []
  const isRight = ({ hidden, value }: Control): boolean => hidden === complete && value === (userCode ?? '')
  const kind = complete ? 'hidden field' : 'text field'
  return [
    ...faultsOfForm(page, form),
    ...(fields.some(isRight)
      ? []
      : [`has no ${kind} user_code with ${userCode === undefined ? 'no value' : 'userCode'}`]),
    ...(page.forms.some(({ controls }) => controls.some(({ name }) => name === 'decision'))
      ? ['has a field decision, and would be taken for the consent page']
      : []),
    ...(complete && !page.text.includes(userCode ?? '') ? ['does not show userCode'] : []),
  ]
}

/** Returns the faults of a list of applications. */
export function faultsOfList(model: AuthorizedApplicationsPageModel, page: PageDocument): readonly string[] {
  return [
    ...model.applications.flatMap(({ form }) => faultsOfForm(page, form)),
    ...faultsOfLink(page, 'next', model.next),
    ...faultsOfChoice(model, page),
  ]
}

/** Returns the faults of the form of several applications, which a page may leave out. */
function faultsOfChoice(
  { applications, choiceForm }: AuthorizedApplicationsPageModel,
  page: PageDocument,
): readonly string[] {
  const form = choiceForm && findForm(page, choiceForm)
  if (form === undefined || !choiceForm?.fields.every(({ name, value }) => has(form, name, value))) return []
  return applications.flatMap(({ choice }) =>
    choice === undefined || has(form, choice.name, choice.value)
      ? []
      : [`has no ${choice.name} with the value ${JSON.stringify(choice.value)} in choiceForm`],
  )
}

/** Returns the fault of a page without one of its links. */
export function faultsOfLink({ links }: PageDocument, field: string, href: string | undefined): readonly string[] {
  return href === undefined || links.includes(href) ? [] : [`has no link to ${field}`]
}

function has(form: Form, name: string, value: string): boolean {
  return form.controls.some((control) => control.name === name && control.value === value)
}

/** Finds the form that has most of the fields that it must have; undefined if none is sent to its address. */
function findForm({ forms }: PageDocument, { action, fields }: ModelForm): Form | undefined {
  const right = forms.filter((form) => form.method === 'post' && form.action === action)
  return right.find((form) => fields.every(({ name, value }) => has(form, name, value))) ?? right[0]
}

function faultsOfForm(page: PageDocument, wanted: ModelForm): readonly string[] {
  const form = findForm(page, wanted)
  if (form === undefined) return ['has no <form method="post"> with the action form.action']
  return wanted.fields
    .filter(
      (field) =>
        !form.controls.some(({ hidden, name, value }) => hidden && name === field.name && value === field.value),
    )
    .map(({ name, value }) => `has no hidden field ${name} with the unchanged value ${JSON.stringify(value)}`)
}
