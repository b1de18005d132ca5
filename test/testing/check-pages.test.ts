/**
 * The check of pages of a host's own: the default pages pass it in every language, and each fault is found and named.
 * @module
 */
import type { Pages } from 'grantwell/pages'
import { defaultPages, pageLanguages } from 'grantwell/pages'
import { checkPages, PagesError } from 'grantwell/testing'
import { describe, expect, it } from 'vitest'

async function faultsOf(pages: Partial<Pages>): Promise<readonly string[]> {
  try {
    await checkPages(pages)
    return []
  } catch (error) {
    if (!(error instanceof PagesError)) throw error
    return error.faults
  }
}

/** The default page with its HTML changed. */
function changed(name: keyof Pages, change: (html: string) => string): Partial<Pages> {
  const page: (input: never) => string = defaultPages[name]
  return { [name]: (input: never) => change(page(input)) }
}

const without = (text: string | RegExp) => (html: string) => html.replace(text, '')

describe('the check of pages', () => {
  it.each(pageLanguages)('passes the default pages: %s', async (locale) => {
    await checkPages(defaultPages, { locale, appearance: { name: 'Acme', helpUrl: '/help' } })
  })

  it('checks nothing that the host did not write, and takes pages that are promises', async () => {
    await checkPages({})
    await checkPages({ error: async (input) => defaultPages.error(input) })
  })

  it('gives the request of the platform to the pages', async () => {
    const seen: unknown[] = []
    const error: Pages['error'] = (input) => {
      seen.push(input.request.native, input.locale, input.texts['error.signIn'])
      return defaultPages.error(input)
    }
    await checkPages({ error }, { native: 'session', locale: 'de' })
    expect(seen.slice(0, 3)).toEqual(['session', 'de', 'Anmelden'])
  })

  it('tells all faults of all pages at once', async () => {
    const failing = () => {
      throw new Error('no session')
    }
    const pages = { error: failing, deviceResult: async () => 7, device: () => Promise.reject(new Error('late')) }
    const faults = await faultsOf(pages as unknown as Partial<Pages>) // on purpose, of wrong types
    expect(faults).toEqual([
      ...['plain', 'typed', 'fault', 'complete'].map((state) => `device (${state}) throws: Error: late`),
      ...['agree', 'refuse'].map((state) => `deviceResult (${state}) gives number, and no string of HTML`),
      ...['plain', 'link', 'application'].map((state) => `error (${state}) throws: Error: no session`),
    ])
    expect(String(new PagesError(['error throws: x']))).toBe('PagesError: the pages have a fault:\n  error throws: x')
  })

  it.each<readonly [keyof Pages, string, (html: string) => string, string]>([
    ['consent', 'no doctype', without(/^<!doctype html>/i), 'consent (plain) does not begin with <!doctype html>'],
    ['error', 'a script', (html) => `${html}<script></script>`, 'error (plain) has a script, which the policy'],
    ['error', 'a wrong name', (html) => `${html}undefined`, 'error (plain) shows "undefined"'],
    ['error', 'no escaping', (html) => html.replaceAll('&lt;', '<'), 'error (plain) does not escape a value'],
    [
      'authorizedApplications',
      'a checkbox of no form',
      without(/ form="chosen"/),
      'authorizedApplications (choice) has no client_id with the value "sample\\"0" in choiceForm',
    ],
    [
      'authorizedApplications',
      'no outcome',
      without(/<p class="notice".*?<\/p>/),
      'authorizedApplications shows the same whatever notice is',
    ],
    ['error', 'no link', without(/<a [^>]*>/), 'error (link) has no link to link.href'],
    ['consent', 'no form', without(/<form [^>]*>/), 'consent (plain) has no <form method="post"> with the action'],
    ['consent', 'another method', (html) => html.replace('method="post"', ''), 'has no <form method="post">'],
    ['consent', 'another address', (html) => html.replace('/sample"', '/x"'), 'has no <form method="post">'],
    [
      'consent',
      'a lost field',
      without(/<input type="hidden"[^>]*>/),
      'has no hidden field request with the unchanged',
    ],
    ['consent', 'a changed field', (html) => html.replace('c2FtcGxl', 'X'), 'has no hidden field consent with the'],
    ['consent', 'no refusal', without(/value="refuse"/), 'consent (plain) has no decision with the value "refuse"'],
    ['consent', 'no scope', (html) => html.replaceAll('resource_scope', 'x'), 'has no resource_scope in its form'],
    ['consent', 'another choice', (html) => html.replace('value="public"', 'value="some"'), 'resource_scope "some"'],
    ['consent', 'no resources', (html) => html.replaceAll('name="resource"', ''), 'has no resource with the value "e'],
    ['consent', 'no host', (html) => html.replaceAll('callback.example', ''), 'does not show redirectHost'],
    ['consent', 'no code', (html) => html.replaceAll('WDJB-MJHT', ''), 'consent (device) does not show userCode'],
    ['consent', 'no fault', () => '<!doctype html>', 'consent shows the same whatever fault is'],
    ['device', 'no field', without(/name="user_code"/), 'device (plain) has no text field user_code with no value'],
    [
      'device',
      'a lost code',
      (html) => html.replace(/type="hidden" name="user_code"/, ''),
      'no hidden field user_code',
    ],
    ['device', 'a decision', (html) => html.replace('</form>', '<input name="decision"></form>'), 'a field decision'],
    ['device', 'no code', (html) => html.replaceAll('<bdi>WDJB-MJHT</bdi>', ''), 'device (complete) does not show use'],
    ['deviceResult', 'no name', (html) => html.replaceAll('Sample', ''), 'deviceResult (agree) does not show applic'],
    ['deviceResult', 'one answer', () => '<!doctype html>Sample', 'deviceResult shows the same whatever decision is'],
    ['authorizedApplications', 'no next', (html) => html.replaceAll('<a ', '<b '), '(next) has no link to next'],
    ['authorizedApplications', 'no more', () => '<!doctype html>', 'the same whatever more is'],
    ['authorizedApplications', 'not all', () => '<!doctype html>', 'the same whatever isIncomplete is'],
    [
      'authorizedApplications',
      'one form',
      (html) => html.replaceAll('value="whole"', ''),
      'no hidden field application',
    ],
  ])('finds in %s: %s', async (name, _what, change, fault) => {
    expect(await faultsOf(changed(name, change))).toContainEqual(expect.stringContaining(fault))
  })

  it('reads a list, references by numbers, bare attributes and comments as a browser does', async () => {
    const select = '<select name=resource_scope><option value=all></option></select>'
    const page: Pages['consent'] = ({
      model,
    }) => `<!-- <form> --><!DOCTYPE HTML><form METHOD='POST' action=${model.form.action}>
      <input type=hidden name=request value='client_id=sample&#38;state=&#x22;x&quot;'>
      <input type=hidden name=consent value=c2FtcGxl>${select}${model.fault ?? ''}
      <button name=decision value=agree></button><button name=decision value=refuse></button></form>
      ${model.redirectHost ?? model.userCode}`
    expect(await faultsOf({ consent: page })).toEqual([])
  })

  it.each([
    ['a page that is no function', { error: '<p>' }, {}, 'checkPages, pages: the option error must be a function'],
    ['a page that there is not', { front: () => '' }, {}, 'checkPages, pages: there is no option front'],
    ['an unknown language', {}, { locale: 'tlh' }, "checkPages: the option locale must be 'en' or 'de'"],
    ['an unknown option', {}, { language: 'de' }, 'checkPages: there is no option language'],
  ])('refuses %s', async (_what, pages, options, message) => {
    await expect(checkPages(pages as Partial<Pages>, options as { locale: 'en' })).rejects.toThrow(message)
  })
})
