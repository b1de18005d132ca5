/**
 * A page that signs in by react-oauth2-code-pkce, which exchanges and refreshes by itself. It shows the token and the error.
 * @module
 */
import { createElement, useContext } from 'react'
import { createRoot } from 'react-dom/client'
import { AuthContext, AuthProvider } from 'react-oauth2-code-pkce'

const authConfig = {
  clientId: 'page',
  authorizationEndpoint: `${globalThis.ISSUER}/oauth2/auth`,
  tokenEndpoint: `${globalThis.ISSUER}/oauth2/token`,
  redirectUri: `${location.origin}/callback`,
  scope: 'wiki:r mail:r',
  decodeToken: false,
  autoLogin: false,
}

function App() {
  const { token, error, logIn } = useContext(AuthContext)
  return createElement(
    'main',
    null,
    createElement('button', { type: 'button', onClick: () => logIn() }, 'Sign in'),
    createElement('p', { id: 'token' }, token),
    createElement('p', { id: 'error' }, error),
  )
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  createElement(AuthProvider, { authConfig }, createElement(App)),
)
