/**
 * Names of users and resources as the host has them, on every page that shows them.
 * @module
 */
import { describe, expect, it } from 'vitest'
import { authorizationUrl, authorize, send, testServer } from '../support.js'

const PATHS = [authorizationUrl(), '/oauth2/device', '/oauth2/applications']

describe('a name of which nobody sees anything', () => {
  it.each<[string | undefined, string]>([
    ['', 'empty'],
    [' ', 'a blank'],
    ['\u200b', 'a space without width'],
    ['\u3164', 'a letter that is drawn as nothing'],
    [undefined, 'none'],
  ])('%j is shown as the identifier that it stands for: %s', async (name) => {
    const test = await testServer({ resources: () => [{ id: 'repo/1', ...(name !== undefined && { name }) }] })
    test.session.user = { subject: 'ada-7', ...(name !== undefined && { name }) }
    await authorize(test, {}, { resource_scope: 'specified', resource: 'repo/1' })
    for (const url of PATHS) {
      const { body } = await send(test.server, { url })
      expect(body).toMatch(/Signed in as <bdi>ada-7<\/bdi>/)
      expect(body.includes('<bdi>repo/1</bdi>')).toBe(url !== '/oauth2/device')
    }
  })
})
