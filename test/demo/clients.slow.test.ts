/** The demo, driven by clients that nobody here wrote, each first as its own README has it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { badgateway } from './clients/badgateway.js'
import { curlAlone } from './clients/curl.js'
import { curlVersion, NO_CURL } from './clients/curl-program.js'
import { oauth4webapi } from './clients/oauth4webapi.js'
import { oddCredentials } from './clients/odd-credentials.js'
import { openidClient } from './clients/openid-client.js'
import { passportOauth2 } from './clients/passport-oauth2.js'
import { simpleOauth2 } from './clients/simple-oauth2.js'
import { builtClone, type Clone, type Demo, startDemo } from './start.js'

if (curlVersion === undefined) {
  if (process.env['CI']) {
    it('finds curl', () => expect.fail(NO_CURL))
  } else {
    console.warn(NO_CURL)
    it.skip(NO_CURL, () => {})
  }
}

describe('the demo', () => {
  let clone: Clone
  let running: Demo

  beforeAll(async () => {
    clone = await builtClone()
    running = await startDemo(clone.path)
  })

  afterAll(async () => {
    await running?.end()
    clone?.remove()
  })

  const demo = (): Demo => running

  describe('and oauth4webapi', () => oauth4webapi(demo))
  describe('and openid-client', () => openidClient(demo))
  describe('and simple-oauth2', () => simpleOauth2(demo))
  describe('and @badgateway/oauth2-client', () => badgateway(demo))
  describe('and passport-oauth2', () => passportOauth2(demo))
  describe.skipIf(curlVersion === undefined)('and curl', () => curlAlone(demo))
})

describe('credentials with special characters', oddCredentials)
