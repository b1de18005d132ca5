/**
 * The order in which files of tests begin: those that take longest first, so that no processor is idle at the end of a run, and those
 * that share their processes one after the other. In a fresh clone Vitest knows no times, and goes by the bytes of a file.
 * @module
 */
import type { TestSpecification } from 'vitest/node'
import { BaseSequencer } from 'vitest/node'

/** Files that take longest, by their paths in `test` without the ending. The first takes longest. */
const LONGEST: readonly string[] = [
  'cli/cli.slow',
  'pages/matrix.slow',
  'cli/cli',
  'package/pack.slow',
  'testing/explore-orders.slow',
  'growth/parsers.slow',
  'storage/engines-redis.slow',
  'docs/playground.slow',
  'release/rehearsal.slow',
  'examples/frameworks.slow',
  'adapters/node',
  'adapters/guards',
  'storage/killed.slow',
  'cli/shell.slow',
  'docs/lifecycle.slow',
  'adapters/held.slow',
  'storage/engines-sql.slow',
  'metadata/reference.slow',
  'browser/flow',
  'testing/lifecycle',
]

/** Returns the place of a file: lower ones begin earlier. */
function placeOf({ moduleId, project }: TestSpecification): number {
  const place = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`))
  if (place >= 0) return place
  if (project.config.isolate) return LONGEST.length
  // A process goes on with the next file only if that is of the same project.
  return LONGEST.length + 1 + project.vitest.projects.indexOf(project)
}

/** Sorts by {@link placeOf}, and by the bytes of the files where those are equal. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}
