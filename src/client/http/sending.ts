/**
 * What a caller gave to `fetch`, to be sent as often as it takes.
 * @module
 */
import type { Step } from './redirects.js'

/** What `fetch` takes. */
export type Input = Parameters<typeof fetch>[0]
export type Init = NonNullable<Parameters<typeof fetch>[1]>

/** The request of a caller. */
export interface Sending {
  readonly hasBody: boolean
  /** Whether it can be sent twice: not where its body is a stream. That of a `Request` can, since it is kept. */
  readonly isRepeatable: boolean
  /** What `fetch` takes to send it as the caller wrote it. */
  readonly asGiven: (headers: Headers, redirect: Redirect) => readonly [Input, Init]
  /** What `fetch` takes to send it where a redirect leads to. */
  readonly redirected: (step: Step, headers: Headers, redirect: Redirect) => readonly [Input, Init]
  /** Lets go of what was kept to be sent again. */
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
 * Reads the second argument of `fetch` as `fetch` does: each member once, by its name, wherever the object has it from. Those of
 * a `Request` are its prototype's. What else it has of its own, for some platform, stays.
 * @throws TypeError for what is no object, as `fetch`
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
  return read // the platform refuses a value that is none
}

/** How `fetch` deals with redirects. */
export type Redirect = NonNullable<Init['redirect']>

/**
 * Makes a request ready.
 * @param url - where it goes, as the platform writes it
 * @throws TypeError for a `Request` that was sent already, as `fetch`
 */
export function sendingOf(input: Input, url: string, init: Init): Sending {
  const given = input instanceof Request ? input : undefined
  const { body: own, ...others } = init
  const hasOwn = own !== undefined && own !== null
  const kept = hasOwn || given === undefined || given.body === null ? undefined : given
  let ready = kept?.clone()
  let wasSent = false

  function another(): Request | undefined {
    const one = ready ?? kept?.clone()
    ready = undefined
    wasSent = true
    return one
  }

  return {
    hasBody: hasOwn || kept !== undefined,
    isRepeatable: !hasOwn || isRepeatable(own),
    asGiven: (headers, redirect) => [another() ?? given ?? url, { ...init, headers, redirect }],
    redirected: ({ method, url, hasBody }, headers, redirect) => {
      const again = hasBody ? another() : undefined
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
      // Their promises may wait for the end of the other sending.
      ready?.body?.cancel().catch(() => {})
      // One that was never sent is the caller's still.
      if (wasSent) kept?.body?.cancel().catch(() => {})
    },
  }
}

/** What a `Request` says beside what and where; but for `cache`, which none of the platforms has that get here. */
function optionsOf({ credentials, integrity, keepalive, mode, referrerPolicy, signal }: Request): Init {
  return { credentials, integrity, keepalive, mode, referrerPolicy, signal }
}

/** Whether a body can be read twice. */
function isRepeatable(body: unknown): boolean {
  if (typeof body === 'string' || body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return true
  return body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob
}
