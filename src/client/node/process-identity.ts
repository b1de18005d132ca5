/**
 * Names of this machine and its processes, to find out whether a process that left a file behind is still running.
 * @module
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from './private-file.js'

/**
 * Returns a name of this machine. It includes the PID namespace, since containers may share a host name and a folder, but not
 * their processes. On Linux it also includes the boot ID, since copies of one virtual machine may share a host name and the
 * number of the namespace.
 */
export function machineName(): string {
  const host = hostname().replace(/[^\w.-]/g, '_')
  const boot = readWord(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'))
  return `${host.slice(0, 100)} ${readWord(() => readlinkSync('/proc/self/ns/pid'))} ${boot}`
}

/** Reads one word that the system gives; `-` if it gives none. */
function readWord(read: () => string): string {
  try {
    const text = read().trim()
    return /^[\w:[\]-]{1,64}$/.test(text) ? text : '-'
  } catch {
    return '-'
  }
}

/** Checks whether no process of this machine has a number any more. */
export function isEnded(pid: string): boolean {
  if (!/^[1-9]\d{0,9}$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}
