/**
 * The resources that a user permits, and the resource that a request is about.
 * @module
 * @see Specification, section 2.1
 */
/** The resources of a user that a grant is about (specification, section 2.1). */
export type Resources =
  | { readonly kind: 'all' }
  | { readonly kind: 'public' }
  | { readonly kind: 'specified'; readonly ids: readonly string[] }

/** The resource that a request is about, as the host knows it. */
export interface ProtectedResource {
  /** The `id` that the option `resources` gave, as users specify it. */
  readonly id: string
  /** True for a public resource. */
  readonly public: boolean
  /**
   * True if the user may do this to it by the host's own rules: as its owner, by a role. A token never opens more than its user
   * could.
   */
  readonly accessible: boolean
}

/**
 * Checks that a token opens a resource: its user has access, and permitted all resources, the public ones, or this one.
 * @param resource - undefined or null where there is none, which no token opens
 */
export function opensResource(resources: Resources, resource: ProtectedResource | null | undefined): boolean {
  // What is not said is not so: hosts without types forget a field.
  if (resource?.accessible !== true) return false
  switch (resources.kind) {
    case 'all':
      return true
    case 'public':
      return resource.public === true
    case 'specified':
      return resources.ids.includes(resource.id)
  }
}

/** The answer of a host that was asked for a resource, in words. */
export const RESOURCE_WORDS = '{ id, public, accessible }, a string and two booleans, or undefined'

/** True if a host gave every field of a resource: a forgotten one would shut out some users alone. */
export function isProtectedResource(value: unknown): value is ProtectedResource {
  if (typeof value !== 'object' || value === null) return false
  const { id, public: isPublic, accessible } = value as Partial<ProtectedResource> // any object may be asked for them
  return typeof id === 'string' && typeof isPublic === 'boolean' && typeof accessible === 'boolean'
}
