/**
 * Images by their headers (specification, section 8): type, and the width and height that a decoder makes room for.
 */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { imageSize, imageType } from '../../src/core/application/image.js'
import { bytesOf, type Frame, gif, jpeg, png, vp8, vp8l, vp8x } from './images.js'

function sizeOf(bytes: Uint8Array) {
  const type = imageType(bytes)
  return type && imageSize(bytes, type)
}

/** Makers of an image of each kind, and the largest side that its header can tell. */
const MAKERS = [
  ['PNG', png, 2 ** 31 - 1, 'image/png'],
  ['JPEG', jpeg, 65_535, 'image/jpeg'],
  ['progressive JPEG', (...size: Size) => jpeg(...size, { marker: 0xc2 }), 65_535, 'image/jpeg'],
  ['GIF', gif, 65_535, 'image/gif'],
  ['GIF of 1987', (...size: Size) => gif(...size, [], '87a'), 65_535, 'image/gif'],
  ['GIF whose first frame is larger', (...size: Size) => gif(1, 1, [[0, 0, ...size]]), 65_535, 'image/gif'],
  ['lossy WebP', vp8, 16_383, 'image/webp'],
  ['lossless WebP', vp8l, 16_384, 'image/webp'],
  ['extended WebP', vp8x, 2 ** 24, 'image/webp'],
] as const

type Size = readonly [number, number]

describe('an image tells its width and height', () => {
  it.each(MAKERS)('a %s', (_, make, most, type) => {
    const side = fc.oneof(fc.integer({ min: 1, max: most }), fc.constantFrom(1, 4096, 4097, most))
    fc.assert(
      fc.property(side, side, (width, height) => {
        const bytes = make(width, height)
        expect([imageType(bytes), sizeOf(bytes)]).toEqual([type, { width, height }])
        // As a view into more bytes too.
        expect(sizeOf(bytesOf('<svg>', [...bytes], 'more').subarray(5))).toEqual({ width, height })
      }),
    )
  })

  it('that browsers make themselves', () => {
    const made = [
      'iVBORw0KGgoAAAANSUhEUgAAACUAAAAVCAYAAADB5CeuAAAARklEQVR4',
      'R0lGODlhAQABAIAAAAAAAP///ywAAAAAJQAVAAACAkQBADs=',
      'UklGRiACAABXRUJQVlA4WAoAAAAgAAAAJAAAFAAASUNDUMgBAAAAAAHI',
      'UklGRh4AAABXRUJQVlA4TBEAAAAvJAAFAAdQmkrUqv+BiOh/AAA=',
      'UklGRj4AAABXRUJQVlA4IDIAAAAwAwCdASolABUAP3G202G0ryqmJWgC',
    ]
    for (const text of made) expect(sizeOf(Buffer.from(text, 'base64')), text).toEqual({ width: 37, height: 21 })
  })

  it('a GIF as much as all its frames and its screen need', () => {
    const frame = fc.tuple(...Array.from({ length: 4 }, () => fc.nat(65_535))) as unknown as fc.Arbitrary<Frame> // of four
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), fc.array(frame, { maxLength: 4 }), (side, frames) => {
        const width = Math.max(side, ...frames.map(([left, , wide]) => left + wide))
        const height = Math.max(side, ...frames.map(([, top, , high]) => top + high))
        expect(sizeOf(gif(side, side, frames))).toEqual({ width, height })
      }),
    )
  })

  it.each([
    ['fill bytes', '\xff\xff\xff'],
    ['bytes between segments', '\xff\xfe\0\x03xyz'],
    ['a stuffed zero', '\xff\0'],
    ['markers without a length', '\xff\x01\xff\xd0\xff\xd7\xff\xd8'],
    ['a segment that is shorter than its length', '\xff\xe1\0\0'],
    ['tables that have numbers of frame headers', '\xff\xc4\0\x09\0\0\x08\0\x01\0\x01\xff\xc8\0\x02\xff\xcc\0\x02'],
  ])('a JPEG behind %s', (_, before) => {
    expect(sizeOf(jpeg(300, 200, { before }))).toEqual({ width: 300, height: 200 })
  })
})

describe('an image tells none', () => {
  it.each([
    ['a PNG without IHDR', bytesOf('\x89PNG\r\n\x1a\n', [0, 0, 0, 13], 'iHDR', [0, 0, 0, 9, 0, 0, 0, 9])],
    ['a JPEG whose scan comes first', jpeg(9, 9, { before: '\xff\xda\0\x02' })],
    ['a JPEG whose end comes first', jpeg(9, 9, { before: '\xff\xd9' })],
    ['a JPEG without a frame header', bytesOf('\xff\xd8\xff\xe0\0\x04xx')],
    ['a JPEG that ends in fill bytes', bytesOf('\xff\xd8\xff\xff')],
    ['a JPEG without any marker', bytesOf('\xff\xd8\xff\xe0\0\x03xyz')],
    ['a WebP without a picture', bytesOf('RIFF\x1a\0\0\0WEBPICCP\0\0\0\0')],
    ['a lossless WebP without its signature', bytesOf('RIFF\x1a\0\0\0WEBPVP8L\x05\0\0\0\x2e\0\0\0\0')],
    ['a PNG without width', png(0, 9)],
    ['a PNG without height', png(9, 0)],
    ['a GIF without width', gif(0, 9)],
    ['a lossy WebP without height', vp8(9, 0)],
  ])('%s', (_, bytes) => {
    expect(imageType(bytes)).toBeDefined()
    expect(sizeOf(bytes)).toBeUndefined()
  })

  it('that is no number, whatever its bytes are', () => {
    const made = fc.constantFrom(...MAKERS.map(([, make]) => make(300, 200)))
    const spoilt = fc.tuple(made, fc.nat(60), fc.uint8Array({ maxLength: 60 })).map(([bytes, length, rest]) => {
      return bytesOf([...bytes.subarray(0, length)], [...rest])
    })
    let measured = 0
    fc.assert(
      fc.property(spoilt, (bytes) => {
        for (const side of Object.values(sizeOf(bytes) ?? {})) {
          measured++
          expect(Number.isSafeInteger(side)).toBe(true)
          expect(side).toBeGreaterThan(0)
        }
      }),
      { numRuns: 5000 },
    )
    expect(measured).toBeGreaterThan(100)
  })
})
