// A start that fails says why in one sentence.
const fail = ({ message }) => process.exit(console.error(message) ?? 1)
const { server, store } = await import('./oauth.js').catch(fail)
await store.read(['is Redis there?']).catch(fail) // the client itself would try for ever
const logo = Buffer.from('R0lGODlhAQABAIAAAB9vXP///ywAAAAAAQABAAACAkQBADs=', 'base64')
const about = { name: 'Mirror', website: 'https://mirror.example', redirectUris: ['http://127.0.0.1/callback'], logo }
const rights = { type: 'confidential', scopes: ['repo-code:rw'], resourceScope: 'all' }
if (!(await server.applications.get('mirror')))
  console.log(await server.applications.register({ ...about, ...rights }, { clientId: 'mirror' }).catch(fail))
