import {
  DateMessage,
  DirectoryType,
  MetaData,
  Security,
  ThirdPartyMetaData,
  UrlMessage,
  unknownFields,
} from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { MetaData as Generated } from '../../src/metadata/generated/metadata.js'

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const hex = (data: Uint8Array): string => Buffer.from(data).toString('hex')
const again = (input: string): string => hex(MetaData.encode(MetaData.decode(bytes(input))))

describe('the binary form, where generated code differs from the reference', () => {
  it('(a) merges a message that comes twice', () => {
    expect(MetaData.decode(bytes('6a04520208016a0452021002')).thirdParty?.lastUpgradeDate).toMatchObject({
      year: 1,
      month: 2,
    })
    expect(again('6a050a031201616a050a03120162')).toBe('6a0a0a031201610a03120162')
    expect(Generated.decode(bytes('6a04520208016a0452021002')).thirdParty?.lastUpgradeDate?.year).toBeUndefined()
  })

  it.each([
    ['a stray end of a group', '0a01787c', 'unexpected_end_group', 4],
    ['a stray end of a group in a message', '6a016c', 'unexpected_end_group', 3],
    ['a tag of zero', '0a017800', 'invalid_tag', 3],
    ['a tag of zero in a message', '6a0400120176', 'invalid_tag', 2],
  ])('(b) refuses %s', (_, input, code, offset) => {
    expect(() => MetaData.decode(bytes(input))).toThrowError(
      expect.objectContaining({ name: 'MetadataError', code, offset }),
    )
  })

  it.each([
    ['a child past its parent', '6a03120576760a046e6e6e6e', 'invalid_length', 3],
    ['a message past its parent', '6a023a050a046e6e6e6e', 'invalid_length', 3],
    ['an unknown child past its parent', '6a037a0576760a046e6e6e6e', 'invalid_length', 3],
    ['a varint past its parent', '6a022081000a016e', 'truncated', 4],
    ['a tag past its parent', '6a01f80105', 'truncated', 3],
    ['32 bits past their parent', '6a037d01020304', 'truncated', 5],
    ['a group past its parent', '6a017b7c', 'truncated', 3],
  ])('(c) refuses %s', (_, input, code, offset) => {
    expect(() => MetaData.decode(bytes(input))).toThrowError(expect.objectContaining({ code, offset }))
  })

  it.each([
    ['field 0', '020178', 'invalid_tag', 0],
    ['field 0 in a group', '7b0201787c', 'invalid_tag', 1],
    ['groups whose ends are crossed', '7b83017c8401', 'unexpected_end_group', 4],
    ['a tag of six bytes', '8a80808080000178', 'invalid_tag', 0],
    ['a length of six bytes', '0a81808080800078', 'invalid_length', 1],
    ['a length of 2^31', '0a808080800878', 'invalid_length', 1],
    ['a length of 2^32 + 1', '0a818080801078', 'invalid_length', 1],
    ['a length of 2^63', '0a8080808080808080800178', 'invalid_length', 1],
    ['a varint of eleven bytes', '788080808080808080808001', 'invalid_varint', 1],
    ['wire type 6', '7e', 'invalid_tag', 1],
    ['wire type 7', '0f0178', 'invalid_tag', 1],
  ])('(d) refuses %s', (_, input, code, offset) => {
    expect(() => MetaData.decode(bytes(input))).toThrowError(expect.objectContaining({ code, offset }))
  })

  it('(d) takes tags and lengths in up to five bytes, and varints in up to ten, as the reference does', () => {
    expect(again('8a8080800001 78'.replace(' ', ''))).toBe('0a0178')
    expect(again('0a818080800078')).toBe('0a0178')
    expect(DateMessage.decode(bytes('0881808080808080808000')).year).toBe(1)
    expect(DateMessage.decode(bytes('08ffffffffffffffffff01')).year).toBe(-1)
    expect(DateMessage.decode(bytes('088580808010')).year).toBe(5)
  })

  it('(e) refuses a string that is not UTF-8, and keeps a byte order mark', () => {
    expect(() => MetaData.decode(bytes('1a00 0a02c328'))).toThrowError(
      expect.objectContaining({ code: 'invalid_utf8', offset: 3 }),
    )
    expect(() => MetaData.decode(bytes('0a03eda080'))).toThrowError(expect.objectContaining({ code: 'invalid_utf8' }))
    const long = `efbbbf${'61'.repeat(40)}`
    expect(MetaData.decode(bytes(`0a2b${long}`)).name).toBe(`\ufeff${'a'.repeat(40)}`)
    expect(again('0a03efbbbf')).toBe('0a03efbbbf')
    expect(again('7a02fffe')).toBe('7a02fffe')
  })

  it('(f) keeps a value that its enum does not have among the unknown fields', () => {
    const thirdParty = ThirdPartyMetaData.decode(bytes('58045809'))
    expect(thirdParty.type).toBe(DirectoryType.VENDOR_INTERNAL)
    expect(unknownFields(thirdParty)).toEqual([{ fieldNumber: 11, wireType: 0, bytes: bytes('09') }])
    expect(hex(ThirdPartyMetaData.encode(thirdParty))).toBe('58045809')
    expect(ThirdPartyMetaData.toJSON(thirdParty)).toEqual({ type: 'VENDOR_INTERNAL' })
    const unknown = UrlMessage.decode(bytes('08ffffffffffffffffff01'))
    expect(unknown.type).toBeUndefined()
    expect(hex(UrlMessage.encode(unknown))).toBe('08ffffffffffffffffff01')
  })

  it('(g) writes unknown fields back byte for byte, in their order and not by number, and refers to no input', () => {
    expect(again('a001017802a00103')).toBe('a001017802a00103')
    expect(again('a00101 0a0178 78838000 7b10057c 7d01020304 79 0102030405060708')).toBe(
      '0a0178a00101788380007b10057c7d01020304790102030405060708',
    )
    expect(again('6a0278018001076a027002')).toBe('6a0478017002800107')
    const input = bytes('7a0161')
    const message = MetaData.decode(input)
    input.fill(0)
    expect(hex(MetaData.encode(message))).toBe('7a0161')
    const [run] = Object.values(message._unknownFields ?? {}).flat()
    expect(run?.buffer).not.toBe(input.buffer)
  })

  it('(g) tells what is in the unknown fields', () => {
    expect(unknownFields(MetaData.decode(bytes('a001ff01 7a0161 7b10057c')))).toEqual([
      { fieldNumber: 20, wireType: 0, bytes: bytes('ff01') },
      { fieldNumber: 15, wireType: 2, bytes: bytes('61') },
      { fieldNumber: 15, wireType: 3, bytes: bytes('1005') },
    ])
    expect(unknownFields(MetaData.create())).toEqual([])
    expect(unknownFields({ _unknownFields: { 122: [bytes('0161'), bytes('0162')] } })).toHaveLength(2)
    expect(() => unknownFields({ _unknownFields: { 122: [bytes('05')] } })).toThrowError(
      expect.objectContaining({ code: 'invalid_length' }),
    )
  })

  it('(i) keeps megabytes of unknown fields in as many bytes', () => {
    const input = new Uint8Array(4 << 20)
    for (let i = 0; i < input.length; i += 2) input[i] = 0x78
    const message = MetaData.decode(input)
    expect(message._unknownFields?.[0x78]?.map(({ length }) => length)).toEqual([input.length - 1])
    expect(Buffer.compare(MetaData.encode(message), input)).toBe(0)
  })

  it('(i) merges a message that comes a hundred thousand times in time', () => {
    const part = bytes('6a047801 1a00'.replaceAll(' ', ''))
    const input = new Uint8Array(part.length * 100_000)
    for (let at = 0; at < input.length; at += part.length) input.set(part, at)
    expect(unknownFields(MetaData.decode(input).thirdParty ?? {})).toHaveLength(200_000)
  })
})

