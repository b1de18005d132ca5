import { formatJson, MetaData, type MetadataError, parseText, ThirdPartyMetaData, UrlMessage } from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'

const json = {
  name: 'zlib',
  description: '',
  thirdParty: {
    url: [{ type: 'GIT', value: 'https://x' }, {}],
    version: '1',
    licenseType: 'NOTICE',
    licenseNote: 'n',
    localModifications: 'm',
    security: { category: 'SANDBOXED_ONLY', note: 's', tag: ['t'], mitigatedSecurityPatch: ['p'] },
    lastUpgradeDate: { year: 2026, month: 11, day: 21 },
    type: 'PACKAGE',
  },
}

describe('JSON', () => {
  it('is written with keys in camel case and enums by name, without what is unset', () => {
    expect(MetaData.toJSON(MetaData.fromJSON(json))).toEqual(json)
    expect(MetaData.toJSON(MetaData.create())).toEqual({})
    expect(ThirdPartyMetaData.toJSON(ThirdPartyMetaData.create())).toEqual({})
  })

  it('is read by the names of the schema too, and enums by number', () => {
    const thirdParty = {
      url: [{ type: 3 }],
      license_type: 2,
      last_upgrade_date: { year: '2026', month: 11.0, day: '2.1e1' },
    }
    expect(MetaData.toJSON(MetaData.fromJSON({ third_party: thirdParty }))).toEqual({
      thirdParty: {
        url: [{ type: 'GIT' }],
        licenseType: 'NOTICE',
        lastUpgradeDate: { year: 2026, month: 11, day: 21 },
      },
    })
  })

  it('has null for unset', () => {
    expect(MetaData.fromJSON({ name: null, third_party: null })).toEqual(MetaData.create())
    expect(ThirdPartyMetaData.fromJSON({ url: null, type: null, foo: null })).toEqual(ThirdPartyMetaData.create())
  })

  it.each([
    [null, '', 'invalid_value'],
    [[], '', 'invalid_value'],
    ['x', '', 'invalid_value'],
    [{ name: 5 }, 'name', 'invalid_value'],
    [{ name: '\ud800' }, 'name', 'invalid_value'],
    [{ thirdParty: [] }, 'third_party', 'invalid_value'],
    [{ thirdParty: { url: {} } }, 'third_party.url', 'invalid_value'],
    [{ thirdParty: { url: [null] } }, 'third_party.url[0]', 'invalid_value'],
    [{ thirdParty: { security: { tag: ['a', null] } } }, 'third_party.security.tag[1]', 'invalid_value'],
    [{ thirdParty: { lastUpgradeDate: { year: 1.5 } } }, 'third_party.last_upgrade_date.year', 'invalid_value'],
    [{ thirdParty: { lastUpgradeDate: { year: 2 ** 31 } } }, 'third_party.last_upgrade_date.year', 'invalid_value'],
    [{ thirdParty: { lastUpgradeDate: { year: '0x1' } } }, 'third_party.last_upgrade_date.year', 'invalid_value'],
    [{ thirdParty: { lastUpgradeDate: { year: '' } } }, 'third_party.last_upgrade_date.year', 'invalid_value'],
    [{ thirdParty: { lastUpgradeDate: { year: true } } }, 'third_party.last_upgrade_date.year', 'invalid_value'],
    [{ thirdParty: { type: true } }, 'third_party.type', 'invalid_value'],
    [{ thirdParty: { type: 1.5 } }, 'third_party.type', 'invalid_value'],
    [{ thirdParty: { type: 'NO SUCH' } }, 'third_party.type', 'unknown_enum_value'],
    [{ thirdParty: {}, third_party: {} }, 'third_party', 'duplicate_field'],
    [{ 'a b': 1 }, 'a b', 'invalid_value'],
    [{ foo: ['\ud800'] }, 'foo', 'invalid_value'],
    [{ foo: [[1]] }, 'foo', 'invalid_value'],
    [{ foo: [null] }, 'foo', 'invalid_value'],
    [{ foo: () => 1 }, 'foo', 'invalid_value'],
    [{ foo: { '1': {} } }, 'foo.1', 'invalid_value'],
  ])('refuses %j, with the path', (value, path, code) => {
    expect(() => MetaData.fromJSON(value)).toThrowError(expect.objectContaining({ name: 'MetadataError', path, code }))
  })

  it('keeps what the schema does not know, or refuses it when strict', () => {
    const unknown = {
      thirdParty: {
        type: 'GOOGLE',
        homepage: 'é"',
        identifier: [{ primary: true, count: 2, ratio: -0.5 }, {}],
        '[a.b]': 'x',
        __proto__x: 'y',
      },
    }
    const message = MetaData.fromJSON(unknown)
    expect(MetaData.toJSON(message)).toEqual(unknown)
    expect(message.thirdParty?._unknownText?.[1]).toEqual({ name: 'homepage', text: '"é\\""' })
    const paths = (value: unknown): Pick<MetadataError, 'code' | 'path'> | undefined => {
      try {
        MetaData.fromJSON(value, { strict: true })
        return undefined
      } catch (error) {
        const { code, path = '' } = error as MetadataError
        return { code, path }
      }
    }
    expect(paths({ thirdParty: { homepage: 'x' } })).toEqual({ code: 'unknown_field', path: 'third_party.homepage' })
    expect(paths({ thirdParty: { type: 'GOOGLE' } })).toEqual({ code: 'unknown_enum_value', path: 'third_party.type' })
    expect(paths({ thirdParty: { type: 9 } })).toEqual({ code: 'unknown_enum_value', path: 'third_party.type' })
    expect(UrlMessage.toJSON(UrlMessage.fromJSON({ type: 10 }))).toEqual({ type: 10 })
  })

  it('is no way to the prototype', () => {
    const message = MetaData.fromJSON(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": {"prototype": 1}}'))
    const written = MetaData.toJSON(message)
    expect(Object.keys(written)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(written)).toBe(Object.prototype)
    expect(Object.hasOwn({}, 'polluted')).toBe(false)
  })

  it('shows the unknown fields of text, several of a name as a list, and as strings what JSON cannot hold', () => {
    const message = parseText(
      'third_party { a: 1 a: "x" b: 0x10 c: 12345678901234567890 d: -1.5 e: NAME f: false g: "\\377" h { i: 1 i: 2 } }',
    )
    expect(MetaData.toJSON(message, { unknownText: 'string' })).toEqual({
      thirdParty: {
        a: [1, 'x'],
        b: 16,
        c: '12345678901234567890',
        d: -1.5,
        e: 'NAME',
        f: false,
        g: '/w==',
        h: { i: [1, 2] },
      },
    })
  })

  it('leaves out the unknown fields of binary, which have no name', () => {
    expect(MetaData.toJSON(MetaData.decode(Uint8Array.of(0x78, 1)))).toEqual({})
  })

  it('reads and writes other names of enums', () => {
    const enumAliases = { 'URL.Type': { PIPER: 'INTERNAL_VCS' } } as const
    const message = UrlMessage.fromJSON({ type: 'PIPER' }, { enumAliases, strict: true })
    expect(message.type).toBe(4)
    expect(UrlMessage.toJSON(message, { enumAliases })).toEqual({ type: 'PIPER' })
    expect(UrlMessage.toJSON(message)).toEqual({ type: 'INTERNAL_VCS' })
  })

  it('nested more than 100 deep is refused', () => {
    let value: object = {}
    for (let depth = 0; depth < 200_000; depth++) value = { a: value }
    expect(() => MetaData.fromJSON(value)).toThrowError(expect.objectContaining({ code: 'too_deep' }))
  })

  it('is not written of what is no record', () => {
    expect(() => MetaData.toJSON({ name: 5 } as never)).toThrowError(
      expect.objectContaining({ code: 'invalid_value', path: 'name' }),
    )
  })
})

describe('a hexadecimal or octal number', () => {
  it('is decimal in JSON, and refused where it has more than ten thousand digits', () => {
    for (const [digits, value] of [
      ['0x', '1'],
      ['-0x', 'f'],
      ['0', '7'],
    ]) {
      const record = (length: number) => parseText(`a: ${digits}${value?.repeat(length)}`)
      expect(formatJson(record(9000))).toMatch(/^\{\n {2}"a": -?[0-9]{8000,}\n\}\n$/)
      for (const write of [formatJson, (long: MetaData) => MetaData.toJSON(long, { unknownText: 'string' })])
        expect(() => write(record(10_001))).toThrowError(expect.objectContaining({ code: 'invalid_value' }))
    }
  })
})
