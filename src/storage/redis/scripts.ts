/**
 * Runs Lua scripts. Redis runs each as a whole, so no other command comes between its steps.
 * @module
 */
import { sha1 } from '@noble/hashes/legacy.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { SendCommand } from './client.js'

/** A script. */
export interface Script {
  readonly text: string
  /** The name by which Redis knows a script that it has seen. */
  readonly digest: string
}

/** Creates a script. */
export function createScript(text: string): Script {
  return { text, digest: bytesToHex(sha1(utf8ToBytes(text))) }
}

/** Runs a script: by its digest, which saves its text on the wire, or by its text if the server has not seen it. */
export async function runScript(
  send: SendCommand,
  { text, digest }: Script,
  keys: readonly string[],
  values: readonly string[],
): Promise<unknown> {
  const [key = ''] = keys
  const rest = [String(keys.length), ...keys, ...values]
  try {
    return await send(key, ['EVALSHA', digest, ...rest])
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return send(key, ['EVAL', text, ...rest])
  }
}