describe('decoding', () => {
  it('tells unset from default', () => {
    expect(ThirdPartyMetaData.decode(bytes('')).type).toBeUndefined()
    expect(ThirdPartyMetaData.decode(bytes('5801')).type).toBe(DirectoryType.PACKAGE)
    expect(hex(ThirdPartyMetaData.encode(ThirdPartyMetaData.create()))).toBe('')
    expect(
      hex(ThirdPartyMetaData.encode(ThirdPartyMetaData.create({ version: '', type: DirectoryType.PACKAGE }))),
    ).toBe('12005801')
    expect(MetaData.decode(bytes('6a00')).thirdParty).toEqual(ThirdPartyMetaData.create())
  })

  it('keeps a known field of another wire type as unknown', () => {
    expect(MetaData.decode(bytes('0805')).name).toBeUndefined()
    for (const input of ['0805', '093132333435363738', '0d31323334', '0b08010c', '6b1201766c'])
      expect(again(input)).toBe(input)
  })

  it('refuses more than 100 messages and groups within each other', () => {
    const groups = (count: number): string => '7b'.repeat(count) + '7c'.repeat(count)
    expect(again(groups(100))).toBe(groups(100))
    expect(() => again(groups(101))).toThrowError(expect.objectContaining({ code: 'too_deep', offset: 101 }))
    const within = (count: number): string =>
      `6a${hex(Uint8Array.of(0x80 | ((count * 2) & 0x7f), (count * 2) >> 7))}${groups(count)}`
    expect(again(within(99))).toBe(within(99))
    expect(() => again(within(100))).toThrowError(expect.objectContaining({ code: 'too_deep' }))
    expect(() => again('7b'.repeat(1_000_000))).toThrowError(expect.objectContaining({ code: 'too_deep' }))
  })

  it.each(['0a', '8a', '0a80', '78', '7880', '7d010203', '7901010101010101', '7b', '7b08'])(
    'refuses %s, which is cut off',
    (input) => {
      expect(() => again(input)).toThrowError(expect.objectContaining({ code: 'truncated' }))
    },
  )

  it('refuses more than 4 MiB, or what it is told', () => {
    expect(() => MetaData.decode(new Uint8Array(4_194_305))).toThrowError(
      expect.objectContaining({ code: 'too_large' }),
    )
    expect(() => MetaData.decode(bytes('0a0178'), { maxBytes: 2 })).toThrowError(
      'MetadataError: 3 bytes are more than maxBytes permits: 2'.slice('MetadataError: '.length),
    )
    expect(MetaData.decode(bytes('0a0178'), { maxBytes: 3 }).name).toBe('x')
  })
})

