import { describe, expect, it } from 'vitest'
import { exchange } from '../support.js'
import { consoleServer, HOME, handIn, Visitor } from './visitor.js'

describe('the way from a submission to the first token', () => {
  it('goes through the console alone, and each step is in the audit trail with who took it', async () => {
    const test = await consoleServer()
    const bob = new Visitor(test, 'bob')
    const root = new Visitor(test, 'root')
    const { page, id } = await handIn(bob)
    expect(page.text).toContain('The application was handed in.')
    expect(page.text).toContain('Waits for an administrator')

    const queue = await root.open(`${HOME}/administration`)
    expect(queue.text).toContain('Mirror')
    const review = await root.open(`${HOME}/administration/applications/${id}`)
    expect(review.text).toContain('To push')
    const approved = await root.act(review, 'approve', { scope: ['repo-code:r', 'account-profile:r'] })
    expect([approved.status, approved.text.includes('It is approved.')]).toStrictEqual([200, true])
    expect(approved.body).not.toMatch(/client_secret|cs_/)

    const own = await bob.open(`${HOME}/applications/${id}`)
    expect(own.text).toContain('Approved')
    const rotated = await bob.act(own, 'rotate', { overlap: 'none' })
    const clientSecret =
      /Client secret<\/dt><dd><code dir="ltr">([^<]+)/.exec(rotated.body)?.[1] ?? expect.fail(rotated.text)

    test.session.user = { subject: 'ada' }
    const callback = { client_id: id, redirect_uri: 'https://mirror.example/callback' }
    const { code } = await authorize(test, callback)
    const { status, body } = await exchange(test, code, {}, { clientId: id, clientSecret })
    expect([status, body.scope]).toStrictEqual([200, 'repo-code:r account-profile:r'])
    expect(
      test.events.flatMap((event) => (event.type === 'application' ? [[event.change, event.actor]] : [])),
    ).toStrictEqual([
      ['submitted', 'bob'],
      ['approved', 'root'],
      ['secret_rotated', 'bob'],
    ])
  })
})
