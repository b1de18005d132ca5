/**
 * An application on Express 5 whose users sign in at the demo, by passport-oauth2 as its README has it. Its sessions are
 * in memory, and its pages are JSON.
 * @module
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import passport from 'passport'
import OAuth2Strategy from 'passport-oauth2'

/** Who is signed in at the application, and how the API is called for them. */
export interface SignedIn {
  readonly accessToken: string
  readonly refreshToken: string
  /** What the token endpoint answered, but for the refresh token. */
  readonly results: Readonly<Record<string, unknown>>
  readonly profile: unknown
}

/** What the strategy is made with; where it is called back is the application's own. */
export type Options = Partial<Omit<OAuth2Strategy.StrategyOptions, 'passReqToCallback'>> &
  Pick<OAuth2Strategy.StrategyOptions, 'authorizationURL' | 'tokenURL' | 'clientID' | 'clientSecret'>

/** An application that listens. */
export interface Application {
  readonly origin: string
  readonly strategy: ServiceStrategy
  readonly close: () => void
}

/** The strategy as its documentation extends it: with the user's profile, from the API. */
export class ServiceStrategy extends OAuth2Strategy {
  constructor(
    options: OAuth2Strategy.StrategyOptions,
    private readonly profileUrl?: string,
  ) {
    super(options, (accessToken: string, refreshToken: string, results, profile, done) => {
      done(null, { accessToken, refreshToken, results, profile } satisfies SignedIn)
    })
    if (profileUrl !== undefined) this._oauth2.useAuthorizationHeaderforGET(true)
  }

  override userProfile(accessToken: string, done: (error?: unknown, profile?: unknown) => void): void {
    if (this.profileUrl === undefined) done(null, {})
    else this.get(this.profileUrl, accessToken).then((text) => done(null, JSON.parse(text)), done)
  }

  /** Calls the API by the client's own function. Rejects with its error, which has `statusCode` and `data`. */
  get(url: string, accessToken: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this._oauth2.get(url, accessToken, (error, result) => (error ? reject(error) : resolve(String(result))))
    })
  }

  /** Refreshes by the client's own function, as passport-oauth2-refresh does. */
  refresh(refreshToken: string): Promise<Pick<SignedIn, 'accessToken' | 'refreshToken' | 'results'>> {
    return new Promise((resolve, reject) => {
      const grant = { grant_type: 'refresh_token' }
      this._oauth2.getOAuthAccessToken(refreshToken, grant, (error, accessToken = '', next = '', results = {}) =>
        error ? reject(error) : resolve({ accessToken, refreshToken: next, results }),
      )
    })
  }
}

/** Starts an application on a free port. With `profileUrl` it sends the token in the header; else it keeps to the default. */
export async function startApplication(options: Options, profileUrl?: string): Promise<Application> {
  const app = express()
  const listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const { port } = listening.address() as AddressInfo // it listens on a port
  const origin = `http://127.0.0.1:${port}`

  const authenticator = new passport.Passport()
  authenticator.serializeUser((user, done) => done(null, user))
  authenticator.deserializeUser((user: Express.User, done) => done(null, user))
  const strategy = new ServiceStrategy({ callbackURL: `${origin}/callback`, ...options }, profileUrl)
  authenticator.use(strategy)

  app.use(session())
  app.use(authenticator.session())
  app.get('/sign-in', authenticator.authenticate('oauth2'))
  app.get('/callback', authenticator.authenticate('oauth2', { failureRedirect: '/failed' }), (_request, response) => {
    response.redirect('/')
  })
  app.get('/', (request, response) => {
    response.json(request.user ?? null)
  })
  app.use(asJson)
  return {
    origin,
    strategy,
    close: () => {
      listening.close()
      listening.closeAllConnections()
    },
  }
}

/** Errors as Express hands them on, so that a test reads what the client made of the server's answer. */
const asJson: ErrorRequestHandler = (error, _request, response, _next) => {
  const { name, code, message, oauthError } = error
  response.status(500).json({ name, code, message, oauthError })
}

/** Sessions in memory, with as much of express-session as Passport wants. */
function session(): RequestHandler {
  const sessions = new Map<string, object>()
  return (request, response, next) => {
    // What a session can do is about the request at hand, so every request says it anew.
    const open = (id: string, kept: object): void => {
      const regenerate = (done: () => void): void => {
        sessions.delete(id)
        begin()
        done()
      }
      Object.assign(request, { session: Object.assign(kept, { regenerate, save: (done: () => void) => done() }) })
    }
    const begin = (): void => {
      const [id, kept] = [randomUUID(), {}]
      sessions.set(id, kept)
      response.cookie('application', id)
      open(id, kept)
    }
    const [, id = ''] = /(?:^|; )application=([\w-]+)/.exec(request.headers.cookie ?? '') ?? []
    const kept = sessions.get(id)
    if (kept === undefined) begin()
    else open(id, kept)
    next()
  }
}
