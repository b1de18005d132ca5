/**
 * The name and the traffic of an engine, as its store tells them to telemetry. They are a property of the store: in CommonJS each entry
 * point has its own copy of every module, so that no variable of a module could be shared.
 * @module
 */

/** The name of that property. */
export const ENGINE: unique symbol = Symbol.for('grantwell.engine')

/** The engine of a store. */
export interface Engine {
  /** The name that the semantic conventions of OpenTelemetry have for it (`db.system.name`). */
  readonly system: string
  /** Watches the engine; absent while nobody does. */
  observer?: EngineObserver | undefined
}

/** A store that tells of its engine. */
export interface WithEngine {
  readonly [ENGINE]: Engine
}

/** Watches an engine. */
export interface EngineObserver {
  /** Called for each call as it begins to wait. What it returns is passed on with the round trip that carries it. */
  readonly onCall: () => unknown
  /**
   * Makes a round trip.
   * @param callers - what `onCall` returned, for each call that the round trip carries
   * @param go - sends the calls to the engine
   */
  readonly onRoundTrip: <Result>(
    operation: 'read' | 'write',
    callers: readonly unknown[],
    go: () => Promise<Result>,
  ) => Promise<Result>
  /** Called with the number of expired records that were removed. */
  readonly onRemoved: (count: number) => void
}
