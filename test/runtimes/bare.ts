/**
 * Takes from a runtime what the library must not need, before any of it is loaded: timers, the network, and what there is
 * of Node in those that imitate it. With it goes what tells a runtime, so that is looked at first.
 * @module
 */

/** What a runtime says it is. */
export interface Identity {
  readonly name: 'Node.js' | 'Bun' | 'Deno' | 'workerd' | 'unknown'
  /** Undefined where the runtime does not tell. */
  readonly version: string | undefined
}

/** Every runtime's own objects; that of Node is in the others too. */
const { Bun, Deno, process, navigator } = globalThis as {
  readonly Bun?: { readonly version: string }
  readonly Deno?: { readonly version: { readonly deno: string } }
  readonly process?: { readonly versions: { readonly node: string } }
  readonly navigator?: { readonly userAgent: string }
}

export const identity: Identity = identify()

function identify(): Identity {
  if (Bun !== undefined) return { name: 'Bun', version: Bun.version }
  if (Deno !== undefined) return { name: 'Deno', version: Deno.version.deno }
  if (navigator?.userAgent === 'Cloudflare-Workers') return { name: 'workerd', version: undefined }
  return process === undefined
    ? { name: 'unknown', version: undefined }
    : { name: 'Node.js', version: process.versions.node }
}

const OF_NODE = ['Buffer', 'process', 'global', 'require', 'module', 'setImmediate', 'clearImmediate']

/** In Node they stay: its own `Request` is made of them. */
const taken: readonly string[] = identity.name === 'Node.js' ? [] : [...OF_NODE, 'Deno', 'navigator']

for (const name of taken) Reflect.deleteProperty(globalThis, name)

// fast-check takes `setTimeout` as it is loaded, and would use it for time limits alone.
for (const name of ['setTimeout', 'setInterval', 'fetch'])
  Object.defineProperty(globalThis, name, {
    value: () => {
      throw new Error(`the suite runs without ${name}`)
    },
  })

/** What could not be taken away. */
export const left: readonly string[] = taken.filter((name) => Reflect.has(globalThis, name))
