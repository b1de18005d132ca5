/**
 * The command `grantwell metadata`, from outside: what it prints, what it writes, and how it ends.
 */
import { beforeAll, describe } from 'vitest'
import { build } from '../built.js'
import { checking } from './check.js'
import { commandLine } from './command-line.js'
import { showing } from './show.js'

beforeAll(build)

describe('grantwell', commandLine)
describe('grantwell metadata show', showing)
describe('grantwell metadata check', checking)
