/**
 * Starting the examples of frameworks, as they are and with a slip of the pen in them, and how they end where something is wrong.
 * @module
 */
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Clone } from '../demo/start.js'
import { freePort } from '../engines/process.js'
import type { Example } from './clone.js'
import { nextServer, startExample } from './clone.js'
import type { Store } from './frameworks.js'

/** How an example is started: `node` and this. */
function commandOf(path: string): readonly string[] {
  const place = join('examples', 'frameworks', path)
  return path.endsWith('.mjs') ? [place] : [nextServer(), place]
}

/** The files that its reader reads. */
export function sourcesOf(clone: Clone, path: string): readonly string[] {
  const place = join(clone.path, 'examples', 'frameworks', path)
  if (statSync(place).isFile()) return [place]
  const entries = readdirSync(place, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

/** A copy of an example with something else in it; where it is. */
export function changed(clone: Clone, path: string, from: string, to: string): string {
  const folder = join(clone.path, 'examples', 'frameworks')
  const copy = `slip-${path}`
  cpSync(join(folder, path), join(folder, copy), { recursive: true })
  let found = false
  for (const file of sourcesOf(clone, copy)) {
    const text = readFileSync(file, 'utf8')
    found ||= text.includes(from)
    writeFileSync(file, text.replace(from, to))
  }
  expect(found, `${path} has ${from}`).toBe(true)
  return copy
}

/** Starts an example at its issuer. @throws Error with all that it said, where it ends instead */
export async function startAt(clone: Clone, path: string, issuer: string, env: Store['env']): Promise<Example> {
  const example = startExample(clone, commandOf(path), { ...env, ISSUER: issuer, PORT: new URL(issuer).port })
  if ((await example.settled) === 'listening') return example
  const { stdout, stderr } = await example.ended
  throw new Error(`${path} did not start: ${stdout}${stderr}`)
}

/** On a free port; on another where somebody was quicker. */
export async function startSomewhere(
  clone: Clone,
  path: string,
  env: Store['env'],
  tries = 3,
): Promise<{ issuer: string; example: Example }> {
  const issuer = `http://127.0.0.1:${await freePort()}`
  try {
    return { issuer, example: await startAt(clone, path, issuer, env) }
  } catch (error) {
    if (tries > 1 && String(error).includes('EADDRINUSE')) return startSomewhere(clone, path, env, tries - 1)
    throw error
  }
}

/** One line on standard error, the exit code 1, and nothing that sounds as if it had started. */
export async function expectRefusal(clone: Clone, path: string, env: Store['env'], says: RegExp): Promise<void> {
  const example = startExample(clone, commandOf(path), env)
  try {
    await example.settled
    expect(example.stdout()).not.toContain('listening')
  } finally {
    await (example.stdout().includes('listening') ? example.stop() : example.ended)
  }
  const { code, stderr } = await example.ended
  expect(stderr).toMatch(/^[^\n]+\n$/)
  expect(stderr).toMatch(says)
  expect(code).toBe(1)
}
