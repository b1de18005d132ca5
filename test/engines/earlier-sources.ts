/**
 * The sources of the release before this one, for servers of both side by side.
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './process.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Sources of an earlier commit, in a folder of their own. */
export interface EarlierSources {
  readonly commit: string
  /** The folder that has `src` in it. */
  readonly directory: string
  readonly remove: () => void
}

/**
 * Finds the commit that servers of this one must get on with: the one that the variable `BEFORE` names, else the newest release, else
 * the last one with other sources. Undefined where there is no history, as in an archive of the repository.
 */
export function earlierCommit(): string | undefined {
  const { BEFORE } = process.env
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~1')
  const [, other] = git('log', '-2', '--format=%H', '--', 'src')?.split('\n') ?? []
  const found = BEFORE ?? release ?? other
  return found === undefined || found === '' ? undefined : git('rev-parse', '--verify', `${found}^{commit}`)
}

/** Unpacks the sources of a commit. */
export function unpackSources(commit: string): EarlierSources {
  const folder = temporaryFolder('earlier')
  const archive = spawnSync('git', ['archive', '--format=tar', commit, 'src'], { cwd: ROOT, maxBuffer: 1 << 28 })
  mkdirSync(join(folder.path, 'src'))
  const { status } = spawnSync('tar', ['-x', '-C', folder.path], { input: archive.stdout })
  if (archive.status !== 0 || status !== 0) throw new Error(`the sources of ${commit} could not be unpacked`)
  return { commit, directory: folder.path, remove: folder.remove }
}

/** Runs Git. Returns what it says, undefined where it fails. */
function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}
