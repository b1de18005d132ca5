/**
 * `lifecycle` is red on every broken server.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { BROKEN_SERVERS } from './broken-servers.js'
import { reportOf } from './wirings.js'

describe('a broken server is caught:', () => {
  it.each(BROKEN_SERVERS)('$name', async (broken) => {
    expect(await reportOf(broken, { seed: 4, numRuns: 200 })).toContain('the shortest history')
  })
})
