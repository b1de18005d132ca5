/**
 * The portable suite: all of it, in the order in which it runs.
 * @module
 */
import { bodies } from './bodies.js'
import type { Suite } from './case.js'
import { credentials } from './credentials.js'
import { defaults } from './defaults.js'
import { device } from './device.js'
import { digests } from './digests.js'
import { flow } from './flow.js'
import { lifecycle } from './lifecycle.js'
import { malformed } from './malformed.js'
import { metadata } from './metadata.js'
import { store } from './store.js'

export const suites: readonly Suite[] = [
  digests,
  credentials,
  store,
  flow,
  device,
  malformed,
  bodies,
  lifecycle,
  defaults,
  metadata,
]
