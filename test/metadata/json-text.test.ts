/** JSON as text: the verdicts and values of JSON.parse, and beyond it the place of a fault and every key once. */
import * as fc from 'fast-check'
import { type MetadataError, readMetadata } from 'grantwell/metadata'
import { describe, expect, it } from 'vitest'
import { formatTree, JsonNumber, parseJson } from '../../src/metadata/json/json-text.js'

const plain = (value: unknown): unknown =>
  value instanceof JsonNumber
    ? Number(value.source)
    : Array.isArray(value)
      ? value.map(plain)
      : typeof value === 'object' && value !== null
        ? Object.entries(value).map(([key, inner]): [string, unknown] => [key, plain(inner)])
        : value

function verdict(read: () => unknown): unknown {
  try {
    return { value: plain(read()) }
  } catch (error) {
    const { name, code } = error as MetadataError
    if (name !== 'MetadataError' && !(error instanceof SyntaxError)) throw error
    return code === 'duplicate_field' ? code : 'refused'
  }
}

const faultOf = (text: string): MetadataError => {
  try {
    readMetadata(text)
  } catch (error) {
    return error as MetadataError
  }
  throw new Error(`taken: ${text}`)
}

describe('JSON as text', () => {
  it('is taken and refused as JSON.parse does, whatever was changed in it', () => {
    const mutation = fc.tuple(
      fc.nat(),
      fc.constantFrom('', '"', '\\', ',', ':', '{', ']', '0', '.', 'e', '\n', '\\u12', 't', ' '),
      fc.boolean(),
    )
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.constantFrom(0, 1),
        fc.array(mutation, { maxLength: 3 }),
        (value, indent, mutations) => {
          let text = JSON.stringify(value, undefined, indent)
          for (const [at, put, replace] of mutations) {
            const index = at % (text.length + 1)
            text = text.slice(0, index) + put + text.slice(index + (replace ? 1 : 0))
          }
          const own = verdict(() => parseJson(text))
          expect([verdict(() => JSON.parse(text)), 'duplicate_field']).toContainEqual(own)
        },
      ),
      { numRuns: 1000 },
    )
  })

  it('is refused where one string of it would be longer than a string can be', () => {
    expect(() => formatTree('\u0001'.repeat(90_000_000))).toThrowError(expect.objectContaining({ code: 'too_large' }))
  })

  it('is written as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(formatTree(value)).toBe(JSON.stringify(value, undefined, 2))
      }),
    )
  })

  it.each([
    ['{"name": "a", "name": "b"}', '1:15: the key "name" comes twice'],
    ['{"name": "a",\n "n\\u0061me": "b"}', '2:2: the key "name" comes twice'],
    ['{"x": {"y": [{"a": 1, "a": 1}]}}', '1:23: the key "a" comes twice'],
    ['{"__proto__": 1, "__proto__": 2}', '1:18: the key "__proto__" comes twice'],
    ['{"third_party": {"url": [{"type": "GIT", "type": null}]}}', '1:42: the key "type" comes twice'],
  ])('has no key twice: %s', (text, message) => {
    expect(faultOf(text)).toMatchObject({ code: 'duplicate_field', message })
  })

  it.each([
    ['{"name": x}', '1:10: expected a value, found x'],
    ['{"name": "a" "b"}', '1:14: expected "," or "}", found "b"'],
    ['{"name": "a",\n}', '2:1: expected a key in double quotes, found }'],
    ['{"name" "a"}', '1:9: expected ":", found "a"'],
    ['{"tag": [1 2]}', '1:12: expected "," or "]", found 2'],
    ['{} {}', '1:4: expected the end, found {'],
    ['{"name": "a', '1:10: expected a string that is closed, found "a'],
    ['{"name": "\\x"}', '1:11: expected an escape of JSON: \\n, \\u00e9, \\" and the like, found \\'],
    ['{"name": "a\tb"}', '1:12: expected an escape in place of a control character, found "\\t"'],
    ['\ufeff{"name": 01}', '1:12: expected "," or "}", found 1'],
    ["{'name': 1}", "1:2: expected a key in double quotes, found 'name'"],
  ])('says where it is broken: %s', (text, message) => {
    expect(faultOf(text)).toMatchObject({ code: 'invalid_json', message })
  })

  it('is bounded in depth, whatever nests', () => {
    for (const nested of ['['.repeat(5e5), '{"a":'.repeat(5e5), '{"a":['.repeat(5e5)])
      expect(faultOf(`{"a":${nested}`)).toMatchObject({ code: 'too_deep', line: 1 })
    const deep = (levels: number) => `${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`
    expect(readMetadata(`{"thirdParty":{"url":[${deep(99)}]}}`).format).toBe('json')
    expect(faultOf(`{"thirdParty":{"url":[${deep(100)}]}}`).code).toBe('too_deep')
  })

  it('makes no room for numbers below a key that is one', () => {
    const objects = 2000
    for (const key of ['100', '1020', '00', '1a', '4294967294', '4294967295']) {
      const text = `[${Array(objects).fill(`{"a":1,"${key}":[2],"b":3}`).join(',')}]`
      const before = process.memoryUsage().heapUsed
      const tree = parseJson(text)
      // A few hundred bytes each; 12 KB of empty room would be 24 MB.
      expect(process.memoryUsage().heapUsed - before, key).toBeLessThan(objects * 3000)
      expect(plain(tree)).toEqual(plain(JSON.parse(text)))
    }
  })
})
