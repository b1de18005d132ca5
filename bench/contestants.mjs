/** Who takes part: the floor, grantwell on each of its stores, other packages, and what is added by hand. */
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { stop } from './options.mjs'
import { installPeers } from './ready.mjs'
import { missingFor } from './stores/open.mjs'

const PEERS = ['node-oauth', 'jmondi', 'oidc-provider']

/**
 * @param only - names; all by default
 * @param stores - that grantwell is measured on
 * @param add - files of contestants
 * @returns who takes part, each with the name of its floor, which is `bare` by default, and who does not, and why
 */
export function contestants({ only, stores, add }) {
  const added = add.map((file) => ({ name: basename(file, '.mjs'), module: pathToFileURL(resolve(file)).href }))
  const names = ['bare', 'grantwell', ...PEERS, ...added.map(({ name }) => name)]
  const unknown = (only ?? []).filter((name) => !names.includes(name))
  if (unknown.length > 0) stop(`--only: ${unknown.join(', ')} is none of ${names.join(', ')}`)
  const isWanted = (name) => only === undefined || only.includes(name) || added.some((each) => each.name === name)

  const taking = [{ name: 'bare', module: 'servers/bare' }]
  const absent = []
  for (const store of isWanted('grantwell') ? stores : []) {
    const named = (server) => (store === 'memory' ? server : `${server} on ${store}`)
    const missing = missingFor(store)
    if (missing !== undefined) absent.push({ name: named('grantwell'), why: `${missing} does not tell where it is` })
    else {
      const floor = named('bare')
      if (store !== 'memory') taking.push({ name: floor, module: 'servers/bare', store })
      taking.push({ name: named('grantwell'), module: 'servers/grantwell', store, floor })
    }
  }
  const peers = PEERS.filter(isWanted)
  if (peers.length > 0) installPeers()
  taking.push(...peers.map((name) => ({ name, module: `peers/${name}` })), ...added)
  return { taking, absent }
}
