/**
 * The OAuth 2.0 client: what a third-party application does, step by step, with a stock library. A real application
 * does the same without stopping in between.
 * @module
 */
import * as oauth from 'oauth4webapi'

/**
 * The steps in their order. `run` does one: it keeps what later steps need in `flow`, hands the options `http` to every
 * request, which records it, and returns a sentence on what came of it.
 * @param issuer - the authorization server's address: besides its own credentials all that the application has to know
 */
export function stepsOf({ issuer, api, clientId, clientSecret, redirectUri }) {
  const client = { client_id: clientId }
  const authentication = oauth.ClientSecretBasic(clientSecret)

  return [
    {
      name: 'discover',
      title: 'Find the server',
      why: 'The application knows one address of the service, the issuer. It reads the rest from there.',
      button: 'Read the metadata',
      async run(flow, http) {
        const response = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...http })
        flow.server = await oauth.processDiscoveryResponse(new URL(issuer), response)
        return 'Now it knows where to send you and where to get tokens.'
      },
    },
    {
      name: 'request',
      title: 'Write the request',
      why: 'The request is a link to the service, for your browser to follow.',
      button: 'Write the link',
      terms: {
        client_id: 'who asks',
        redirect_uri: 'where your browser brings the answer',
        scope: 'what the application would like to do: r reads, rw reads and changes',
        state: 'a random mark that comes back with the answer, so that nobody can slip your browser a forged one',
        code_challenge: 'the hash of a secret, the verifier, which the application keeps for step 4',
      },
      async run(flow, http) {
        flow.state = oauth.generateRandomState()
        flow.verifier = oauth.generateRandomCodeVerifier()
        const url = new URL(flow.server.authorization_endpoint)
        url.search = new URLSearchParams({
          response_type: 'code',
          client_id: clientId,
          redirect_uri: redirectUri,
          scope: flow.scope,
          state: flow.state,
          code_challenge: await oauth.calculatePKCECodeChallenge(flow.verifier),
          code_challenge_method: 'S256',
        })
        flow.link = url.href
        http.show('GET', url)
        return 'Nothing was sent yet.'
      },
    },
    {
      name: 'callback',
      title: 'Ask the user',
      why: 'Your browser goes to the service. There you sign in, read what the application wants, and agree or refuse. Then the service sends your browser back here with the answer.',
      // No button: a link leads there, and the answer arrives by itself.
      terms: {
        code: 'what the application can exchange for tokens, once, within ten minutes',
        state: 'the mark of step 2',
        iss: 'who answers, so that an application with several services does not mix them up',
      },
      async run(flow, http, url) {
        http.show('GET', url)
        try {
          // Compares the state, and the issuer with the one that was asked.
          flow.answer = oauth.validateAuthResponse(flow.server, client, url, flow.state)
        } catch (error) {
          if (error instanceof oauth.AuthorizationResponseError && error.error === 'access_denied') {
            throw new Error('You refused. The application got nothing, and can only ask again.')
          }
          throw error
        }
        return 'Others may have seen the code on its way. Without the secret and the verifier it is worth nothing.'
      },
    },
    {
      name: 'exchange',
      title: 'Exchange the code',
      why: 'The application speaks to the service itself now, not through your browser.',
      button: 'Get the tokens',
      terms: {
        'authorization: Basic': 'the name and the secret of the application',
        code_verifier: 'shows that whoever made the request of step 2 is asking',
        access_token: 'opens the API for eight hours',
        refresh_token: 'gets the next access token, within 180 days',
      },
      async run(flow, http) {
        const { server, answer, verifier } = flow
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          answer,
          redirectUri,
          verifier,
          http,
        )
        flow.tokens = await oauth.processAuthorizationCodeResponse(server, client, response)
        return 'The code is used up: presented again, it would get nothing, and the tokens would be revoked.'
      },
    },
    {
      name: 'call',
      title: 'Call the API',
      why: 'The access token in the header is all that the API asks for.',
      button: 'List the repositories',
      async run(flow, http) {
        const response = await callApi(flow.tokens.access_token, 'GET', api, http)
        if (!response.ok) return 'The API refused the token.'
        flow.repository = (await response.json()).repositories[0]
        return 'The API knows for whom the application calls, and shows what you opened to it.'
      },
    },
    {
      name: 'write',
      title: 'Try to change something',
      why: 'This call needs the scope repo-code:rw. You saw on the consent page whether the application asked for it.',
      button: 'Add a commit',
      async run(flow, http) {
        const url = `${api}/${flow.repository?.id}/commits`
        const { status } = await callApi(flow.tokens.access_token, 'POST', url, http)
        if (status === 201) return 'You permitted it, so the API did it.'
        if (status === 403) return 'You did not permit it. The API refuses, and names the scope that is missing.'
        return 'The API refused the call.'
      },
    },
    {
      name: 'refresh',
      title: 'Refresh',
      why: 'Before the access token expires, the refresh token gets a new pair. You are not asked again.',
      button: 'Get new tokens',
      async run(flow, http) {
        const { server, tokens } = flow
        const response = await oauth.refreshTokenGrantRequest(
          server,
          client,
          authentication,
          tokens.refresh_token,
          http,
        )
        flow.oldTokens = tokens
        flow.tokens = await oauth.processRefreshTokenResponse(server, client, response)
        return 'Both tokens are new. Had this answer been lost, the same request would get the same pair again.'
      },
    },
    {
      name: 'old-token',
      title: 'Use the old access token',
      why: 'A refresh must not break the calls that are on their way, so the old tokens work five minutes longer.',
      button: 'Call with the old token',
      async run(flow, http) {
        const { ok } = await callApi(flow.oldTokens.access_token, 'GET', api, http)
        return ok ? 'It still works.' : 'The five minutes were over, so it was refused.'
      },
    },
    {
      name: 'revoke',
      title: 'Revoke',
      why: 'When you disconnect the application, it gives everything back: revoking a refresh token ends all that you permitted with it.',
      button: 'Revoke the refresh token',
      async run(flow, http) {
        const { server, tokens } = flow
        const response = await oauth.revocationRequest(server, client, authentication, tokens.refresh_token, http)
        await oauth.processRevocationResponse(response)
        return 'An empty answer: it is done.'
      },
    },
    {
      name: 'revoked-token',
      title: 'Call the API once more',
      why: 'The newest access token had most of its eight hours left.',
      button: 'Call with the revoked token',
      async run(flow, http) {
        const { ok } = await callApi(flow.tokens.access_token, 'GET', api, http)
        return ok ? 'It still works, which it should not.' : 'Refused: revoking takes effect at once.'
      },
    },
  ]
}

async function callApi(token, method, url, http) {
  try {
    return await oauth.protectedResourceRequest(token, method, new URL(url), undefined, undefined, http)
  } catch (error) {
    // The library throws what the API demands; here a refusal is something to look at.
    if (error instanceof oauth.WWWAuthenticateChallengeError) return error.response
    throw error
  }
}
