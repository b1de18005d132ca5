import {
  dateFromISO,
  dateToISO,
  describeField,
  editText,
  enumName,
  formatJson,
  formatText,
  fromDate,
  getField,
  locateField,
  locateFields,
  MetaData,
  MetadataError,
  parseText,
  readMetadata,
  toDate,
  unknownFields,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'

const invalid = expect.objectContaining({ code: 'invalid_value' })
const bytes = MetaData.encode(MetaData.create({ name: 'x' }))

describe('what a caller in JavaScript gets wrong', () => {
  it.each<unknown>([undefined, null, 5, {}, [], new ArrayBuffer(2), new DataView(new ArrayBuffer(2))])(
    'input that is none: %s',
    (input) => {
      for (const read of [MetaData.decode, parseText, readMetadata])
        expect(() => read(input as never)).toThrowError(invalid)
      expect(() => MetaData.decode('x' as never)).toThrowError(invalid)
    },
  )

  it('takes bytes of every kind', () => {
    expect(MetaData.decode(Buffer.from(bytes)).name).toBe('x')
    expect(readMetadata(Buffer.from('name: "x"')).metadata.name).toBe('x')
  })

  const calls: [string, (options: never) => unknown, readonly string[]][] = [
    ['decode', (options) => MetaData.decode(bytes, options), ['maxBytes']],
    ['encode', (options) => MetaData.encode(MetaData.create(), options), ['unknownText']],
    ['parseText', (options) => parseText('', options), ['strict', 'enumAliases', 'duplicates', 'maxBytes']],
    ['formatText', (options) => formatText(MetaData.create(), options), ['utf8', 'enumAliases', 'unknownFields']],
    ['toJSON', (options) => MetaData.toJSON(MetaData.create(), options), ['enumAliases', 'unknownText']],
    ['formatJson', (options) => formatJson(MetaData.create(), options), ['enumAliases', 'unknownText']],
    ['fromJSON', (options) => MetaData.fromJSON({}, options), ['strict', 'enumAliases']],
    [
      'readMetadata',
      (options) => readMetadata('', options),
      ['strict', 'enumAliases', 'duplicates', 'maxBytes', 'format'],
    ],
    ['editText', (options) => editText('', {}, options), ['enumAliases', 'maxBytes']],
  ]
  it.each(calls)('an option of %s that is none, or of the wrong kind', (_, call, names) => {
    for (const options of [
      null,
      5,
      [],
      new Map(),
      Promise.resolve({}),
      { strct: true },
      { toString: true },
      { constructor: 1 },
    ])
      expect(() => call(options as never)).toThrow(TypeError)
    for (const name of names) {
      expect(() => call({ [name]: undefined } as never)).not.toThrow()
      for (const value of [null, Number.NaN, 'x', () => 1])
        expect(() => call({ [name]: value } as never)).toThrow(TypeError)
    }
    expect(() => call({ nothing: true } as never)).toThrow(`there is no option nothing; it takes ${names.join(', ')}`)
  })

  it.each(calls)('an option of %s that is not the own one of the object', (_, call, names) => {
    for (const name of names) {
      const getter = Object.defineProperty({}, name, { get: () => undefined, enumerable: true })
      const hidden = Object.defineProperty({}, name, { value: undefined, enumerable: false })
      for (const options of [Object.create({ [name]: undefined }), Object.create(getter), hidden])
        expect(() => call(options as never)).toThrow(
          new TypeError(`the option ${name} must be the object's own; got an inherited one`),
        )
      expect(() => call(getter as never)).not.toThrow()
    }
  })

  it('aliases that are not the own ones of the object, or no object', () => {
    const types = { PIPER: 'INTERNAL_VCS' }
    for (const [enumAliases, name] of [
      [Object.create({ 'URL.Type': types }), 'URL.Type'],
      [{ 'URL.Type': Object.create(types) }, 'PIPER'],
    ] as const)
      expect(() => parseText('', { enumAliases })).toThrow(
        new TypeError(`enumAliases: ${name} must be the object's own; got an inherited one`),
      )
    for (const enumAliases of [[], new Map([['URL.Type', types]])])
      expect(() => parseText('', { enumAliases: enumAliases as never })).toThrow(TypeError)
  })

  it('an option that a prototype has', () => {
    const prototype = Object.prototype as { strict?: boolean; duplicates?: string; maxBytes?: number }
    Object.assign(prototype, { strict: true, duplicates: 'last', maxBytes: 3 })
    try {
      expect(parseText('foo: 1')._unknownText).toHaveLength(1)
      expect(MetaData.fromJSON({ foo: 1 })._unknownText).toHaveLength(1)
      expect(readMetadata('foo: 1', {}).format).toBe('text')
      expect(() => parseText('name: "a" name: "b"')).toThrowError(expect.objectContaining({ code: 'duplicate_field' }))
      expect(MetaData.decode(MetaData.encode(MetaData.create({ name: 'long' }))).name).toBe('long')
      expect(editText('name: "a"', { name: 'b' })).toBe('name: "b"')
    } finally {
      delete prototype.strict
      delete prototype.duplicates
      delete prototype.maxBytes
    }
  })

  // JSON of a stranger, or the value of an unknown field, may be any of the objects.
  const noTexts = [undefined, null, 5, 1n, true, Symbol('x'), [], ['name'], {}, { toString: 1 }, Object.create(null)]
  const record = MetaData.create({ name: 'x' })
  it.each<[string, (value: never) => unknown, code: string]>([
    ['getField', (path) => getField(record, path), 'invalid_path'],
    ['describeField', (path) => describeField(path), 'invalid_path'],
    ['locateField', (path) => locateField('name: "x"', path), 'invalid_path'],
    ['locateFields', (path) => locateFields('name: "x"', [path]), 'invalid_path'],
    ['the text of locateField', (text) => locateField(text, 'name'), 'invalid_value'],
    ['enumName', (name) => enumName(name), 'invalid_value'],
    ['dateFromISO', (day) => dateFromISO(day), 'invalid_value'],
    ['fromDate', (date) => fromDate(date), 'invalid_value'],
  ])('a value that is no text, or no Date: %s', (_, call, code) => {
    for (const value of noTexts) expect(() => call(value as never)).toThrowError(expect.objectContaining({ code }))
  })

  it('a day with parts that are no numbers', () => {
    for (const value of noTexts.filter((each) => typeof each !== 'number')) {
      expect(dateToISO({ year: value as never, month: 1, day: 1 })).toBeUndefined()
      expect(toDate({ year: 2026, month: 1, day: value as never })).toBeUndefined()
    }
  })

  it('unknown fields that nest without an end', () => {
    let entry: object = { name: 'a', text: '1' }
    let list: unknown[] = []
    for (let i = 0; i < 50_000; i++) {
      entry = { name: 'a', fields: [entry] }
      list = [list]
    }
    for (const unknown of [{ _unknownText: [entry] }, { _unknownText: list }, { _unknownFields: { 10: list } }])
      for (const base of [unknown, { thirdParty: unknown }, { thirdParty: { url: [unknown] } }])
        expect(() => MetaData.create(base as never)).toThrowError(expect.objectContaining({ code: 'too_deep' }))
  })

  it('unknown fields that nest as deep as a text may be are copied', () => {
    const text = `${'a { '.repeat(100)}${'} '.repeat(100)}`
    expect(formatText(MetaData.create(parseText(text)))).toBe(formatText(parseText(text)))
  })

  it('objects that are none of JSON, and messages that are none', () => {
    for (const value of [new Map([['name', 'x']]), new Date(), new Set(), /x/, () => 1]) {
      expect(() => MetaData.fromJSON(value)).toThrowError(invalid)
      expect(() => MetaData.create(value as never)).toThrowError(invalid)
    }
    expect(MetaData.fromJSON(Object.assign(Object.create(null), { name: 'x' })).name).toBe('x')
  })

  const strangers: readonly (readonly [string, unknown])[] = [
    ['a Date', new Date(0)],
    ['a Map', new Map([['year', 1]])],
    ['a Set', new Set(['year'])],
    ['a RegExp', /x/],
    ['an Error', new Error('x')],
    ['a Promise', Promise.resolve({ year: 1 })],
    ['a URL', new URL('https://git.example/')],
    ['a Uint8Array', Uint8Array.of(1)],
    ['an ArrayBuffer', new ArrayBuffer(1)],
    ['a Number', Object(1)],
    ['a String', Object('')],
    ['an object', new (class Empty {})()],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
  ]
  it.each(strangers)('%s where the fields of a message belong', (kind, value) => {
    const empty = 'third_party {\n  last_upgrade_date {}\n  url {}\n}\nunknown {}\n'
    const changes: [string, object][] = [
      ['third_party', { third_party: value }],
      ['third_party.last_upgrade_date', { 'third_party.last_upgrade_date': value }],
      ['third_party.last_upgrade_date', { third_party: { lastUpgradeDate: value } }],
      ['third_party.url[0]', { 'third_party.url[0]': value }],
      ['third_party.url[+]', { 'third_party.url[+]': value }],
      ['third_party.url[0]', { 'third_party.url': [value] }],
      ['unknown', { unknown: value }],
      ['unknown.x', { unknown: { x: value } }],
      ['name', { name: value }],
    ]
    for (const text of ['', empty])
      for (const [path, change] of changes) {
        const edit = () => editText(text, change as never)
        expect(edit).toThrowError(expect.objectContaining({ code: 'invalid_value', path }))
        expect(edit).toThrowError(`, got ${kind}`)
      }
    expect(() => editText(empty, value as never)).toThrowError(
      `the change should be an object of values by path, got ${kind}`,
    )
  })

  it('a record that is another object', () => {
    for (const [kind, value] of strangers.filter(
      ([, value]) => typeof value !== 'object' || !/Empty/.test(String(value?.constructor.name)),
    ))
      for (const write of [
        MetaData.encode,
        formatText,
        formatJson,
        MetaData.toJSON,
        (record: MetaData) => getField(record, 'name'),
      ])
        expect(() => write(value as never), kind).toThrowError(invalid)
  })

  it('a field that is given by its name and by its key', () => {
    for (const value of [null, 'NOTICE'])
      expect(() => editText('', { third_party: { license_type: 'NOTICE', licenseType: value } })).toThrow(
        'third_party.license_type: it is given twice',
      )
  })

  it('numbers of enums that no reader takes', () => {
    for (const type of [5e9, 1e30, 1.5, Number.NaN])
      expect(() => MetaData.fromJSON({ thirdParty: { type } })).toThrowError(invalid)
    const kept = MetaData.fromJSON({ thirdParty: { type: -7, licenseType: -0 } })
    expect(Object.is(kept.thirdParty?.licenseType, 0)).toBe(true)
    expect(parseText(formatText(kept))).toEqual(kept)
  })

  it('keys that no field may have', () => {
    for (const key of ['$schema', 'x-foo', '', '1', 'a b', '[a', 'é'])
      expect(() => MetaData.fromJSON({ [key]: 1 })).toThrowError(
        `the key ${JSON.stringify(key)} is no name that a field may have`,
      )
  })

  it('unknown fields of binary that are none', () => {
    for (const fields of [
      { foo: [bytes] },
      { 0: [bytes] },
      { 7: [bytes] },
      { 1.5: [bytes] },
      { [-8]: [bytes] },
      { 120: bytes },
      { 120: ['x'] },
      [],
    ]) {
      const message = { _unknownFields: fields } as never
      expect(() => MetaData.encode(message)).toThrowError(
        expect.objectContaining({ code: 'invalid_value', path: '_unknownFields' }),
      )
      expect(() => unknownFields(message)).toThrowError(invalid)
    }
  })

  it('a date as text where a message is', () => {
    const change = { 'third_party.last_upgrade_date': '2026-11-21' }
    expect(() => editText('', change as never)).toThrow(
      'should be an object with year, month and day, such as dateFromISO makes',
    )
  })

  it('a date that is none', () => {
    for (const date of ['2026-01-01', 5, null, undefined]) expect(() => fromDate(date as never)).toThrowError(invalid)
  })
})

describe('what is longer than the limit', () => {
  const maxBytes = 10_000_000
  const long = 'x'.repeat(4_200_000)

  it('was permitted once, and then everywhere', () => {
    const text = `name: "n"\nfoo: "${long}"\n`
    expect(() => parseText(text)).toThrowError(expect.objectContaining({ code: 'too_large' }))
    const record = parseText(text, { maxBytes })
    expect(formatText(record) === text).toBe(true)
    expect(getField(record, 'foo')).toHaveLength(long.length)
    expect(MetaData.toJSON(record)['foo']).toHaveLength(long.length)
    expect(locateField(text, 'foo')).toEqual({ line: 2, column: 1 })
    expect(() => editText(text, { name: 'm' })).toThrowError(expect.objectContaining({ code: 'too_large' }))
    expect(editText(text, { name: 'm' }, { maxBytes }).slice(0, 10)).toBe('name: "m"\n')
    expect(editText(text, { foo: null }, { maxBytes })).toBe('name: "n"\n')
  })

  it('and grows in reading, since pieces of a string get a blank between them', () => {
    const record = parseText(`a:${'""'.repeat(1_500_000)}`)
    expect(formatText(record)).toBe('a: ""\n')
  })
})

describe('JSON of what the schema does not know', () => {
  it('takes no name that is the one of a known field in JSON', () => {
    for (const text of [
      'thirdParty: "x"',
      'third_party { licenseType: NOTICE }',
      'third_party { security { mitigatedSecurityPatch: "q" } }',
    ])
      expect(() => MetaData.toJSON(parseText(text))).toThrowError(expect.objectContaining({ code: 'unknown_field' }))
  })

  it('writes numbers that JSON has not as they were written, where strings will do', () => {
    const json = MetaData.toJSON(parseText('a: 1e400 b: -inf c: nan d: -1e999f'), { unknownText: 'string' })
    expect(json).toEqual({ a: '1e400', b: '-inf', c: 'nan', d: '-1e999f' })
    expect(new MetadataError('syntax', 'x')).toMatchObject({ name: 'MetadataError', code: 'syntax', message: 'x' })
  })
})
