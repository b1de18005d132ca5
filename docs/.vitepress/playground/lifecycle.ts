/**
 * One grant's life: a list of commands replays to a state, which the page draws.
 * @module
 */
import type { Grant } from '../../../src/core/grant/grant.js'
import type { Seconds } from '../../../src/index.js'
import type { Bar } from './lifecycle-bars.js'
import { printTime, readBars } from './lifecycle-bars.js'
import type { Command } from './lifecycle-commands.js'
import { secondsOf } from './lifecycle-commands.js'
import type { Race, Racer } from './lifecycle-race.js'
import { nameOf, startRace } from './lifecycle-race.js'
import type { Asked, Post, Service } from './lifecycle-service.js'
import { authorize, exchangeFields, startService } from './lifecycle-service.js'

/** A request and its answer, as the page lists them. */
export interface Message {
  readonly at: Seconds
  readonly title: string
  readonly request: string
  readonly answer: string
  /** True for an answer that did not reach the client. */
  readonly lost: boolean
}

/** The state after some commands. */
export interface State {
  readonly commands: readonly Command[]
  /** Seconds since the beginning. */
  readonly now: Seconds
  /** The outcome of the last command, in words. */
  readonly latest: string
  readonly bars: readonly Bar[]
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** The stored grant, as JSON; absent while there is none. */
  readonly record?: string
  readonly code: 'none' | 'new' | 'shown'
  /** The numbers of the pairs that the client received. */
  readonly received: readonly number[]
  /** The numbers of the pairs whose refresh tokens the client has shown. */
  readonly shown: readonly number[]
  /** True if the next answer gets lost. */
  readonly losing: boolean
  /** The last race: its steps so far, and the next step of each client that has one. */
  readonly race?: { readonly lines: readonly string[]; readonly next: Readonly<Partial<Record<Racer, string>>> }
}

/** A page's grant, which commands move on. */
export interface Session {
  readonly state: () => State
  /** Runs a command. @returns false for one that is not possible in this state */
  readonly run: (command: Command) => Promise<boolean>
}

/** A pair of tokens that the service handed out. */
interface Pair {
  readonly access_token: string
  readonly refresh_token: string
}

/** What a session keeps between two commands. */
interface World {
  readonly service: Service
  readonly begin: Seconds
  /** Every pair of any answer, even of one that was lost; the number of a pair is its place, from 1. */
  readonly pairs: Pair[]
  code: string
  race: Race | undefined
  /** What both clients of the race do. */
  raceTitle: string
  state: State
}

const NOTHING: State = {
  commands: [],
  now: 0,
  latest: '',
  bars: [],
  messages: [],
  code: 'none',
  received: [],
  shown: [],
  losing: false,
}

/** Opens a session without a grant. */
export async function openSession(): Promise<Session> {
  const service = await startService()
  const world: World = {
    service,
    begin: service.clock(),
    pairs: [],
    code: '',
    race: undefined,
    raceTitle: '',
    state: NOTHING,
  }
  return {
    state: () => world.state,
    run: async (command) => {
      if (!isPossible(world.state, command)) return false
      world.state = { ...world.state, commands: [...world.state.commands, command] }
      await runCommand(world, command)
      await look(world)
      return true
    },
  }
}

/** Replays commands, up to the first that is not possible. */
export async function play(
  commands: readonly Command[],
): Promise<{ readonly session: Session; readonly error?: string }> {
  const session = await openSession()
  for (const [index, command] of commands.entries())
    if (!(await session.run(command)))
      return { session, error: `Command ${index + 1}, ${command}, is not possible at its place.` }
  return { session }
}

/** Tells whether a command is possible in a state. */
export function isPossible({ code, received, shown, losing, race }: State, command: Command): boolean {
  if (secondsOf(command) !== undefined) return true
  if (command === 'a' || command === 'b') return race?.next[command] !== undefined
  if (race?.next.a !== undefined || race?.next.b !== undefined) return false
  if (command === 'authorize') return code === 'none'
  if (command === 'exchange' || command === 'race-code') return code === 'new'
  if (command === 'again-code') return code === 'shown'
  if (command === 'lose') return code !== 'none' && !losing
  const again = numberIn(command)
  return again === undefined ? received.length > 0 : shown.includes(again)
}

/** Runs one command, but for the look at the store after it. */
async function runCommand(world: World, command: Command): Promise<void> {
  const { service, state } = world
  const seconds = secondsOf(command)
  const newest = Math.max(0, ...state.received)
  if (seconds !== undefined) {
    service.clock.advance(seconds)
    tell(world, `The clock shows ${printTime(service.clock() - world.begin)}.`)
  } else if (command === 'authorize') await authorizeGrant(world)
  else if (command === 'lose') world.state = { ...state, losing: true, latest: 'The next answer will be lost.' }
  else if (command === 'exchange') await send(world, 'exchange of the code', (post) => exchange(world, post))
  else if (command === 'again-code') await send(world, 'replay of the code', (post) => exchange(world, post))
  else if (command === 'refresh') await send(world, refreshTitle(newest), (post) => refresh(world, post, newest))
  else if (command === 'revoke')
    await send(world, `revocation of pair ${newest}`, (post) => revoke(world, post, newest))
  else if (command === 'race') await race(world, refreshTitle(newest), (post) => refresh(world, post, newest))
  else if (command === 'race-code') await race(world, 'exchange of the code', (post) => exchange(world, post))
  else if (command === 'a' || command === 'b') await raceOn(world, command)
  else {
    const again = numberIn(command) ?? 0
    await send(world, `replay of refresh token ${again}`, (post) => refresh(world, post, again))
  }
}

