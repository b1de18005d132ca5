/**
 * What the driver asks for. An operation says which path or feature of a server it `needs`; from which `list` of seeds it takes its own,
 * and how many of which kind have to be in it for so many requests and grants; how many `times` as many requests count as of others; and
 * what one request is. An answer that is not the right one ends the run.
 */
import { basic, CLIENT } from './client.mjs'

export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** What uses nothing up is so quick that only in more requests a difference of some percent is told from noise. */
const READS = 8

export class WrongAnswer extends Error {
  constructor(what, answer) {
    super(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`)
  }
}

/** Each in turn, for ever: the one that rested longest, and none that is in use. */
function rotation(list) {
  let at = 0
  return async (use) => {
    while (list[at] === undefined) at = (at + 1) % list.length
    const mine = at
    const taken = list[mine]
    list[mine] = undefined
    at = (at + 1) % list.length
    list[mine] = await use(taken)
  }
}

export const OPERATIONS = {
  guard: {
    needs: 'api',
    list: 'pairs',
    seeds: (_requests, grants) => ['pairs', grants],
    times: READS,
    step: (server, pairs) => {
      const turn = rotation(pairs)
      return () =>
        turn(async (pair) => {
          const answer = await server.get(server.api, `Bearer ${pair.access_token}`)
          if (answer.status !== 200 || answer.body.sub !== (pair.sub ?? 'u')) throw new WrongAnswer('guard', answer)
          return pair
        })
    },
  },
  introspect: {
    needs: 'introspect',
    list: 'pairs',
    seeds: (_requests, grants) => ['pairs', grants],
    times: READS,
    step: (server, pairs) => {
      const turn = rotation(pairs)
      const authorization = basic(server.introspector ?? CLIENT)
      return () =>
        turn(async (pair) => {
          const answer = await server.post(server.introspect, { token: pair.access_token }, authorization)
          if (answer.status !== 200 || answer.body.active !== true) throw new WrongAnswer('introspect', answer)
          return pair
        })
    },
  },
  // Each grant is refreshed once: hours lie between two in life, so that no server has to know more than one pair that was superseded.
  refresh: {
    needs: 'token',
    list: 'pairs',
    seeds: (requests, grants) => ['pairs', Math.max(requests, grants)],
    step: (server, pairs) => {
      const turn = rotation(pairs)
      return () =>
        turn(async (pair) => {
          const { refresh_token: presented } = pair
          const answer = await server.post(server.token, { grant_type: 'refresh_token', refresh_token: presented })
          const { access_token, refresh_token } = answer.status === 200 ? answer.body : {}
          const isNew = refresh_token !== presented && access_token !== pair.access_token
          if (!access_token || !refresh_token || !isNew) throw new WrongAnswer('refresh', answer)
          return { access_token, refresh_token }
        })
    },
  },
  exchange: {
    needs: 'token',
    list: 'codes',
    seeds: (requests) => ['codes', requests],
    // What it is given, others may revoke.
    step:
      (server, codes, exchanged = []) =>
      async () => {
        const { code, code_verifier } = codes.pop()
        const fields = { grant_type: 'authorization_code', code, code_verifier, redirect_uri: CLIENT.redirectUri }
        const answer = await server.post(server.token, fields)
        const { access_token, refresh_token } = answer.status === 200 ? answer.body : {}
        if (!access_token || !refresh_token) throw new WrongAnswer('exchange', answer)
        exchanged.push({ access_token, refresh_token })
      },
  },
  revoke: {
    needs: 'revoke',
    list: 'exchanged',
    seeds: (requests) => ['pairs', requests],
    step: (server, pairs) => async () => {
      const { refresh_token: token } = pairs.pop()
      const answer = await server.post(server.revoke, { token, token_type_hint: 'refresh_token' })
      if (answer.status !== 200) throw new WrongAnswer('revoke', answer)
    },
  },
  // Each device polls once, while its user still reads: it is told to wait.
  'device poll': {
    needs: 'deviceGrant',
    list: 'deviceCodes',
    seeds: (requests) => ['deviceCodes', requests],
    step: (server, deviceCodes) => async () => {
      const { device_code } = deviceCodes.pop()
      const fields = { grant_type: DEVICE_CODE_GRANT, device_code, client_id: CLIENT.id }
      const answer = await server.post(server.token, fields)
      const isPending = answer.status === 400 && answer.body.error === 'authorization_pending'
      if (!isPending) throw new WrongAnswer('device poll', answer)
    },
  },
}
