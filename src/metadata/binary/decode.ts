/**
 * Decodes messages from protocol buffers. It accepts and refuses the same input as the C++ reference.
 * @module
 */
import { checkSize, MAX_DEPTH } from '../errors.js'
import { makeSparse } from '../json/sparse.js'
import { checkInput, checkOptions } from '../options.js'
import type { Field, Message, MessageType } from '../schema/schema.js'
import { WireReader } from './wire-reader.js'

/** Options of `decode`. */
export interface DecodeOptions {
  /** The most bytes of input that are accepted; 4 MiB by default. */
  readonly maxBytes?: number
}

/**
 * Decodes one message.
 * @throws {MetadataError} with the offset, as documented at `MessageCodec.decode`
 */
export function decodeMessage(type: MessageType, bytes: Uint8Array, options?: DecodeOptions): Message {
  checkInput(bytes, 'bytes')
  const { maxBytes } = checkOptions(options, { maxBytes: 'number' })
  checkSize(bytes.length, maxBytes)
  const decoder = new Decoder(bytes)
  const message = type.create()
  decoder.message(type, message, bytes.length, MAX_DEPTH)
  decoder.attachUnknownFields()
  return message
}

class Decoder {
  private readonly reader: WireReader
  /** Start and end offsets of the unknown fields of each message, in pairs. */
  private unknown: Map<Message, number[]> | undefined

  constructor(private readonly bytes: Uint8Array) {
    this.reader = new WireReader(bytes)
  }

  /** Reads fields up to `end` into a message. It may have fields already, since a message that comes twice is merged. */
  message(type: MessageType, message: Message, end: number, depth: number): void {
    const { reader } = this
    while (reader.at < end) {
      const start = reader.at
      const tag = reader.tag(end)
      const field = type.byTag[tag]
      if (field === undefined) {
        reader.skip(tag, end, depth)
        this.noteUnknown(message, start)
      } else if (!this.field(field, message, end, depth)) this.noteUnknown(message, start)
    }
  }

  /** Reads the value of a field. @returns false for an enum value that the schema does not know: it is an unknown field */
  private field(field: Field, message: Message, end: number, depth: number): boolean {
    switch (field.kind) {
      case 'string': {
        const text = this.reader.string(end)
        // The schema's tables make a repeated field a list of its kind.
        if (field.repeated) (message[field.key] as string[]).push(text)
        else message[field.key] = text
        return true
      }
      case 'int32':
        message[field.key] = this.reader.int32(end)
        return true
      case 'enum': {
        const number = this.reader.int32(end)
        if (field.enum.names[number] === undefined) return false
        message[field.key] = number
        return true
      }
      case 'message': {
        const innerEnd = this.reader.length(end)
        let inner = field.repeated ? undefined : (message[field.key] as Message | undefined)
        if (inner === undefined) {
          inner = field.type.create()
          if (field.repeated) (message[field.key] as Message[]).push(inner)
          else message[field.key] = inner
        }
        this.message(field.type, inner, innerEnd, depth - 1)
        return true
      }
    }
  }

  /** Notes the bytes from `start` to the current position as an unknown field. */
  private noteUnknown(message: Message, start: number): void {
    const end = this.reader.at
    this.unknown ??= new Map()
    const ranges = this.unknown.get(message)
    if (ranges === undefined) this.unknown.set(message, [start, end])
    else if (ranges[ranges.length - 1] === start) ranges[ranges.length - 1] = end
    else ranges.push(start, end)
  }

  /**
   * Gives each message its unknown fields. This is done once, at the end, so that a message that comes in a thousand parts is
   * not copied a thousand times.
   */
  attachUnknownFields(): void {
    if (this.unknown === undefined) return
    // One buffer for all, and a view of it for each message: a thousand small buffers would cost far more.
    let size = 0
    for (const ranges of this.unknown.values())
      for (let i = 0; i < ranges.length; i += 2) size += (ranges[i + 1] ?? 0) - (ranges[i] ?? 0)
    const copy = new Uint8Array(size)
    let filled = 0
    for (const [message, ranges] of this.unknown) {
      this.reader.at = ranges[0] ?? 0
      const tag = this.reader.tag(this.bytes.length)
      ranges[0] = this.reader.at
      const start = filled
      for (let i = 0; i < ranges.length; i += 2) {
        copy.set(this.bytes.subarray(ranges[i], ranges[i + 1]), filled)
        filled += (ranges[i + 1] ?? 0) - (ranges[i] ?? 0)
      }
      message['_unknownFields'] = makeUnknownFields(tag, copy.subarray(start, filled))
    }
  }
}

/** Makes the value of `_unknownFields`: all bytes after the first tag, under that tag. */
function makeUnknownFields(tag: number, bytes: Uint8Array): { [tag: number]: Uint8Array[] } {
  const fields = makeSparse<Uint8Array[]>({})
  fields[tag] = [bytes]
  return fields
}
