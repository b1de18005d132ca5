/**
 * Forms of the console that are sent twice, with a store that answers very late.
 * @module
 */
import { describe } from 'vitest'
import { sentTwice } from './double-submits.js'

describe('with a store whose every answer takes 500 ms', () => sentTwice(500))
