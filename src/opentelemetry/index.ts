/**
 * The entry point `grantwell/opentelemetry`: spans and metrics of a server and its store, over the optional peer `@opentelemetry/api`.
 * @module
 */
export type { TelemetryOptions } from './options.js'
export type { CreateServer } from './server.js'
export { instrumentServer } from './server.js'
export type { StoreTelemetryOptions } from './store.js'
export { instrumentStore } from './store.js'
