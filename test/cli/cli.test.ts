/**
 * The command `grantwell metadata`, from outside: what it prints, what it writes, and how it ends.
 */
import { beforeAll, describe } from 'vitest'
import { checking } from './check.js'
import { build } from './command.js'
import { commandLine } from './command-line.js'
import { showing } from './show.js'

beforeAll(build)

describe('grantwell', commandLine)
describe('grantwell metadata show', showing)
describe('grantwell metadata check', checking)
