/**
 * The catalogue of the specification.
 * @module
 * @see Specification, section 5.3
 */
import { readOptions } from '../options.js'
import type { NamedScopeDefinition, Permission, ScopeCatalogue, ScopeCatalogueOptions } from '../scopes.js'
import type { TakesOf } from '../takes.js'
import { CATALOGUE_OPTIONS, NAME, scopeCatalogue } from './catalogue.js'

/** The options of the catalogue of the specification. */
export interface ServiceScopesOptions extends ScopeCatalogueOptions {
  /** The word that stands in three of the names where the service's own name would be; `native` by default. */
  readonly service?: string
}

const TAKES: TakesOf<ServiceScopesOptions> = { service: NAME, ...CATALOGUE_OPTIONS }

const READ: readonly Permission[] = ['r']
const WRITE: readonly Permission[] = ['rw']
const BOTH: readonly Permission[] = ['r', 'rw']

/**
 * The catalogue of the specification: 26 names.
 * @see Specification, section 5.3
 */
export function serviceScopes(options: ServiceScopesOptions = {}): ScopeCatalogue<NamedScopeDefinition> {
  const { service = 'native', unknown = 'refuse' } = readOptions<ServiceScopesOptions>('serviceScopes', options, TAKES)
  // Frozen, since the servers of a process share the default catalogue, and the pages of a host get its definitions.
  const define = (name: string, permissions: readonly Permission[], description: string): NamedScopeDefinition =>
    Object.freeze({ name, permissions, description })
  const definitions = [
    define('repo-code', BOTH, 'Repository code through Git commands'),
    define('repo-pr', BOTH, 'Pull requests'),
    define('repo-issue', BOTH, 'Issues'),
    define('repo-notes', BOTH, 'Comments on issues and pull requests'),
    define('repo-release', BOTH, 'Tags and releases'),
    define('repo-commit-status', BOTH, 'Pipeline status, badges, commit metadata'),
    define(`repo-${service}-trigger`, BOTH, 'Query, trigger and run cloud-native build and cloud-native development'),
    define(`repo-${service}-history`, READ, 'Pipeline build history'),
    define(`repo-${service}-detail`, BOTH, 'Query or delete cloud-native development spaces'),
    define('repo-basic-info', READ, 'Basic repository info (name, description, language, license)'),
    define('repo-manage', BOTH, 'Repository members and settings'),
    define('repo-delete', WRITE, 'Delete a repository'),
    define('repo-security', READ, 'Repository security module data'),
    define('registry-package', BOTH, 'Artifacts'),
    define('registry-package-delete', WRITE, 'Delete artifacts'),
    define('registry-security', READ, 'Package security, license and SBOM data'),
    define('registry-manage', BOTH, 'Artifact registry members and settings'),
    define('registry-delete', WRITE, 'Delete an artifact registry'),
    define('account-profile', BOTH, 'User profile'),
    define('account-email', BOTH, "The user's verified email"),
    define(
      'account-engage',
      BOTH,
      'Followed repositories, followers, cloud-native development environments, and similar',
    ),
    define(
      'group-resource',
      BOTH,
      'Sub-organizations, repositories, artifact registries and mission sets under an organization',
    ),
    define('group-manage', BOTH, 'Organization members, repository wall, organization settings'),
    define('group-delete', WRITE, 'Delete an organization'),
    define('mission-delete', WRITE, 'Delete a mission set'),
    define('mission-manage', BOTH, 'Access a mission set'),
  ]
  return scopeCatalogue(definitions, { unknown })
}
