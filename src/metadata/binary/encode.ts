/**
 * Encodes messages as protocol buffers, with the code that ts-proto generated.
 * @module
 */
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { checkMessage } from '../check.js'
import { checkOptions } from '../options.js'
import type { MessageType } from '../schema/schema.js'

/** Options of `encode`. */
export interface EncodeOptions {
  /** Treatment of fields that came from text or JSON and have no number in the schema; `refuse` by default. */
  readonly unknownText?: 'refuse' | 'omit'
}

/**
 * Checks and encodes a message.
 * @param write - the function that ts-proto generated for this type
 */
export function encodeMessage(
  type: MessageType,
  message: object,
  write: (writer: BinaryWriter) => BinaryWriter,
  options: EncodeOptions | undefined,
): Uint8Array {
  const { unknownText } = checkOptions(options, { unknownText: ['refuse', 'omit'] })
  checkMessage(type, message, unknownText ?? 'refuse')
  return write(new BinaryWriter()).finish()
}
