/**
 * The entry point `grantwell/console`: pages on which applicants hand in applications, and administrators decide on them.
 * @module
 */
export { createConsole } from './console.js'
export type { ConsoleOptions } from './options.js'
