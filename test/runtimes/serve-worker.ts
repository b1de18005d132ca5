/**
 * The host as a worker, for `workerd serve`.
 * @module
 */
import { handle } from './host.js'

export default { fetch: handle }
