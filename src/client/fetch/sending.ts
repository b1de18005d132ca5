/**
 * A caller's request, in a form that can be sent several times.
 * @module
 */
import type { Step } from './redirects.js'

/** The arguments of `fetch`. */
export type Input = Parameters<typeof fetch>[0]
export type Init = NonNullable<Parameters<typeof fetch>[1]>

/** The request of a caller. */
export interface Sending {
  readonly hasBody: boolean
  /** True if it can be sent twice. A stream cannot, but the body of a `Request` can, since a copy is kept. */
  readonly isRepeatable: boolean
  /** Returns the arguments of `fetch` that send it as the caller wrote it. */
  readonly asGiven: (headers: Headers, redirect: Redirect) => readonly [Input, Init]
  /** Returns the arguments of `fetch` that send it to the target of a redirect. */
  readonly redirected: (step: Step, headers: Headers, redirect: Redirect) => readonly [Input, Init]
  /** Frees the copies that were kept to send it again. */
  readonly release: () => void
}

/** Members of a `RequestInit` in the Fetch standard, and those of Node and Cloudflare Workers. */
const MEMBERS: readonly string[] = [
  ...[
    'method',
    'headers',
    'body',
    'referrer',
    'referrerPolicy',
    'mode',
    'credentials',
    'cache',
    'redirect',
    'integrity',
  ],
  ...['keepalive', 'signal', 'duplex', 'priority', 'window', 'dispatcher', 'cf'],
]

/**
 * Reads the second argument of `fetch` as `fetch` does: each member once, own or inherited. A `Request` has its members in its
 * prototype. Other own members, which some platform may define, are copied too.
 * @throws TypeError for anything but an object, as `fetch` does
 * @see Web IDL, "Dictionary types"
 */
export function readInit(given: unknown): Init {
  if (given === undefined || given === null) return {}
  if (typeof given !== 'object' && typeof given !== 'function')
    throw new TypeError(`fetch failed: the options must be an object; got ${typeof given}`)
  const read: Record<string, unknown> = { ...given }
  for (const name of MEMBERS) {
    if (Object.hasOwn(read, name)) continue
    const value: unknown = Reflect.get(given, name)
    if (value !== undefined) read[name] = value
  }
  return read // the platform refuses wrong values
}

/** The option `redirect` of `fetch`. */
export type Redirect = NonNullable<Init['redirect']>

/**
 * Prepares a request to be sent.
 * @param url - its address, as the platform writes it
 * @throws TypeError for a `Request` that was sent already, as `fetch` does
 */
export function prepareSending(input: Input, url: string, init: Init): Sending {
  const given = input instanceof Request ? input : undefined
  const { body: own, ...others } = init
  const hasOwn = own !== undefined && own !== null
  const kept = hasOwn || given === undefined || given.body === null ? undefined : given
  let ready = kept?.clone()
  let wasSent = false

  function nextCopy(): Request | undefined {
    const copy = ready ?? kept?.clone()
    ready = undefined
    wasSent = true
    return copy
  }

  return {
    hasBody: hasOwn || kept !== undefined,
    isRepeatable: !hasOwn || isRepeatable(own),
    asGiven: (headers, redirect) => [nextCopy() ?? given ?? url, { ...init, headers, redirect }],
    redirected: ({ method, url, hasBody }, headers, redirect) => {
      const again = hasBody ? nextCopy() : undefined
      return [
        url.href,
        {
          ...(given && optionsOf(given)),
          ...others,
          method,
          headers,
          redirect,
          ...(hasBody && hasOwn && { body: own }),
          ...(again && { body: again.body, duplex: 'half' as const }),
        },
      ]
    },
    release: () => {
      // Not awaited: the promises may wait until the other copy is sent.
      ready?.body?.cancel().catch(() => {})
      // A request that was never sent still belongs to the caller.
      if (wasSent) kept?.body?.cancel().catch(() => {})
    },
  }
}

/** Returns the options of a `Request`, without `cache`: no platform on which this runs has it. */
function optionsOf({ credentials, integrity, keepalive, mode, referrerPolicy, signal }: Request): Init {
  return { credentials, integrity, keepalive, mode, referrerPolicy, signal }
}

/** Checks whether a body can be read twice. */
function isRepeatable(body: unknown): boolean {
  if (typeof body === 'string' || body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return true
  return body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob
}
