/**
 * The transitions of an application, as pure functions of its record.
 *
 *     submit -> pending -> approved | rejected        approved <-> suspended        any but approved -> removed
 *
 * A client that registered itself takes the same way; `self-registered/` has what is special about it.
 *
 * The approved details are in force until a change is approved as well: a change waits in the record beside them.
 * @module
 * @see Specification, sections 1 and 2.1
 */
import type { Seconds } from '../values.js'
import type { Application } from './application.js'
import type { ApplicationCommand } from './life/commands.js'
import type { ApplicationOutcome } from './life/outcome.js'
import { done, refused } from './life/outcome.js'
import { approve, change, reject, submitted, withdraw } from './life/review.js'
import { move, remove, rotateSecret, setTerms, transfer, use } from './life/upkeep.js'

/**
 * Applies a command to an application: every command has an answer in every state, and none throws.
 * @param application - the record as it was read; undefined where there is none
 */
export function transitionApplication(
  application: Application | undefined,
  command: ApplicationCommand,
  now: Seconds,
): ApplicationOutcome {
  if (command.type === 'submit')
    return application === undefined ? done(submitted(command, now), 'submitted', now) : refused('exists')
  if (application === undefined) return refused('unknown')
  switch (command.type) {
    case 'change':
      return change(application, command, now)
    case 'approve':
      return approve(application, command, now)
    case 'use':
      return use(application, command)
    case 'reject':
      return reject(application, command, now)
    case 'withdraw':
      return withdraw(application, now)
    case 'transfer':
      return transfer(application, command, now)
    case 'set_terms':
      return setTerms(application, command, now)
    case 'delete':
      return remove(application, now)
    case 'suspend':
      return move(application, 'suspended', now)
    case 'reinstate':
      return move(application, 'approved', now)
    case 'rotate_secret':
      return rotateSecret(application, command, now)
  }
}
