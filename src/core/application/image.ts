/**
 * The type of an image and its width and height, told by its header: 64 kB of PNG can take gigabytes once they are decoded.
 * @module
 * @see PNG (Third Edition), section 11.2.1; GIF89a, sections 18 and 20; ITU-T T.81, annex B; RFC 9649, section 2 (WebP)
 */

/** The logo of an application, unchanged since its submission. */
export interface Logo {
  /** The media type of the image. */
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** The image. */
  readonly bytes: Uint8Array
}

/** Types of images that a logo may have. */
export type ImageType = Logo['type']

/** Width and height, in pixels. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Returns the media type of an image by its first bytes; undefined for any other. SVG is none of them: it can run scripts. */
export function imageType(bytes: Uint8Array): ImageType | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 12))
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif'
  return head.startsWith('RIFF') && head.endsWith('WEBP') ? 'image/webp' : undefined
}

/**
 * Returns the width and height that a decoder makes room for; undefined where there is none to read.
 * @param type - what {@link imageType} says of the same bytes
 */
export function imageSize(bytes: Uint8Array, type: ImageType): ImageSize | undefined {
  const { width, height } = SIZE_OF[type](bytes)
  return width > 0 && height > 0 ? { width, height } : undefined
}

const SIZE_OF: { readonly [Type in ImageType]: (bytes: Uint8Array) => ImageSize } = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/gif': gifSize,
  'image/webp': webpSize,
}

const NONE: ImageSize = { width: 0, height: 0 }

/** IHDR is the first chunk, behind eight bytes of signature. */
function pngSize(bytes: Uint8Array): ImageSize {
  if (textAt(bytes, 12) !== 'IHDR') return NONE
  return { width: bigEndian(bytes, 16, 4), height: bigEndian(bytes, 20, 4) }
}

/** Looks for the frame header as libjpeg does, which passes over anything between two segments. */
function jpegSize(bytes: Uint8Array): ImageSize {
  let at = 2
  while (at < bytes.length) {
    at = bytes.indexOf(0xff, at)
    if (at === -1) return NONE
    while (bytes[at] === 0xff) at++
    const marker = byteAt(bytes, at++)
    if (isFrameHeader(marker)) return { height: bigEndian(bytes, at + 3, 2), width: bigEndian(bytes, at + 5, 2) }
    // Scans and the end come behind the frame header.
    if (marker === 0xda || marker === 0xd9) return NONE
    if (!isWithoutLength(marker)) at += Math.max(2, bigEndian(bytes, at, 2))
  }
  return NONE
}

/** SOF0 to SOF15, which leave out C4, C8 and CC. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && (marker === 0xc0 || marker % 4 !== 0)
}

/** A stuffed zero, TEM, RST0 to RST7 and SOI. */
function isWithoutLength(marker: number): boolean {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8)
}

/** The logical screen, or more where a frame goes beyond it: decoders make room for that. */
function gifSize(bytes: Uint8Array): ImageSize {
  let width = littleEndian(bytes, 6, 2)
  let height = littleEndian(bytes, 8, 2)
  let at = 13 + colorTableSize(byteAt(bytes, 10))
  while (at < bytes.length) {
    const block = byteAt(bytes, at)
    if (block === 0x21) {
      at = behindSubBlocks(bytes, at + 2)
    } else if (block === 0x2c) {
      width = Math.max(width, littleEndian(bytes, at + 1, 2) + littleEndian(bytes, at + 5, 2))
      height = Math.max(height, littleEndian(bytes, at + 3, 2) + littleEndian(bytes, at + 7, 2))
      at = behindSubBlocks(bytes, at + 11 + colorTableSize(byteAt(bytes, at + 9)))
    } else {
      break
    }
  }
  return { width, height }
}

/** Three bytes for each of 2 to 256 colours, where there is a table. */
function colorTableSize(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0
}

function behindSubBlocks(bytes: Uint8Array, from: number): number {
  let at = from
  for (let length = byteAt(bytes, at); length > 0; length = byteAt(bytes, at)) at += 1 + length
  return at + 1
}

/** The first chunk begins at byte 12, its payload at 20. Frames of an animation stay within its canvas. */
function webpSize(bytes: Uint8Array): ImageSize {
  switch (textAt(bytes, 12)) {
    case 'VP8 ':
      return { width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff }
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return NONE
      // Both less one, of 14 bits, behind a byte of signature.
      const packed = littleEndian(bytes, 21, 4)
      return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 }
    default:
      return NONE
  }
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4))
}

/** A number of so many bytes, the most significant first. */
function bigEndian(bytes: Uint8Array, at: number, length: number): number {
  let number = 0
  for (let index = 0; index < length; index++) number = number * 256 + byteAt(bytes, at + index)
  return number
}

/** A number of so many bytes, the least significant first. */
function littleEndian(bytes: Uint8Array, at: number, length: number): number {
  let number = 0
  for (let index = length - 1; index >= 0; index--) number = number * 256 + byteAt(bytes, at + index)
  return number
}

/** Zero past the end: no decoder draws an image whose header was cut off. */
function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0
}
