/**
 * Loaded before the command: counts its calls of the file system, and does something at one of them, or at all of a name. What that is
 * comes in a variable, or from a program that runs the command several times.
 */
const fs = require('node:fs')
const promises = require('node:fs/promises')
const { dirname, resolve } = require('node:path')

const { appendFileSync, writeFileSync } = fs

/**
 * `at` from 1; `code` to fail with, `signal` to send, `write` to put into a file, `swap` to put something else in its place;
 * `always` names calls that always fail, `lasting` calls that fail from one of them on: the nth of that name.
 */
let faults
let count
let hasWritten
let counts

/** Begins to count, and to do what is asked; undefined ends it. */
function setFaults(given) {
  faults = given && { always: {}, lasting: {}, ...given }
  count = 0
  hasWritten = false
  counts = {}
}

function step(name) {
  const { log, at, code, signal, write, swap, always, lasting } = faults
  count++
  if (log) appendFileSync(log, `${name}\n`)
  counts[name] = (counts[name] ?? 0) + 1
  const isLasting = lasting[name] !== undefined && counts[name] >= lasting[name].from
  const error = always[name] ?? (count === at ? code : undefined) ?? (isLasting ? lasting[name].code : undefined)
  if (count === at && signal) process.kill(process.pid, signal)
  // What comes between the last look at a file and its replacement, nobody can see. The command reads its files in parallel, so another
  // run of it may close one where this one reads: then the write comes with the next call.
  if (count >= at && write && !hasWritten && !['rename', 'handle.close'].includes(name)) {
    hasWritten = true
    writeFileSync(write.path, write.content)
  }
  if (count === at && swap) SWAPS[swap.kind](swap.path, swap.other)
  return error && Object.assign(new Error(`${error}: a fault of the test, ${name}`), { code: error })
}

/** What another user may do who owns the folder. */
const SWAPS = {
  link: (path, other) => {
    fs.rmSync(path)
    fs.symlinkSync(other, path)
  },
  'second name': (path, other) => {
    fs.rmSync(path)
    fs.linkSync(other, path)
  },
  pipe: (path) => {
    fs.rmSync(path)
    require('node:child_process').execFileSync('mkfifo', [path])
  },
  folder: (path, other) => {
    fs.renameSync(dirname(path), `${dirname(path)}.away`)
    fs.symlinkSync(dirname(other), dirname(path))
  },
}

const isOurs = (path) => faults !== undefined && typeof path === 'string' && resolve(path).startsWith(faults.folder)

for (const name of ['stat', 'readFile']) {
  const real = fs[name]
  fs[name] = (path, ...rest) => {
    const error = isOurs(path) ? step(name) : undefined
    return error ? rest.at(-1)(error) : real(path, ...rest)
  }
}
for (const name of ['access', 'link', 'lstat', 'open', 'readdir', 'realpath', 'rename', 'rm', 'stat']) {
  const real = promises[name]
  promises[name] = async (path, ...rest) => {
    const error = isOurs(path) ? step(name) : undefined
    if (error) throw error
    const result = await real(path, ...rest)
    if (name === 'open' && isOurs(path)) withFaults(result)
    return result
  }
}

/** Gives the calls of an open file their faults, until those end: another run of the command has faults of its own. */
function withFaults(handle) {
  const own = faults
  for (const name of ['chmod', 'chown', 'close', 'read', 'stat', 'sync', 'truncate', 'writeFile']) {
    const real = handle[name].bind(handle)
    handle[name] = async (...args) => {
      const error = own === faults ? step(`handle.${name}`) : undefined
      // What fails in closing is closed all the same.
      if (error && name === 'close') await real(...args)
      if (error) throw error
      return real(...args)
    }
  }
}

setFaults(process.env.GRANTWELL_FAULTS && JSON.parse(process.env.GRANTWELL_FAULTS))
module.exports = setFaults
