/**
 * Headers of images of any size: as much of each as tells its width and height.
 * @module
 */

/** Bytes of texts and numbers, one after the other. */
export function bytesOf(...parts: readonly (string | readonly number[])[]): Uint8Array {
  const codes = parts.map((part) => (typeof part === 'string' ? Array.from(part, (each) => each.charCodeAt(0)) : part))
  return Uint8Array.from(codes.flat())
}

const little = (number: number, length: number) =>
  Array.from({ length }, (_, index) => Math.floor(number / 256 ** index) % 256)
const big = (number: number, length: number) => little(number, length).reverse()

export function png(width: number, height: number): Uint8Array {
  return bytesOf('\x89PNG\r\n\x1a\n', big(13, 4), 'IHDR', big(width, 4), big(height, 4), [1, 0, 0, 0, 0])
}

/** A JPEG, with what stands before its frame header: an APP0 unless it is told. */
export function jpeg(width: number, height: number, { marker = 0xc0, before = '\xff\xe0\0\x04\xff\xc0' } = {}) {
  return bytesOf('\xff\xd8', before, [0xff, marker, 0, 17, 8], big(height, 2), big(width, 2), [3])
}

/** A frame of a GIF: left, top, width and height. */
export type Frame = readonly [number, number, number, number]

/** A GIF with a table of two colours, an extension and frames. */
export function gif(width: number, height: number, frames: readonly Frame[] = [], version = '89a'): Uint8Array {
  return bytesOf(
    `GIF${version}`,
    [...little(width, 2), ...little(height, 2), 0x80, 0, 0, 0, 0, 0, 255, 255, 255],
    '\x21\xf9\x04\0\0\0\0\0',
    ...frames.map((frame) => [0x2c, ...frame.flatMap((each) => little(each, 2)), 0, 2, 2, 0x44, 1, 0]),
    ';',
  )
}

const webp = (...parts: readonly (string | readonly number[])[]) => bytesOf('RIFF\x1a\0\0\0WEBP', ...parts)

/** A lossy WebP. */
export function vp8(width: number, height: number): Uint8Array {
  // The two upper bits of each are a scale that a player may apply.
  return webp('VP8 \x0a\0\0\0\x30\x01\0\x9d\x01\x2a', little(width | 0x4000, 2), little(height | 0x8000, 2))
}

/** A lossless WebP. */
export function vp8l(width: number, height: number): Uint8Array {
  return webp('VP8L\x05\0\0\0\x2f', little(width - 1 + (height - 1) * 2 ** 14 + 2 ** 28, 4))
}

/** A WebP with more than one chunk. */
export function vp8x(width: number, height: number): Uint8Array {
  return webp('VP8X\x0a\0\0\0\x10\0\0\0', little(width - 1, 3), little(height - 1, 3))
}
