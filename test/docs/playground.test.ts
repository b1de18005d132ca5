/**
 * The functions behind the playground: what it shows of a record, of a redirect URI, and of scopes.
 */
import fc from 'fast-check'
import { formatJson, getField, MetaData, parseText } from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../docs/.vitepress/playground/examples.js'
import { dumpOf, leavesOf, rangeOfLine, SHOWN_BYTES, showRecord } from '../../docs/.vitepress/playground/metadata.js'
import {
  changeByJson,
  changeField,
  type EditableField,
  editableFields,
} from '../../docs/.vitepress/playground/metadata-edit.js'
import {
  FIRST_REDIRECT_FORM,
  judgeRedirect,
  type RedirectForm,
  TRIED_REDIRECTS,
} from '../../docs/.vitepress/playground/redirects.js'
import {
  FIRST_SCOPES,
  judgeScopes,
  KNOWN_SCOPES,
  readScopes,
  TRIED_SCOPES,
} from '../../docs/.vitepress/playground/scopes.js'

const [GOOD, FAULTY, OWN, BROKEN] = EXAMPLES.map(({ text }) => text) as [string, string, string, string] // there are four

/** Finds a field that can be changed. */
function fieldOf(text: string, path: string): EditableField {
  const field = editableFields(text).find((each) => each.path === path)
  if (field === undefined) throw new Error(`no field ${path}`)
  return field
}

describe('a record that is shown', () => {
  it('has its fields at their lines', () => {
    const { summary, fields, problems } = showRecord(GOOD)
    expect(summary).toBe('Read. 12 fields, no problems.')
    expect(problems).toEqual([])
    const lines = GOOD.split('\n')
    for (const { path, line } of fields) {
      const name = path.replace(/\[\d+\]$/, '').replace(/^.*\./, '')
      expect(lines[line - 1]).toContain(name)
    }
    expect(fields.map(({ path }) => path)).toContain('third_party.url[1].value')
  })

  it('has its blanks in quotes', () => {
    const values = showRecord('name: " a" description: "b c" x: "" y: "1\\n2"').fields.map(({ value }) => value)
    expect(values).toEqual(['" a"', 'b c', '""', '"1\\n2"'])
  })

  it('has its problems at their lines', () => {
    const { summary, problems } = showRecord(FAULTY)
    expect(summary).toBe('Read. 8 fields, 5 errors, 1 warning.')
    expect(problems.map(({ line, severity, code }) => [line, severity, code])).toEqual([
      [2, 'error', 'empty'],
      [3, 'error', 'missing_version'],
      [3, 'warning', 'missing_license_type'],
      [4, 'error', 'invalid_url'],
      [5, 'error', 'missing_value'],
      [6, 'error', 'invalid_date'],
    ])
  })

  it('is refused with the line that is wrong', () => {
    const { summary, problems, canonical, fields } = showRecord(BROKEN)
    expect(summary).toBe('Not read. Line 3 is wrong.')
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatchObject({ line: 3, severity: 'error' })
    expect(problems[0]?.message).not.toMatch(/^\d/)
    expect([canonical.text, fields]).toEqual([undefined, []])
  })

  it('says which fields the schema does not have, and leaves them out of the bytes', () => {
    const { fields, bytes, json } = showRecord(OWN)
    const unknown = fields.filter(({ description }) => description === undefined).map(({ path }) => path)
    expect(unknown).toEqual(['type', 'value', 'version'].map((name) => `third_party.identifier.${name}`))
    expect(bytes.note).toContain('third_party.identifier')
    expect(bytes.text).toMatch(/^0000 {2}0a 06/)
    expect(json.text).toContain('v1.6.43')
  })

  it.each([
    ['good', GOOD],
    ['fair', 'name: "a"'],
    ['bad', FAULTY],
    ['bad', BROKEN],
  ])('is %s by its worst problem', (grade, text) => {
    expect(showRecord(text).grade).toBe(grade)
  })

  it('says why there is no JSON where there is none', () => {
    expect(showRecord('name: "a" kind: FOO').json).toEqual({ note: expect.stringContaining('JSON cannot hold') })
  })

  it('has the canonical text, the JSON and the bytes of the codec', () => {
    const { json, bytes, canonical } = showRecord(GOOD)
    const record = parseText(GOOD)
    expect(json.text).toBe(formatJson(record))
    const dumped = (bytes.text ?? '').match(/(?<=^\d\S* {2}).*$/gm)?.join(' ')
    expect(dumped?.split(' ').map((byte) => Number.parseInt(byte, 16))).toEqual([...MetaData.encode(record)])
    expect(parseText(canonical.text ?? '')).toEqual(record)
  })

  it.each(['', '{', 'a: 1 b: { c: [1, 2] } [x.y]: {}', 'a: 1e999', `a: ${'9'.repeat(20_000)}`, 'third_party {}', '\0'])(
    'is shown whatever the text is: %j',
    (text) => {
      expect(showRecord(text).summary).toMatch(/^(Read|Not read)\. /)
      expect(editableFields(text).length).toBeGreaterThanOrEqual(0)
    },
  )

  it('has no more bytes than can be looked at', () => {
    const dump = dumpOf(new Uint8Array(SHOWN_BYTES + 5))
    expect(dump.split('\n')).toHaveLength(SHOWN_BYTES / 16 + 1)
    expect(dump).toMatch(/and 5 bytes more$/)
    expect(dumpOf(new Uint8Array())).toBe('0 bytes')
  })

  it('has each of its lines where it is', () => {
    const { start, end } = rangeOfLine('ab\ncde\n', 2)
    expect('ab\ncde\n'.slice(start, end)).toBe('cde')
    expect(rangeOfLine('ab', 9)).toEqual({ start: 2, end: 2 })
  })
})

