/**
 * A process with a token source over a file, which does what its parent tells it: `node <bundle of this file> <settings as JSON>`.
 * @module
 */
import { discover, type TokenStore } from 'grantwell/client'
import { fileTokenStore } from '../../src/client/node/file-token-store.js'
import { replacePrivate } from '../../src/client/node/private-file.js'
import { createTokenSource } from '../../src/client/tokens/token-source.js'
import { WEB } from '../support.js'
import type { Order, Report, SourceSettings } from './source-processes.js'

const { issuer, file, now, retryFor, isWriteHeld }: SourceSettings = JSON.parse(process.argv[2] ?? '')

let time = now
let write = (): void => {}
const mayWrite = new Promise<void>((resolve) => {
  write = resolve
})

const inner = fileTokenStore(file)
const store: TokenStore = {
  ...inner,
  write: async (tokens) => {
    tell({ type: 'writing' })
    if (isWriteHeld) await mayWrite
    await inner.write(tokens)
  },
}
const client = await discover({ issuer, ...WEB, clock: () => time })
const source = createTokenSource({ client, store, retryFor, onError: ({ message }) => tell({ type: 'told', message }) })

function tell(report: Report): void {
  if (process.connected) process.send?.(report)
}

/** Many callers at once: what they got, each thing once. */
async function ask(callers: number): Promise<void> {
  const results = await Promise.all(
    Array.from({ length: callers }, () =>
      source.get().then(
        ({ accessToken }) => accessToken,
        (error) => String(error.code),
      ),
    ),
  )
  tell({ type: 'got', results: [...new Set(results)] })
}

async function obey(order: Order): Promise<void> {
  if (order.type === 'ask') {
    time = order.now
    await ask(order.callers)
  } else if (order.type === 'hold') {
    await store.exclusively(async () => {
      tell({ type: 'holding' })
      // For ever: nothing else keeps the process from ending then but its parent.
      await new Promise(() => {})
    })
  } else if (order.type === 'write') write()
  else if (order.type === 'exit') process.exit(0)
  else if (order.type === 'exit-while-writing') {
    await store.exclusively(() => replacePrivate(file, 'half', `${file}.aside`, async () => process.exit(0)))
  } else {
    // Nothing but the source itself holds the process from here on.
    process.disconnect()
    console.log(
      await source.get().then(
        () => 'tokens',
        (error) => String(error.code),
      ),
    )
  }
}

process.on('message', (order: Order) => void obey(order))
tell({ type: 'ready' })
