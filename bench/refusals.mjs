/** What a server has to refuse, so that its figures are those of one that checks; asked after the measuring. */
import { basic, CLIENT } from './client.mjs'
import { DEVICE_CODE_GRANT, WrongAnswer } from './operations.mjs'

/** @returns what becomes of a refresh token that is presented twice, one of `REPLAYS` */
export async function checkRefusals(server) {
  const [first, second, third] = await server.seed('pairs', 3)
  const refresh = ({ refresh_token }, authorization) =>
    server.post(server.token, { grant_type: 'refresh_token', refresh_token }, authorization)
  refused('a wrong secret', await refresh(first, basic({ ...CLIENT, secret: 'wrong' })))
  refused('an access token as refresh token', await refresh({ refresh_token: first.access_token }))
  await checkExchange(server)
  if (server.revoke) {
    await server.post(server.revoke, { token: second.refresh_token, token_type_hint: 'refresh_token' })
    refused('a revoked refresh token', await refresh(second))
  }
  if (server.api)
    refused('an unknown access token', await server.get(server.api, `Bearer ${forged(first.access_token)}`))
  if (server.introspect) {
    const authorization = basic(server.introspector ?? CLIENT)
    const answer = await server.post(server.introspect, { token: forged(first.access_token) }, authorization)
    if (answer.body.active !== false) throw new WrongAnswer('introspection of an unknown token', answer)
  }
  if (server.deviceGrant) {
    const [{ device_code }] = await server.seed('deviceCodes', 1)
    const answer = await server.post(server.token, {
      grant_type: DEVICE_CODE_GRANT,
      device_code: forged(device_code),
      client_id: CLIENT.id,
    })
    if (answer.body.error === 'authorization_pending') throw new WrongAnswer('an unknown device code', answer)
  }
  return replayOf(third, refresh)
}

async function checkExchange(server) {
  const [first, second] = await server.seed('codes', 2)
  const exchange = (fields) =>
    server.post(server.token, { grant_type: 'authorization_code', redirect_uri: CLIENT.redirectUri, ...fields })
  refused('a wrong code verifier', await exchange({ ...first, code_verifier: forged(first.code_verifier) }))
  const answer = await exchange(second)
  if (answer.status !== 200) throw new WrongAnswer('a right code verifier', answer)
  refused('a code again', await exchange(second))
}

/** What can become of a refresh token that is presented again at once. */
export const REPLAYS = {
  refused: 'refused, and the tokens that took its place stay',
  revokes: 'refused, and the tokens that took its place end',
  'same pair': 'answered with the same pair, as after an answer that was lost',
  'new pair': 'answered with another pair',
}

async function replayOf(pair, refresh) {
  const successor = (await refresh(pair)).body
  const again = await refresh(pair)
  if (again.status === 200) return again.body.refresh_token === successor.refresh_token ? 'same pair' : 'new pair'
  return (await refresh(successor)).status === 200 ? 'refused' : 'revokes'
}

/** A token of the same form which nobody issued. */
const forged = (token) => token.slice(0, -6) + (token.slice(-6) === 'AAAAAA' ? 'BBBBBB' : 'AAAAAA')

function refused(what, answer) {
  if (answer.status !== 400 && answer.status !== 401) throw new WrongAnswer(`${what} was not refused`, answer)
}