describe('a change of a field', () => {
  it('changes its line alone', () => {
    const changed = changeField(GOOD, fieldOf(GOOD, 'third_party.version'), '1.3.2')
    if (changed.error !== undefined) return expect.fail(changed.error)
    expect(changed.text).toBe(GOOD.replace('version: "1.3.1"', 'version: "1.3.2"'))
    expect(changed.lines.filter(({ kind }) => kind !== 'same')).toEqual([
      { kind: 'place', text: 'line 9' },
      { kind: 'removed', text: '  version: "1.3.1"' },
      { kind: 'added', text: '  version: "1.3.2"' },
    ])
    expect(changed.summary).toBe('1 added, 1 removed. All other lines stay as they are.')
  })

  it('changes nothing while the value is the same', () => {
    for (const field of editableFields(GOOD)) {
      expect(changeField(GOOD, field, field.value)).toEqual({ text: GOOD, lines: [], summary: 'No line changes.' })
    }
  })

  it('sets what is not set, and removes what is', () => {
    const added = changeField(GOOD, fieldOf(GOOD, 'third_party.license_note'), 'zlib')
    expect(added).toMatchObject({ summary: '1 added, 0 removed. All other lines stay as they are.' })
    const removed = changeField(GOOD, fieldOf(GOOD, 'third_party.version'), undefined)
    expect(removed).toMatchObject({ text: GOOD.replace('  version: "1.3.1"\n', '') })
  })

  it.each([
    ['third_party.license_type', 'choice', 'RESTRICTED'],
    ['third_party.last_upgrade_date.year', 'number', '2026'],
    ['description', 'text', 'a "quoted" } text\nof two lines'],
  ])('knows the kind of %s', (path, kind, value) => {
    const field = fieldOf(GOOD, path)
    expect(field.kind).toBe(kind)
    const changed = changeField(GOOD, field, value)
    if (changed.error !== undefined) return expect.fail(changed.error)
    expect(String(getField(parseText(changed.text), path))).toBe(value)
  })

  it.each(['x', '1.5', '99999999999'])('refuses the year %s', (value) => {
    const changed = changeField(GOOD, fieldOf(GOOD, 'third_party.last_upgrade_date.year'), value)
    expect(changed.summary).toMatch(/^Not changed: third_party\.last_upgrade_date\.year/)
  })

  it('is offered for no text that cannot be read', () => {
    expect(editableFields(BROKEN)).toEqual([])
  })
})

