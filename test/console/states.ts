/**
 * The pages of the console in their states, for the tests in a browser and for the screenshots of the site. Each is a page of a real console
 * whose server has what the state needs.
 * @module
 */
import { readFileSync } from 'node:fs'
import type { Language } from 'grantwell/pages'
import { tokens } from '../support.js'
import type { ConsoleTest, Fields, Seen } from './visitor.js'
import { consoleServer, HOME, handIn, SOUND, Visitor } from './visitor.js'

/** A logo that can be seen. */
export const SHOWN_LOGO: Uint8Array = readFileSync('examples/demo/logo.png')

const FIELDS: Fields = { ...SOUND, logo: SHOWN_LOGO }
const LOOM: Fields = {
  ...FIELDS,
  name: 'Loom',
  website: 'https://loom.example',
  description: 'Builds every push, and says what broke.',
  redirectUris: 'https://loom.example/callback',
  'reason repo-code:rw': 'To fetch what it builds, and to push fixes of its own',
  'reason account-profile:r': 'To greet you by your name',
}
const REVIEW = `${HOME}/administration`

/** The things that a state is made with. */
interface Stage {
  readonly test: ConsoleTest
  readonly ada: Visitor
  readonly grace: Visitor
}

/** Hands in Loom, and approves it where that is asked for. */
async function loom({ test, ada }: Stage, isApproved = true): Promise<string> {
  const { id } = await handIn(ada, LOOM)
  if (isApproved) await test.server.applications.approve(id, { revision: 1 })
  return id
}

/** Hands in Loom, approves it, and hands in a change of it. */
async function changed(stage: Stage): Promise<string> {
  const id = await loom(stage)
  await stage.test.server.applications.change(id, {
    name: 'Loom CI',
    redirectUris: ['https://loom.example/callback', 'https://loom.example/second'],
    scopes: ['repo-code:rw'],
    deviceFlow: true,
  })
  return id
}

const form = ({ forms }: Seen) => forms[0] as Seen['forms'][number] // every such page has one
const own = (id: string): string => `${HOME}/applications/${id}`
const review = (id: string): string => `${REVIEW}/applications/${id}`

const STATES: Readonly<Record<string, (stage: Stage) => Promise<Seen>>> = {
  empty: ({ ada }) => ada.open(HOME),
  list: async (stage) => {
    await loom(stage)
    await handIn(stage.ada, FIELDS)
    return stage.ada.open(HOME)
  },
  form: ({ ada }) => ada.open(`${HOME}/new`),
  faults: async ({ ada }) => {
    const wrong = {
      name: '',
      website: 'x',
      redirectUris: 'http://x.example/',
      authorizedDomain: 'example',
      logo: undefined,
    }
    return ada.submit(form(await ada.open(`${HOME}/new`)), { ...FIELDS, ...wrong, 'reason repo-code:rw': '' })
  },
  waiting: (stage) => handIn(stage.ada, LOOM).then(({ page }) => page),
  application: async (stage) => stage.ada.open(own(await changed(stage))),
  secret: async (stage) => {
    const page = await stage.ada.open(own(await loom(stage)))
    return stage.ada.act(page, 'rotate', { overlap: 'day' })
  },
  rejected: async (stage) => {
    const id = await loom(stage, false)
    await stage.test.server.applications.reject(id, { revision: 1, reason: 'It asks for more than it needs.' })
    return stage.ada.open(own(id))
  },
  change: async (stage) => stage.ada.open(`${own(await loom(stage))}/edit`),
  nothing: ({ grace }) => grace.open(REVIEW),
  queue: async (stage) => {
    await changed(stage)
    await handIn(stage.ada, FIELDS)
    return stage.grace.open(REVIEW)
  },
  search: async (stage) => {
    await loom(stage)
    return stage.grace.open(`${REVIEW}?text=loom&state=approved`)
  },
  new: async (stage) => stage.grace.open(review(await loom(stage, false))),
  difference: async (stage) => stage.grace.open(review(await changed(stage))),
  reason: async (stage) => {
    const page = await stage.grace.open(review(await loom(stage, false)))
    return stage.grace.act(page, 'reject', { reason: '' })
  },
  used: async (stage) => {
    stage.test.session.user = { subject: 'ada' }
    await tokens(stage.test)
    return stage.grace.open(review('web'))
  },
  servers: async ({ grace }) => {
    const page = await grace.open(`${REVIEW}/resource-servers`)
    return grace.act(page, 'register', {
      name: 'Packages',
      website: 'https://packages.example',
      scope: ['repo-code:r'],
    })
  },
}

/** Every page of the console in every state, in a language. */
export const CONSOLE_STATES: Readonly<Record<string, (language: Language) => Promise<string>>> = Object.fromEntries(
  Object.entries(STATES).map(([name, open]) => [
    name,
    async ({ locale, texts }) => {
      const audiences = [{ resource: 'https://git.example/mcp', name: 'Tools' }]
      const administrator = (request: { readonly headers: Readonly<Record<string, unknown>> }) =>
        request.headers['x-user'] === 'grace' ? { subject: 'grace', name: 'Grace Hopper' } : undefined
      const options = { texts: { [locale]: texts }, audiences, resources: () => [], macTokens: false }
      const test = await consoleServer(options, { administrator })
      const spoken = { 'accept-language': locale }
      const [ada, grace] = ['ada', 'grace'].map((user) => new Visitor(test, user, spoken)) as [Visitor, Visitor] // as many
      return (await open({ test, ada, grace })).body
    },
  ]),
)
