/**
 * Servers that are broken where requests meet: the explorer must find each.
 * @module
 */
import type { AuthorizationServerOptions, RecordStore } from 'grantwell'
import { createAuthorizationServer } from 'grantwell'
import { GRACE_BEGINS_ANEW, inGrant } from './broken-servers.js'
import type { Mutation } from './mutants.js'

export type CreateServer = typeof createAuthorizationServer

/** Two resources that the servers declare, and a grant is for. */
export const AUDIENCES = [
  { resource: 'https://git.example/mcp', name: 'Tools' },
  { resource: 'https://ci.example', name: 'Builds' },
] as const

const SUCCESSOR_FOR_ANY = inGrant('repeat', '!coversAudience(requested, audienceOf(successor.access))', 'false')

/** Mistakes in the sources, by a short name. */
export const MUTATIONS = {
  triesForEver: attempts('tries for ever', '1e9'),
  triesOnce: attempts('gives up at the first conflict', '1'),
  codeTwice: {
    name: 'a code is redeemed twice',
    edits: [inGrant('exchange', 'code.usedAt !== undefined', 'false')],
  },
  codeKept: {
    name: 'a second redemption lets the tokens of the first go on',
    edits: [inGrant('exchange', 'tombstone(grant, now)', 'undefined')],
  },
  freshSuccessor: {
    name: 'the successor comes of fresh entropy',
    edits: [inGrant('supersede', 'deriveSuccessor($credential, $salt, $rules)', 'createSecrets(entropy)')],
  },
  manySuccessors: {
    name: 'every refresh makes a successor',
    edits: [inGrant('refresh', 'pair.superseded === undefined', 'true')],
  },
  graceBeginsAnew: { name: 'the grace begins again', edits: [GRACE_BEGINS_ANEW] },
  noGrace: {
    name: 'old tokens outlive their grace',
    edits: [inGrant('worksUntil', '$condition ? $until : $expiry', 'expiresAt')],
  },
  onePairRevoked: {
    name: 'a revocation ends one pair alone',
    edits: [
      inGrant('revoke', 'tombstone(grant, now)', '{ ...grant, pairs: grant.pairs.filter((each) => each !== pair) }'),
    ],
  },
  replayKept: {
    name: 'a replay revokes nothing',
    edits: [inGrant('replayed', 'tombstone(grant, now)', 'undefined')],
  },
  noSecondLook: recovery('nobody looks what became of a write', 'false'),
  takenForStored: recovery('every write without an answer is taken for stored', 'true'),
  formMakesAnew: {
    name: 'a form makes a grant anew',
    edits: [inGrant('approve', 'record !== undefined', 'false')],
  },
  formOnce: {
    name: 'a form is good for one answer',
    edits: [inGrant('approve', 'isGrant(record)', 'false')],
  },
  lastDecisionCounts: {
    name: 'the last decision counts',
    edits: [inGrant('admitDecision', 'before !== undefined', 'false')],
  },
  saltKept: {
    name: 'the salt outlives the exchange',
    edits: [inGrant('exchange', 'usedCode(code, now)', '{ ...usedCode(code, now), salt: code.salt }')],
  },
  graceForAny: {
    name: 'a refresh in grace gets the successor whatever it is for',
    edits: [SUCCESSOR_FOR_ANY],
  },
  graceMovesOn: {
    name: 'a refresh in grace makes the successor one for its own resource',
    edits: [
      SUCCESSOR_FOR_ANY,
      inGrant(
        'repeat',
        '{ reply: $reply, events: $events }',
        `{
          reply: $reply,
          events: [],
          grant: requested && { ...grant, pairs: grant.pairs.map((each) =>
            each === successor ? { ...each, access: { ...each.access, audience: requested } } : each) },
        }`,
      ),
    ],
  },
  mismatchRevokes: {
    name: 'a refresh in grace for another resource ends the grant',
    edits: [
      inGrant(
        'repeat',
        'withoutChange(audienceOfSuccessor())',
        '{ reply: audienceOfSuccessor(), grant: tombstone(grant, now), events: [] }',
      ),
    ],
  },
  audienceOfGrant: {
    name: 'a successor is for the resources of the grant',
    edits: [inGrant('supersede', 'audienceOf(command) ?? audienceOf(grant)', 'audienceOf(grant)')],
  },
  anyAudience: {
    name: 'a guard takes tokens for any resource',
    edits: [{ room: 'guard', within: 'checkToken', find: '!isMeant', replace: 'false' }],
  },
  anyAudienceWithoutOne: {
    name: 'a guard without a resource takes any token',
    edits: [{ room: 'guard', within: 'checkToken', find: '!isMeant', replace: 'audience !== undefined && !isMeant' }],
  },
  firstAudienceOfAll: {
    name: 'introspection takes every API for the first',
    edits: [
      {
        room: 'endpoints',
        within: 'declaredAudience',
        find: "audiences.get(audience) ?? 'not_declared'",
        replace: '[...audiences.values()][0]',
      },
    ],
  },
} as const satisfies Readonly<Record<string, Mutation>>

function attempts(name: string, number: string): Mutation {
  return { name, edits: [{ room: 'shell', within: 'MAX_TRIES', find: '32', replace: number }] }
}

function recovery(name: string, isStored: string): Mutation {
  const find = 'isGone || sameJson($record, $value)'
  return { name, edits: [{ room: 'shell', within: 'recoverUnknownOutcome', find, replace: isStored }] }
}

/** Makes servers whose store is not the one that they are given, in some methods. */
export function withStore(change: (store: RecordStore) => Partial<RecordStore>): CreateServer {
  return (options) => createAuthorizationServer({ ...options, store: { ...options.store, ...change(options.store) } })
}

/** Makes servers that answer although somebody else was quicker. */
export const ignoresConflicts = withStore((store) => ({
  write: async (...write) => {
    await store.write(...write)
    return true
  },
}))

/** Makes servers that write what they decided on an old record under a new version. */
export const readsVersionAnew = withStore((store) => ({
  write: async (key, value, options) => {
    const [record] = await store.read([key])
    return store.write(key, value, { ...options, expected: record?.version ?? 0 })
  },
}))

/** Makes servers that answer before their write is stored. */
export const answersEarly = withStore((store) => ({
  write: (...write) => {
    Promise.resolve(store.write(...write)).catch(() => {})
    return true
  },
}))

/** Makes servers whose guard remembers the grants that it has once read. */
export const remembersGrants: CreateServer = <Native>(options: AuthorizationServerOptions<Native>) => {
  const { store } = options
  const remembered = new Map<string, Awaited<ReturnType<RecordStore['read']>>>()
  let isGuarding = false
  const read: RecordStore['read'] = async (keys) => {
    if (!isGuarding || !keys.some((key) => key.startsWith('grant:'))) return store.read(keys)
    const known = remembered.get(keys.join())
    if (known !== undefined) return known
    const records = await store.read(keys)
    remembered.set(keys.join(), records)
    return records
  }
  const server = createAuthorizationServer<Native>({ ...options, store: { ...store, read } })
  const authenticate = async (...asked: Parameters<typeof server.authenticate>) => {
    isGuarding = true
    try {
      return await server.authenticate(...asked)
    } finally {
      isGuarding = false
    }
  }
  return { ...server, authenticate: authenticate as typeof server.authenticate } // its overloads are lost in between
}
