/**
 * The rendering of pages of a host's own with sample models. It is loaded by its first use.
 * @module
 */
import type { TakesOf } from '../../core/takes.js'
import { ANYTHING } from '../../core/takes.js'
import type { PageInput, Pages } from '../../pages/index.js'
import { loadTexts, pageLanguages } from '../../pages/index.js'
import { checkedOptions, FUNCTION, OBJECT } from '../options.js'
import type { PageDocument } from './document.js'
import { readDocument } from './document.js'
import type { CheckPagesOptions } from './options.js'
import { faultsOfAny, faultsOfConsent, faultsOfDevice, faultsOfLink, faultsOfList } from './rules.js'
import { CONSENTS, DEVICES, ERRORS, LISTS, RESULTS } from './samples.js'

const TAKES: TakesOf<CheckPagesOptions> = {
  locale: {
    words: pageLanguages.map((language) => `'${language}'`).join(' or '),
    fits: (value) => pageLanguages.some((language) => language === value),
  },
  appearance: OBJECT,
  native: ANYTHING,
}

/** Renders a page with a model; undefined after a fault. */
type Render = <Model>(
  name: keyof Pages,
  page: (input: PageInput<Model>) => unknown,
  model: Model,
  state: string,
  rules: (document: PageDocument, model: Model) => readonly string[],
) => Promise<string | undefined>

/**
 * Finds the faults of pages.
 * @throws GrantwellError `ERR_CONFIGURATION` for a wrong argument
 */
export async function findFaults(pages: Partial<Pages>, options: CheckPagesOptions): Promise<readonly string[]> {
  const own = checkedOptions<Partial<Pages>>('checkPages, pages', pages, {
    consent: FUNCTION,
    error: FUNCTION,
    device: FUNCTION,
    deviceResult: FUNCTION,
    authorizedApplications: FUNCTION,
  })
  const { locale = 'en', appearance = {}, native } = checkedOptions<CheckPagesOptions>('checkPages', options, TAKES)
  const request = { method: 'GET', url: '/oauth2/sample', headers: {}, native }
  const beside = { locale, texts: await loadTexts(locale), appearance, request }
  const faults = new Set<string>()
  const render: Render = async (name, page, model, state, rules) => {
    const told = (fault: string): undefined => {
      faults.add(`${name} (${state}) ${fault}`)
      return undefined
    }
    try {
      const html = await page({ model, ...beside })
      if (typeof html !== 'string') return told(`gives ${html === null ? 'null' : typeof html}, and no string of HTML`)
      const document = readDocument(html)
      for (const fault of [...faultsOfAny(document), ...rules(document, model)]) told(fault)
      return html
    } catch (error) {
      return told(`throws: ${String(error)}`)
    }
  }
  const differ = (name: keyof Pages, field: string, one: string | undefined, other: string | undefined): void => {
    if (one !== undefined && one === other) faults.add(`${name} shows the same whatever ${field} is`)
  }
  await checkQuestions(own, render, differ)
  await checkTellings(own, render, differ)
  return [...faults]
}

type Differ = (name: keyof Pages, field: string, one: string | undefined, other: string | undefined) => void

/** Checks the pages that ask the user something. */
async function checkQuestions({ consent, device }: Partial<Pages>, render: Render, differ: Differ): Promise<void> {
  if (consent !== undefined) {
    const shown = new Map<string, string | undefined>()
    for (const [state, model] of Object.entries(CONSENTS))
      shown.set(state, await render('consent', consent, model, state, (page, each) => faultsOfConsent(each, page)))
    differ('consent', 'fault', shown.get('plain'), shown.get('fault'))
  }
  if (device === undefined) return
  const shown = new Map<string, string | undefined>()
  for (const [state, model] of Object.entries(DEVICES))
    shown.set(state, await render('device', device, model, state, (page, each) => faultsOfDevice(each, page)))
  differ('device', 'fault', shown.get('typed'), shown.get('fault'))
}

/** Checks the pages that tell the user something. */
async function checkTellings(own: Partial<Pages>, render: Render, differ: Differ): Promise<void> {
  const { deviceResult, authorizedApplications, error } = own
  if (deviceResult !== undefined) {
    const rules = ({ text }: PageDocument) => (text.includes('Sample') ? [] : ['does not show application.name'])
    const agreed = await render('deviceResult', deviceResult, RESULTS.agree, 'agree', rules)
    const refused = await render('deviceResult', deviceResult, RESULTS.refuse, 'refuse', rules)
    differ('deviceResult', 'decision', agreed, refused)
  }
  if (authorizedApplications !== undefined) {
    const shown = new Map<string, string | undefined>()
    for (const [state, model] of Object.entries(LISTS)) {
      const rules = (page: PageDocument) => faultsOfList(model, page)
      shown.set(state, await render('authorizedApplications', authorizedApplications, model, state, rules))
    }
    differ('authorizedApplications', 'more', shown.get('plain'), shown.get('more'))
    differ('authorizedApplications', 'isIncomplete', shown.get('plain'), shown.get('incomplete'))
    differ('authorizedApplications', 'notice', shown.get('plain'), shown.get('notice'))
  }
  if (error === undefined) return
  for (const [state, model] of Object.entries(ERRORS))
    await render('error', error, model, state, (page) => faultsOfLink(page, 'link.href', model.link?.href))
}