/** Lets the user permit the application, in a browser. */
async function authorizeGrant(world: World): Promise<void> {
  const [page, agreed] = await authorize(world.service.server)
  world.code = new URL(agreed.location).searchParams.get('code') ?? ''
  add(world, 'Browser: page of the consent', page, false)
  add(world, 'Browser: form of the consent', agreed, false)
  world.state = { ...world.state, code: 'new' }
  tell(world, `The user agreed: ${agreed.status}, and the client has a code.`)
}

/** Sends the code. */
function exchange(world: World, post: Post): Promise<Asked> {
  world.state = { ...world.state, code: 'shown' }
  return post('/oauth2/token', exchangeFields(world.code))
}

/** Sends a refresh token. */
function refresh(world: World, post: Post, number: number): Promise<Asked> {
  world.state = { ...world.state, shown: union(world.state.shown, number) }
  return post('/oauth2/token', { grant_type: 'refresh_token', refresh_token: tokenOf(world, number) })
}

/** Revokes a refresh token. */
function revoke(world: World, post: Post, number: number): Promise<Asked> {
  return post('/oauth2/revoke', { token: tokenOf(world, number) })
}

/** Sends a request of the client, and takes its answer. */
async function send(world: World, title: string, request: (post: Post) => Promise<Asked>): Promise<void> {
  receive(world, `Client: ${title}`, await request(world.service.post))
}

/** Starts a race of two equal requests. */
async function race(world: World, title: string, request: (post: Post) => Promise<Asked>): Promise<void> {
  world.raceTitle = title
  world.race = await startRace(world.service, request)
  tell(world, 'Client A and client B wait for their first step.')
}

/** Lets a client of the race take its next step. */
async function raceOn(world: World, racer: Racer): Promise<void> {
  const answer = await world.race?.go(racer)
  if (answer === undefined) tell(world, `${world.race?.lines().at(-1) ?? ''}.`)
  else receive(world, `${nameOf(racer)}: ${world.raceTitle}`, answer)
}

/** Takes an answer: the client gets what is in it, unless it is lost. */
function receive(world: World, title: string, asked: Asked): void {
  const { losing, received } = world.state
  const pair = pairIn(world, asked)
  const gets = pair !== undefined && !losing ? { received: union(received, pair) } : {}
  world.state = { ...world.state, ...gets, losing: false }
  add(world, title, asked, losing)
  const outcome = pair === undefined ? errorIn(asked) : `, pair ${pair}`
  tell(world, `${title}: ${asked.status}${outcome}${losing ? ', but the answer is lost' : ''}.`)
}

/** Returns the number of the pair in an answer; undefined where there is none. */
function pairIn({ pairs }: World, { status, body }: Asked): number | undefined {
  if (status !== 200 || body === '') return undefined
  const pair: Pair = JSON.parse(body)
  const known = pairs.findIndex(({ refresh_token }) => refresh_token === pair.refresh_token)
  return known < 0 ? pairs.push(pair) : known + 1
}

/** Returns the code of an error in an answer. */
function errorIn({ body }: Asked): string {
  return body === '' ? '' : ` ${JSON.parse(body).error}`
}

/** Adds a message to the list. */
function add(world: World, title: string, { request, answer }: Asked, lost: boolean): void {
  const at = world.service.clock() - world.begin
  world.state = { ...world.state, messages: [...world.state.messages, { at, title, request, answer, lost }] }
}

/** Says what came of a command. */
function tell(world: World, latest: string): void {
  world.state = { ...world.state, latest }
}

/** Looks at the clock, the store and the race after a command. */
async function look(world: World): Promise<void> {
  const { service, begin, race, state } = world
  const page = await service.store.list('subject:ada')
  const grant = page.records[0]?.value as Grant | undefined // what a server stores under this label
  const now = service.clock() - begin
  const bars = readBars(state.bars, grant, begin, now)
  const isRevoked = hasRevoked(bars) && !hasRevoked(state.bars)
  const { record: _, ...others } = state
  world.state = {
    ...others,
    now,
    bars,
    latest: isRevoked ? `${state.latest} The grant is revoked.` : state.latest,
    ...(grant !== undefined && { record: JSON.stringify(grant, undefined, 2) }),
    ...(race !== undefined && { race: { lines: race.lines(), next: nextOf(race) } }),
  }
}

/** Tells whether a revocation has ended any token. */
function hasRevoked(bars: readonly Bar[]): boolean {
  return bars.some(({ end }) => end?.why === 'revoked')
}

/** Returns the next steps of a race. */
function nextOf(race: Race): Readonly<Partial<Record<Racer, string>>> {
  const [a, b] = [race.next('a'), race.next('b')]
  return { ...(a !== undefined && { a }), ...(b !== undefined && { b }) }
}

/** Returns the refresh token of a pair. */
function tokenOf({ pairs }: World, number: number): string {
  return pairs[number - 1]?.refresh_token ?? ''
}

/** Returns the number in a command; undefined where there is none. */
function numberIn(command: Command): number | undefined {
  const number = /^again-(\d+)$/.exec(command)?.[1]
  return number === undefined ? undefined : Number(number)
}

/** Names a refresh. */
function refreshTitle(number: number): string {
  return `refresh with refresh token ${number}`
}

/** Adds a number to a list that does not have it. */
function union(numbers: readonly number[], number: number): readonly number[] {
  return numbers.includes(number) ? numbers : [...numbers, number]
}
