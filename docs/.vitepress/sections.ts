/**
 * The pages of the site, in the order of the side bar.
 * @module
 */

/** Sections of the side bar, each with its pages by their paths and titles. */
export const SECTIONS: Readonly<Record<string, readonly (readonly [path: string, title: string])[]>> = {
  Start: [
    ['/start/what', 'What it is'],
    ['/start/init', 'Start from a template'],
    ['/start/express', 'An Express service'],
    ['/start/fetch', 'A fetch-style service'],
    ['/start/demo', 'The demo'],
  ],
  Playground: [
    ['/playground/lifecycle', 'Lifecycle'],
    ['/playground/metadata', 'A metadata record'],
    ['/playground/rules', 'Redirect URIs and scopes'],
  ],
  Guides: [
    ['/guides/guard', 'Guard a route'],
    ['/guides/sessions', 'Put it beside your sessions'],
    ['/guides/remote-api', 'An API elsewhere'],
    ['/guides/several-apis', 'One API among several'],
    ['/guides/applications', 'Applications and their review'],
    ['/guides/registration-by-clients', 'Registration by clients'],
    ['/guides/devices', 'Devices'],
    ['/guides/browser-clients', 'Browser clients'],
    ['/guides/command-line', 'Command-line tools'],
    ['/guides/clients', 'Clients that get through'],
    ['/guides/pages', 'Pages of your own'],
    ['/guides/templates', 'Pages with a template engine'],
    ['/guides/scopes', 'Scopes of your own'],
    ['/guides/issuers', 'Several issuers'],
    ['/guides/proxy', 'Behind a proxy'],
    ['/guides/migrate', 'Migrate from another server'],
  ],
  Stores: [
    ['/stores/choose', 'Choose a store'],
    ['/stores/memory', 'Memory'],
    ['/stores/sqlite', 'SQLite'],
    ['/stores/postgres', 'PostgreSQL'],
    ['/stores/redis', 'Redis'],
    ['/stores/write', 'Write a store'],
  ],
  Proof: [
    ['/proof/kit', 'Test your lifecycles'],
    ['/proof/explorer', 'The explorer'],
  ],
  Operations: [
    ['/operations/deploy', 'Deployment'],
    ['/operations/health', 'Health and cleanup'],
    ['/operations/complaints', 'A client complains'],
    ['/operations/backups', 'Backups'],
    ['/operations/limits', 'Limits'],
    ['/operations/leaks', 'After a leak'],
    ['/operations/support', 'What is supported'],
  ],
  Metadata: [
    ['/metadata/codec', 'The codec'],
    ['/metadata/command', 'The command'],
  ],
  Security: [
    ['/security/promises', 'Promises'],
    ['/security/duties', 'Duties of the host'],
    ['/security/statements', 'Statements and their tests'],
    ['/security/arithmetic', 'The arithmetic'],
  ],
  Rules: [
    ['/rules/', 'Two sets of rules'],
    ['/rules/authorization-service', 'The service'],
    ['/rules/metadata', 'Metadata records'],
  ],
  Reference: [
    ['/reference/options', 'Options'],
    ['/reference/events', 'Events'],
    ['/reference/errors', 'Errors and reasons'],
    ['/reference/', 'Entry points'],
    ['/reference/index-1', 'grantwell'],
    ['/reference/core', 'grantwell/core'],
    ['/reference/adapters/node', 'grantwell/node'],
    ['/reference/adapters/fetch', 'grantwell/fetch'],
    ['/reference/storage/memory', 'grantwell/storage/memory'],
    ['/reference/storage/sqlite', 'grantwell/storage/sqlite'],
    ['/reference/storage/postgres', 'grantwell/storage/postgres'],
    ['/reference/storage/redis', 'grantwell/storage/redis'],
    ['/reference/pages', 'grantwell/pages'],
    ['/reference/metadata/', 'grantwell/metadata'],
    ['/reference/client', 'grantwell/client'],
    ['/reference/client/node', 'grantwell/client/node'],
    ['/reference/testing', 'grantwell/testing'],
  ],
  Design: [
    ['/design/idea', 'The one idea'],
    ['/design/decisions', 'Decisions and their costs'],
    ['/design/comparison', 'Other servers'],
    ['/design/releases', 'How a release is made'],
  ],
}
