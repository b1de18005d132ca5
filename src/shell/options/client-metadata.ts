/**
 * The answer to a fetch of a client's metadata document, for the option `fetchClientMetadata`.
 * @module
 * @see draft-ietf-oauth-client-id-metadata-document, section 4
 */
import type { Seconds } from '../../core/values.js'

/** A client's metadata document as it came, or the reason why there is none. */
export type FetchedClientMetadata =
  | {
      readonly type: 'document'
      /** The document: JSON, at most 5,120 bytes of UTF-8. */
      readonly text: string
      /** Seconds for which its headers let it be kept; absent where they do not say. */
      readonly maxAge?: Seconds
    }
  | {
      readonly type: 'none'
      /**
       * `address` is not public, `redirect` and `status` are answers other than 200, `media_type` is no JSON, `size` is over 5,120
       * bytes, `time` is too slow, and `network` is a failure of the connection.
       */
      readonly reason: 'address' | 'redirect' | 'status' | 'media_type' | 'size' | 'time' | 'network'
    }