describe('encoding', () => {
  it('refuses what its field does not permit, with the path', () => {
    const refusals: [object, string][] = [
      [{ name: 5 }, 'name'],
      [{ name: 'a\ud800' }, 'name'],
      [{ thirdParty: [] }, 'third_party'],
      [{ thirdParty: { url: 'x' } }, 'third_party.url'],
      [{ thirdParty: {} }, 'third_party.url'],
      [{ thirdParty: { url: [{ type: 5 }] } }, 'third_party.url[0].type'],
      [{ thirdParty: { url: [{ type: 'GIT' }] } }, 'third_party.url[0].type'],
      [{ thirdParty: { url: [null] } }, 'third_party.url[0]'],
      [{ thirdParty: { url: [], lastUpgradeDate: { year: 2 ** 31 } } }, 'third_party.last_upgrade_date.year'],
      [{ thirdParty: { url: [], lastUpgradeDate: { year: 1.5 } } }, 'third_party.last_upgrade_date.year'],
      [{ thirdParty: { url: [], lastUpgradeDate: { year: '1' } } }, 'third_party.last_upgrade_date.year'],
      [{ _unknownText: {} }, '_unknownText'],
      [{ _unknownText: [null] }, '_unknownText'],
      [{ _unknownText: [{ name: 5, text: '1' }] }, '_unknownText'],
      [{ _unknownText: [{ name: 'a', text: 1 }] }, '_unknownText'],
      [{ _unknownText: [{ name: 'a', fields: {} }] }, '_unknownText'],
      [{ _unknownText: [{ name: 'a', fields: [{ name: 'b' }] }] }, '_unknownText'],
    ]
    for (const [message, path] of refusals)
      expect(() => MetaData.encode(message as never)).toThrowError(
        expect.objectContaining({ code: 'invalid_value', path }),
      )
    expect(() => MetaData.encode(null as never)).toThrowError('the record should be a message')
  })

  it('refuses a field of text that has no number, unless it may be left out', () => {
    const message = MetaData.create({ name: 'x', thirdParty: { _unknownText: [{ name: 'homepage', text: '"h"' }] } })
    expect(() => MetaData.encode(message)).toThrowError(
      expect.objectContaining({ code: 'unknown_field', path: 'third_party.homepage' }),
    )
    expect(hex(MetaData.encode(message, { unknownText: 'omit' }))).toBe('0a01786a00')
  })

  it('writes fields by number', () => {
    const security = Security.create({ mitigatedSecurityPatch: ['p'], tag: ['t', ''], note: 'n', category: 3 })
    expect(hex(Security.encode(security))).toBe('080312016e1a01741a002a0170')
  })
})

