/**
 * Forms of the console that are sent twice, with a store that answers at once, and one that takes its time.
 * @module
 */
import { describe } from 'vitest'
import { sentTwice } from './double-submits.js'

describe('with a store that answers at once', () => sentTwice(0))
describe('with a store whose every answer takes 50 ms', () => sentTwice(50))
