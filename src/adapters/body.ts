/**
 * Bodies that arrive in pieces, in as much memory as they have bytes.
 * @module
 */

import type { HttpBody } from '../protocol/message.js'
import { wrongAnswer } from '../shell/host.js'

/** A smaller array would grow at every second piece of some bytes. */
const SMALLEST = 1024

/**
 * Appends a piece to the bytes that came before it. All of them lie in one array that doubles, since an array for each piece
 * takes a hundred times the memory where the pieces are single bytes.
 * @param bytes - what the last call returned; undefined for the first piece, which is taken as it is
 * @param used - how many of these bytes are the body's
 * @param limit - how many bytes the body may have; the piece must not go past it
 * @returns the array with the body at its beginning
 */
export function append(bytes: Uint8Array | undefined, used: number, piece: Uint8Array, limit: number): Uint8Array {
  if (bytes === undefined) return piece
  const length = used + piece.length
  if (length <= bytes.length) {
    bytes.set(piece, used)
    return bytes
  }
  const grown = new Uint8Array(Math.min(limit, Math.max(2 * length, SMALLEST)))
  grown.set(bytes.subarray(0, used))
  grown.set(piece, used)
  return grown
}

/** Checks whether a piece of a body is bytes, be they of another realm: a stream that the host made may give anything. */
export function isBytes(piece: unknown): piece is Uint8Array {
  // The question first that is answered quickly: the other takes a hundredth of a small request.
  if (piece instanceof Uint8Array) return true
  return ArrayBuffer.isView(piece) && Object.prototype.toString.call(piece) === '[object Uint8Array]'
}

/** The body whose stream gave something else than bytes. */
export function wrongPiece(piece: unknown): HttpBody {
  return { type: 'unreadable', error: wrongAnswer('each piece of a body', 'a Uint8Array', piece, true) }
}
