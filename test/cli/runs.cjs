/**
 * Runs the command as often as it is asked to, each time from its first line on, in one process: a start of Node takes many times as long
 * as all that the command does. Each message names the arguments, the folder and the faults; the answer is how the command ended.
 */
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname } = require('node:path')
const { Script } = require('node:vm')
const setFaults = require('./faults.cjs')

const [, , bin] = process.argv
const text = readFileSync(bin, 'utf8').replace(/^#!.*/, '')
const wrapped = `(function (exports, require, module, __filename, __dirname) {${text}\n})`
const begin = new Script(wrapped, { filename: bin }).runInThisContext()

process.on('message', ({ args, folder, faults }) => {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    process[name].write = (chunk, ...rest) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')
      const done = rest.at(-1)
      if (typeof done === 'function') process.nextTick(done)
      return true
    }
  process.exit = (code = process.exitCode ?? 0) => {
    setFaults(undefined)
    for (const name of ['stdout', 'stderr']) process[name].removeAllListeners('error')
    process.exit = () => {}
    process.exitCode = undefined
    process.send({ code, ...said })
  }
  process.argv = [process.execPath, bin, ...args]
  process.chdir(folder)
  setFaults(faults)
  begin({}, createRequire(bin), { exports: {} }, bin, dirname(bin))
})
