/**
 * The command that writes: its edits and conversions from outside; and the command on files that others change, own or
 * swap while it works, and on very many of them.
 * @module
 */
import { beforeAll, describe } from 'vitest'
import { build } from '../built.js'
import { checkingMuch } from './check.js'
import { converting } from './convert.js'
import { setting } from './set.js'
import { amongStrangers } from './strangers.js'
import { together } from './together.js'
import { walking } from './walk.js'

beforeAll(build)

describe('grantwell metadata set', setting)
describe('grantwell metadata convert', converting)
describe('grantwell metadata set, several at once', together)
describe('grantwell metadata, in a folder of another user', amongStrangers)
describe('grantwell metadata, on whatever a path leads to', walking)
describe('grantwell metadata check, of much', checkingMuch)
