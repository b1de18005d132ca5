/** The driver on one core and the server on another, where the system has `taskset`; else the scheduler moves both about. */
import { spawnSync } from 'node:child_process'

/** @returns the core for servers, and the driver's own, on which it is from now on; nothing where that cannot be */
export function pin() {
  const cores = allowed()
  if (cores.length < 2) return undefined
  // The last, since the second may be the first one's other thread.
  const [driver, server] = [cores[0], cores[cores.length - 1]]
  const { status } = spawnSync('taskset', ['-apc', String(driver), String(process.pid)])
  return status === 0 ? { driver, server } : undefined
}

/** The cores that this process may run on, such as `0,2-5`. */
function allowed() {
  const { stdout } = spawnSync('taskset', ['-pc', String(process.pid)], { encoding: 'utf8' })
  const ranges =
    stdout
      ?.match(/[\d,-]+\s*$/)?.[0]
      .trim()
      .split(',') ?? []
  return ranges.flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}
