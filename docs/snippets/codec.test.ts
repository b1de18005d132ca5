/**
 * The code of the page "The codec".
 * @module
 */

// #region imports
import {
  editText,
  formatJson,
  formatText,
  fromDate,
  getField,
  MetaData,
  MetadataError,
  parseText,
  readMetadata,
  validate,
} from 'grantwell/metadata'
// #endregion imports
import { describeField, unknownFields } from 'grantwell/metadata'
import { expect, it } from 'vitest'

// #region text
const text = `# Kept by hand.
name: "zlib"
third_party {
  url { type: GIT value: "https://git.example/zlib" }  # the sources
  version: "1.3.1"
  license_type: NOTICE
  last_upgrade_date { year: 2024 month: 1 day: 22 }
}
`
// #endregion text

it('reads a record', () => {
  // #region read
  const record = parseText(text)
  console.log(record.name, record.thirdParty?.version) // zlib 1.3.1
  console.log(getField(record, 'third_party.url[0].value')) // https://git.example/zlib
  // #endregion read
  expect([record.name, record.thirdParty?.version]).toEqual(['zlib', '1.3.1'])
  expect(getField(record, 'third_party.url[0].value')).toBe('https://git.example/zlib')
  expect(getField(record, 'third_party.type')).toBe('PACKAGE')
  expect(record.thirdParty?.type).toBeUndefined()
  expect(describeField('third_party.version')).toBeDefined()
})

it('changes a text in place', () => {
  // #region edit
  const next = editText(text, {
    'third_party.version': '1.3.2',
    'third_party.last_upgrade_date': fromDate(new Date('2026-11-21')),
    'third_party.url[+]': { type: 'HOMEPAGE', value: 'https://zlib.example' }, // adds one
    'third_party.license_note': null, // removes; there is none, so nothing happens
  })
  // #endregion edit
  expect(next).toBe(`# Kept by hand.
name: "zlib"
third_party {
  url { type: GIT value: "https://git.example/zlib" }  # the sources
  url { type: HOMEPAGE value: "https://zlib.example" }
  version: "1.3.2"
  license_type: NOTICE
  last_upgrade_date { year: 2026 month: 11 day: 21 }
}
`)
})

it('turns a record into each format and back', () => {
  // #region formats
  const record = parseText(text)
  const bytes = MetaData.encode(record) // binary, a Uint8Array
  const json = formatJson(record) // JSON, as text
  const canonical = formatText(record) // the text format of protoc, without comments

  const { format, metadata } = readMetadata(bytes) // recognizes the format
  // #endregion formats
  expect(format).toBe('binary')
  expect(metadata).toEqual(record)
  expect(readMetadata(json)).toEqual({ format: 'json', metadata: record })
  expect(parseText(canonical)).toEqual(record)
})

it('finds what is wrong', () => {
  // #region validate
  const problems = validate(
    parseText('name: "y" third_party { version: "1" url { type: GIT value: "github.com/x/y" } }'),
  )
  for (const { severity, path, message, code } of problems) console.log(`${severity}: ${path}: ${message} [${code}]`)
  // #endregion validate
  expect(problems.map(({ severity, path, message, code }) => `${severity}: ${path}: ${message} [${code}]`)).toEqual([
    'error: third_party.url[0].value: "github.com/x/y" is no URL [invalid_url]',
    'warning: third_party.license_type: no kind of licence [missing_license_type]',
    'warning: third_party.last_upgrade_date: no date at which it was upgraded [missing_upgrade_date]',
  ])
})

it('keeps what the schema does not know', () => {
  // #region unknown
  const record = parseText('name: "zlib" third_party { identifier { type: "Git" version: "v1.3.1" } }')
  const version = getField(record, 'third_party.identifier.version') // v1.3.1
  const back = formatText(record) // has it too
  // #endregion unknown
  expect(version).toBe('v1.3.1')
  expect(back).toContain('version: "v1.3.1"')
  expect(() => MetaData.encode(record)).toThrow(/identifier/)
  expect(MetaData.encode(record, { unknownText: 'omit' }).length).toBeGreaterThan(0)
  expect(() => parseText('foo: 1', { strict: true })).toThrow(/MetaData has no field foo/)
  const fromNewer = MetaData.decode(Uint8Array.from([0x0a, 0x01, 0x61, 0xf8, 0x07, 0x05]))
  expect(unknownFields(fromNewer)).toHaveLength(1)
  expect([...MetaData.encode(fromNewer)]).toEqual([0x0a, 0x01, 0x61, 0xf8, 0x07, 0x05])
})

it('says where a text is broken', () => {
  let told = ''
  // #region errors
  try {
    parseText('name: "zlib"\nthird_party { licence_type: NOTICE }', { strict: true })
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error
    told = `${error.message} [${error.code}]`
  }
  // #endregion errors
  expect(told).toBe('2:15: ThirdPartyMetaData has no field licence_type [unknown_field]')
})
