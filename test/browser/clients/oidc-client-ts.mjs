/**
 * A page that signs in by oidc-client-ts. It takes each step when it is asked to, and shows what came of it.
 * @module
 */
import { UserManager } from 'oidc-client-ts'

const manager = new UserManager({
  authority: globalThis.ISSUER,
  client_id: 'page',
  redirect_uri: `${location.origin}/callback`,
  scope: 'wiki:r mail:r',
})

const STEPS = {
  start: () => manager.signinRedirect(),
  finish: () => manager.signinCallback(),
  refresh: () => manager.signinSilent(),
  revoke: () => manager.revokeTokens(['refresh_token']),
}

globalThis.step = async (name) => {
  try {
    return await STEPS[name]()
  } catch (error) {
    return { failed: String(error) }
  }
}