describe('a change of the JSON', () => {
  /** Changes the JSON of a text by a replacement, and returns the changed text. */
  function changedBy(text: string, from: string, to: string): string {
    const json = formatJson(parseText(text))
    expect(json).toContain(from)
    const changed = changeByJson(text, json.replace(from, to))
    return changed.error === undefined ? changed.text : expect.fail(changed.error)
  }

  it.each(EXAMPLES.slice(0, 3))('changes nothing while it is the same: $title', ({ text }) => {
    expect(changeByJson(text, formatJson(parseText(text)))).toMatchObject({ text, lines: [] })
  })

  it('changes the lines of what it changes', () => {
    expect(changedBy(GOOD, '"zlib"', '"zlib-ng"')).toBe(GOOD.replace('"zlib"', '"zlib-ng"'))
    expect(changedBy(GOOD, '"licenseType": "NOTICE",', '')).toBe(GOOD.replace('  license_type: NOTICE\n', ''))
    expect(changedBy(OWN, 'v1.6.43', 'v1.6.44')).toBe(OWN.replace('v1.6.43', 'v1.6.44'))
  })

  it('adds to a list, and takes from it', () => {
    const added = changedBy(GOOD, '"url": [', '"url": [ { "type": "SVN", "value": "https://svn.example/" },')
    expect(getField(parseText(added), 'third_party.url[0].type')).toBe('SVN')
    expect(added).toContain('# the sources')
    expect(changedBy(GOOD, '"tag": [', '"tag": ["another",')).toContain('another')
  })

  it.each(['', '{', '[]', '{"name": 1}'])('is refused with its reason: %s', (json) => {
    expect(changeByJson(GOOD, json)).toMatchObject({ summary: expect.stringMatching(/^Not changed: ./) })
  })

  it('makes of any record any other', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 8 })
    const list = fc.array(fc.record({ type: fc.constantFrom('GIT', 'SVN'), value: text }, { requiredKeys: [] }), {
      maxLength: 3,
    })
    const json = fc.record(
      {
        name: text,
        thirdParty: fc.record(
          {
            url: list,
            version: text,
            identifier: fc.record({ kind: text }),
            security: fc.record({ tag: fc.array(text, { maxLength: 3 }) }, { requiredKeys: [] }),
            lastUpgradeDate: fc.record({ year: fc.integer({ min: 1, max: 9999 }) }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(json, json, (before, after) => {
        const from = showRecord(canonicalOf(before))
        const changed = changeByJson(from.canonical.text ?? '', JSON.stringify(after))
        if (changed.error !== undefined) return expect.fail(changed.error)
        expect(leavesOf(parseText(changed.text))).toEqual(leavesOf(parseText(canonicalOf(after))))
      }),
    )
  })

  /** Writes JSON as text, by way of a change of the empty text. */
  function canonicalOf(json: unknown): string {
    const changed = changeByJson('', JSON.stringify(json))
    return changed.error === undefined ? changed.text : expect.fail(changed.error)
  }
})

describe('a redirect URI that is judged', () => {
  /** Judges the form of the page with other values. */
  const judge = (values: Partial<RedirectForm>) => judgeRedirect({ ...FIRST_REDIRECT_FORM, ...values })

  it.each<[string, Partial<RedirectForm>, RegExp, string]>([
    ['the first one', {}, /authorized domain app\.example/, '#section-2-1'],
    ['a registered one', { requested: 'https://app.example/callback' }, /exactly a registered/, '#section-2-1'],
    ['one on loopback', { requested: 'http://127.0.0.1:9/callback' }, /RFC 8252/, '#section-2-1'],
    [
      'localhost',
      { requested: 'http://localhost:9/c', registered: 'http://localhost/c', allowLocalhost: true },
      /8252/,
      '2',
    ],
    [
      'a subdomain',
      { requested: 'https://a.app.example/', allowSubdomains: true },
      /domain app\.example/,
      '#section-5-1',
    ],
    ['none', { requested: '', registered: 'https://app.example/callback' }, /None was sent/, '#section-4-1'],
  ])('is accepted: %s', (_name, values, because, link) => {
    const verdict = judge(values)
    expect(verdict).toMatchObject({ isAccepted: true, because: expect.stringMatching(because), faults: [] })
    expect(verdict.rules.map((rule) => rule.link).join()).toContain(link)
  })

  it.each<[string, Partial<RedirectForm>, RegExp]>([
    ['another path, where they match exactly', { matching: 'exact' }, /must be exactly a registered redirect URI/],
    ['a subdomain', { requested: 'https://a.app.example/' }, /must have the host app\.example\.$/],
    ['another port', { requested: 'https://app.example:8443/' }, /must have the port/],
    ['localhost', { requested: 'http://localhost:9/callback' }, /only the port may differ/],
    ['a parameter of the answer', { requested: 'https://app.example/?code=1' }, /the parameter code/],
    ['no URL', { requested: 'callback' }, /must be a whole URL/],
    ['a blank at its end', { requested: 'https://app.example/callback ' }, /must be/],
    ['none of two', { requested: '' }, /must be sent: not exactly one is registered/],
  ])('is refused: %s', (_name, values, because) => {
    const verdict = judge(values)
    expect(verdict).toMatchObject({ isAccepted: false, because: expect.stringMatching(because) })
    expect(verdict.rules.length).toBeGreaterThan(0)
  })

  it('shows the faults of the registration, and goes on without what is wrong', () => {
    const verdict = judge({ registered: 'http://app.example/\nhttp://[\ncom.example.app:/c', type: 'confidential' })
    expect(verdict.faults).toEqual([
      expect.stringContaining('redirectUris[0] must be https'),
      expect.stringContaining('redirectUris[1] must be a whole URL'),
      expect.stringContaining('redirectUris[2] must not have a private-use scheme'),
    ])
    expect(verdict.isAccepted).toBe(false)
    expect(judge({ domain: 'other.example' }).faults).toEqual([
      'redirectUris app.example is not in the authorized domain',
    ])
  })

  it('has some to try that are accepted, and some that are refused', () => {
    const verdicts = TRIED_REDIRECTS.map(([, requested]) => judge({ requested }).isAccepted)
    expect(new Set(verdicts)).toEqual(new Set([true, false]))
  })
})

describe('scopes that are judged', () => {
  it('are read in normal form, or each with its reason', () => {
    expect(readScopes(' account-profile:r  repo-code:r repo-code:rw ').shown).toBe('repo-code:rw account-profile:r')
    expect(readScopes('repo-cod:r repo-code repo-delete:r repo-code:r,x qqqqqqqqq:r').faults).toEqual([
      '"repo-cod:r": no such name; repo-code:r is close.',
      '"repo-code": the type is missing; it is repo-code:r or repo-code:rw.',
      '"repo-delete:r": no such type of this name; it is repo-delete:rw.',
      '"repo-code:r,x": only a space separates scopes.',
      '"qqqqqqqqq:r": no such name.',
    ])
    expect(readScopes('  ').faults).toEqual(['The list has no scope.'])
  })

  it('are covered, or not, and limited, each with its reason', () => {
    const verdict = judgeScopes(
      'repo-code:rw account-profile:r repo-pr:rw repo-issue:r',
      'repo-code:r account-profile:rw repo-issue:r',
    )
    expect(verdict.isAccepted).toBe(false)
    expect(verdict.summary).toBe(
      'Refused with invalid_scope. Not covered by the registration: repo-code:rw, repo-pr:rw.',
    )
    expect(verdict.judged.map(({ scope, because, left }) => [scope, because, left])).toEqual([
      ['repo-code:rw', 'only repo-code:r is registered', 'repo-code:r'],
      ['repo-pr:rw', 'not registered', undefined],
      ['repo-issue:r', 'registered', 'repo-issue:r'],
      ['account-profile:r', 'account-profile:rw is registered, and rw includes r', 'account-profile:r'],
    ])
    expect(verdict.limited).toBe('repo-code:r repo-issue:r account-profile:r')
  })

  it('are all registered ones where the request has none', () => {
    expect(judgeScopes('', FIRST_SCOPES.registered)).toMatchObject({
      isAccepted: true,
      summary: 'Accepted. The request is for repo-code:r account-profile:rw.',
    })
  })

  it.each([
    [' ', 'repo-code:r', 'The request cannot be read.'],
    ['repo-code:x', 'repo-code:r', 'The request cannot be read.'],
    ['repo-code:r', '', 'No scope is registered.'],
    ['', '', 'No scope is registered.'],
  ])('are refused: %j of %j', (requested, registered, why) => {
    expect(judgeScopes(requested, registered)).toMatchObject({
      isAccepted: false,
      summary: expect.stringContaining(why),
    })
  })

  it('have some to try that are accepted, and some that are refused', () => {
    const verdicts = TRIED_SCOPES.map(([, requested]) => judgeScopes(requested, FIRST_SCOPES.registered).isAccepted)
    expect(new Set(verdicts)).toEqual(new Set([true, false]))
    expect(KNOWN_SCOPES.length).toBeGreaterThan(26)
  })
})
