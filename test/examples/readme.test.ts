/**
 * The service that the README shows whole, started as its reader would start it, with an application registered, and attacked.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Clone } from '../demo/start.js'
import { builtClone } from '../demo/start.js'
import { freePort } from '../engines/process.js'
import { blocksOf, readme } from '../package/readme.js'
import type { Example } from './clone.js'
import { startExample } from './clone.js'
import { attack } from './hostile.js'
import type { Choice } from './visitor.js'
import { Application, Browser } from './visitor.js'

/** An application, which the snippet leaves to the administrators, and what its user can specify. */
const REGISTERED = `
const { clientSecret } = await server.applications.register({
  name: 'Mirror', website: 'https://mirror.example', redirectUris: ['http://127.0.0.1/callback'],
  logo: Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64'),
  type: 'confidential', scopes: ['repo-code:rw'], resourceScope: 'all',
}, { clientId: 'mirror' })
console.log(\`listening at \${port}, clientSecret: '\${clientSecret}'\`)
`
const USER = '  user: (request) =>'
const SPECIFIED = '  resources: ({ subject }) => repositories.filter(({ owner }) => owner === subject),\n'

let clone: Clone
let service: Example
let issuer: string

beforeAll(async () => {
  clone = await builtClone()
  const [code = ''] = blocksOf(readme()).flatMap((each) => (each.code.startsWith('// complete\n') ? [each.code] : []))
  expect(code).toContain(USER)
  writeFileSync(join(clone.path, 'service.mjs'), code.replace(USER, `${SPECIFIED}${USER}`) + REGISTERED)
  const port = await freePort()
  issuer = `http://127.0.0.1:${port}`
  service = startExample(clone, ['service.mjs'], { PORT: `${port}` })
  if ((await service.settled) === 'ended') expect.fail((await service.ended).stderr)
})
afterAll(async () => {
  await service?.stop()
  clone?.remove()
})

describe('the service of the README', () => {
  it('touches no repository but the one that its guard decided on, whatever path and query are sent', async () => {
    const secret = /clientSecret: '([^']+)'/.exec(service.stdout())?.[1] ?? ''
    const app = await Application.discover(issuer, secret)
    const choices: Readonly<Record<string, Choice>> = {
      'ada/engine': { kind: 'public' },
      'ada/notes': { kind: 'specified', ids: ['ada/notes'] },
    }
    const tokenFor = async (opens: string): Promise<string> => {
      const choice = choices[opens] ?? expect.fail(`no token for ${opens}`)
      return (await app.authorize(new Browser({ 'x-demo-user': 'ada' }), 'repo-code:rw', choice)).access_token
    }
    const route = { base: '/api/repositories', ids: ['ada/engine', 'ada/notes'] } as const
    await attack(Number(new URL(issuer).port), route, tokenFor, (opens, { target, body }) =>
      expect(body, target).toBe(`ada wrote to ${opens}\n`),
    )
  })
})
