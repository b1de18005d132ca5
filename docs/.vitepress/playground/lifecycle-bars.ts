/**
 * The bars of the time line: what each token's life is by the stored grant, and where its pieces stand.
 * @module
 */
import type { Grant } from '../../../src/core/grant/grant.js'
import type { Seconds } from '../../../src/index.js'

/** The life of a code or a token. All times are seconds since the beginning of the page's clock. */
export interface Bar {
  /** The digest in the record, by which the same token is known again. */
  readonly id: string
  readonly name: string
  readonly kind: 'code' | 'access' | 'refresh'
  readonly from: Seconds
  /** Exclusive, as all ends. */
  readonly expiresAt: Seconds
  readonly grace?: { readonly from: Seconds; readonly until: Seconds }
  readonly end?: { readonly at: Seconds; readonly why: 'used' | 'revoked' }
}

/** A piece of a bar, in per cent of the time line. */
export interface Piece {
  readonly kind: 'life' | 'grace' | 'rest'
  readonly left: number
  readonly width: number
}

/** A bar as it is drawn. */
export interface Row {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly works: boolean
  readonly pieces: readonly Piece[]
}

/** The whole time line. */
export interface TimeLine {
  readonly rows: readonly Row[]
  /** The place of the moment, in per cent. */
  readonly now: number
  readonly ticks: readonly { readonly label: string; readonly left: number; readonly isNow: boolean }[]
}

/**
 * Adds to the bars what the stored grant says. A bar stays when the record has forgotten its token. A revocation long after the
 * code removes the record at once: where it is gone, nothing works.
 */
export function readBars(
  before: readonly Bar[],
  grant: Grant | undefined,
  begin: Seconds,
  now: Seconds,
): readonly Bar[] {
  if (grant === undefined) return before.map((bar) => revoked(bar, now))
  const { code, createdAt, revokedAt, pairs } = grant
  const end = code.usedAt === undefined ? {} : { end: { at: code.usedAt - begin, why: 'used' } as const }
  const times = { from: createdAt - begin, expiresAt: code.expiresAt - begin }
  const bars = new Map(before.map((bar) => [bar.id, bar]))
  bars.set(code.digest, { id: code.digest, name: 'Code', kind: 'code', ...times, ...end })
  for (const [index, pair] of pairs.entries()) {
    const number = numberOf(bars, pair.refresh.digest)
    const from = (pairs[index - 1]?.superseded?.at ?? grant.lastUsedAt ?? createdAt) - begin
    const { superseded } = pair
    const grace = superseded && { grace: { from: superseded.at - begin, until: superseded.until - begin } }
    for (const kind of ['access', 'refresh'] as const) {
      const { digest: id, expiresAt } = pair[kind]
      const name = `${kind === 'access' ? 'Access' : 'Refresh'} token ${number}`
      const own = { id, name, kind, from: bars.get(id)?.from ?? from, expiresAt: expiresAt - begin }
      bars.set(id, { ...own, ...grace })
    }
  }
  return [...bars.values()].map((bar) => (revokedAt === undefined ? bar : revoked(bar, revokedAt - begin)))
}

/** Returns the number of a pair by the digest of its refresh token: its own, or the next one. */
function numberOf(bars: ReadonlyMap<string, Bar>, digest: string): number {
  const refreshes = [...bars.values()].filter(({ kind }) => kind === 'refresh').map(({ id }) => id)
  return refreshes.includes(digest) ? refreshes.indexOf(digest) + 1 : refreshes.length + 1
}

/** Ends the life of a bar that the revocation of the grant ended. */
function revoked(bar: Bar, at: Seconds): Bar {
  return at < endOf(bar) ? { ...bar, end: { at, why: 'revoked' } } : bar
}

/** Returns the moment from which on a token no longer works. */
export function endOf({ expiresAt, grace, end }: Bar): Seconds {
  return Math.min(expiresAt, grace?.until ?? expiresAt, end?.at ?? expiresAt)
}

/** Says what a token is at a moment. */
export function statusOf(bar: Bar, now: Seconds): string {
  const end = endOf(bar)
  if (now < end) return `${bar.grace === undefined ? 'works' : 'grace period, works'} until ${printTime(end)}`
  if (bar.end?.at === end) return `${bar.end.why} at ${printTime(end)}`
  return `${bar.grace?.until === end ? 'grace period over' : 'expired'} at ${printTime(end)}`
}

/** Prints a time since the beginning, such as `1 d 8 h` or `0`. */
export function printTime(seconds: Seconds): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const words = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`)
  return words.length === 0 ? '0' : words.join(' ')
}

/** The least distance of two labels, in per cent. */
const BETWEEN_LABELS = 20

/** Places all bars at a moment. A longer time is wider, but not in proportion: minutes stay visible beside half a year. */
export function layout(bars: readonly Bar[], now: Seconds): TimeLine {
  const times = bars.flatMap((bar) => [bar.from, bar.grace?.from ?? bar.from, endOf(bar), bar.expiresAt])
  const points = [...new Set([0, now, ...times])].toSorted((a, b) => a - b)
  const place = scaleOf(points)
  const rows = bars.map((bar) => ({
    id: bar.id,
    name: bar.name,
    status: statusOf(bar, now),
    works: now < endOf(bar),
    pieces: piecesOf(bar).map(([kind, from, to]) => ({ kind, left: place(from), width: place(to) - place(from) })),
  }))
  return { rows, now: place(now), ticks: ticksOf(points, now, place) }
}

/** Returns the pieces of a bar that have a length. */
function piecesOf(bar: Bar): readonly (readonly [kind: Piece['kind'], from: Seconds, to: Seconds])[] {
  const end = endOf(bar)
  const grace = Math.min(bar.grace?.from ?? end, end)
  const pieces = [
    ['life', bar.from, grace],
    ['grace', grace, end],
    ['rest', end, bar.expiresAt],
  ] as const
  return pieces.filter(([, from, to]) => from < to)
}

/** Makes the scale of a time line: the place of each of its points, in per cent. */
function scaleOf(points: readonly Seconds[]): (time: Seconds) => number {
  const places = new Map<Seconds, number>()
  let sum = 0
  for (const [index, point] of points.entries()) {
    sum += index === 0 ? 0 : 2 + Math.log2(1 + (point - (points[index - 1] ?? point)) / 60)
    places.set(point, sum)
  }
  return (time) => (sum === 0 ? 0 : (100 * (places.get(time) ?? 0)) / sum)
}

/** Chooses the points that get a label: the moment first, then those that have room. */
function ticksOf(points: readonly Seconds[], now: Seconds, place: (time: Seconds) => number): TimeLine['ticks'] {
  const chosen = [now]
  for (const point of [0, ...points.toReversed()])
    if (chosen.every((other) => Math.abs(place(point) - place(other)) >= BETWEEN_LABELS)) chosen.push(point)
  return chosen.map((time) => ({ label: printTime(time), left: place(time), isNow: time === now }))
}
