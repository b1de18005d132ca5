/**
 * The entry point `grantwell/console`: pages on which applicants hand in applications, and administrators decide on them.
 * @module
 */
export type { ConsoleOptions } from './console.js'
export { createConsole } from './console.js'