describe('create', () => {
  it('copies what is unknown, whatever is in it: entries, bytes, circles and odd names', () => {
    const fields = [{ name: 'b', text: '1' }]
    const odd: Record<string, unknown> = JSON.parse('{"__proto__": [1]}')
    odd['itself'] = odd
    odd['day'] = new Date(0)
    const base = { _unknownText: [{ name: 'a', fields }, odd], _unknownFields: { 160: [Buffer.from([160, 1, 1])] } }
    const copy = MetaData.create(base as never) // on purpose: odd is no entry
    expect(copy._unknownFields).toEqual({ 160: [new Uint8Array([160, 1, 1])] })
    fields.push({ name: 'c', text: '2' })
    base._unknownFields[160][0]?.fill(0)
    expect(copy._unknownFields).toEqual({ 160: [new Uint8Array([160, 1, 1])] })
    const [entry, other] = (copy._unknownText ?? []) as unknown as readonly Record<string, unknown>[] // as they were given
    expect(entry).toEqual({ name: 'a', fields: [{ name: 'b', text: '1' }] })
    expect(Object.entries(other ?? {}).map(([key]) => key)).toEqual(['__proto__', 'itself', 'day'])
    expect(other?.['itself']).toBe(other)
    expect(other?.['day']).toEqual(new Date(0))
    expect(() => MetaData.create({ _unknownText: [() => 1] } as never)).toThrowError(/could not be cloned/)
  })

  it('copies what it is given, unknown fields too', () => {
    const base = { thirdParty: { url: [{ value: 'x' }], _unknownFields: { 120: [bytes('01')] } } }
    const message = MetaData.create(base)
    expect(message).toEqual({ thirdParty: { url: [{ value: 'x' }], _unknownFields: { 120: [bytes('01')] } } })
    expect(message.thirdParty?.url).not.toBe(base.thirdParty.url)
    expect(message.thirdParty?.url[0]).not.toBe(base.thirdParty.url[0])
    expect(message.thirdParty?._unknownFields?.[120]?.[0]).not.toBe(base.thirdParty._unknownFields[120][0])
    expect(MetaData.create()).toEqual({})
    expect(ThirdPartyMetaData.create({ version: undefined })).toEqual({ url: [] })
  })

  it('refuses a key that is no field', () => {
    const base = { third_party: {} }
    expect(() => MetaData.create(base as never)).toThrowError(
      expect.objectContaining({ code: 'unknown_field', path: 'third_party' }),
    )
    const nested = { thirdParty: { url: [{ valeu: 'x' }] } }
    expect(() => MetaData.create(nested as never)).toThrowError(
      expect.objectContaining({ path: 'third_party.url[0].valeu' }),
    )
  })
})
