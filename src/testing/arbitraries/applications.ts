/**
 * Applications in every state that can be reached: random commands applied by the transitions, while time passes.
 * @module
 */
import * as fc from 'fast-check'
import type { Application, ApplicationDetails } from '../../core/application/application.js'
import type { ApplicationCommand } from '../../core/application/life/commands.js'
import type { Registration } from '../../core/application/registration.js'
import { checkRegistration } from '../../core/application/registration-check.js'
import { transitionApplication } from '../../core/application/transition.js'
import { digestOf, portableDigests } from '../../core/credentials/digests.js'
import type { ScopeCatalogue } from '../../core/scopes.js'
import type { ClientId, Digest, Seconds } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import { START } from './grants.js'
import { usually } from './usually.js'

/** An application, with every secret that it was given. */
export interface ReachedApplication {
  /** The application as it is. */
  readonly application: Application
  /** Seconds since the epoch. */
  readonly now: Seconds
  /** Oldest first, those that no longer work included; none for a public client. */
  readonly clientSecrets: readonly string[]
}

/** One event in the life of an application, so many seconds after the last one. */
type Step = { readonly seconds: Seconds } & (
  | { readonly do: 'approve'; readonly outdated: boolean }
  | { readonly do: 'change'; readonly details: ApplicationDetails }
  | { readonly do: 'reject' | 'suspend' | 'reinstate' }
  | { readonly do: 'rotate_secret'; readonly overlap: Seconds }
)

/** Makes an arbitrary of applications with registrations of another one. */
export function applications(
  registrations: fc.Arbitrary<Registration>,
  catalogue: ScopeCatalogue,
  clientId: string,
): fc.Arbitrary<ReachedApplication> {
  const id = parseClientId(clientId)
  if (id === undefined) throw new TypeError('a client identifier has 1 to 255 printable ASCII characters')
  const details = registrations.map((registration) => detailsOf(registration, catalogue))
  return fc
    .record({
      submitted: details,
      applicant: fc.constantFrom(undefined, 'ada'),
      steps: fc.array(stepWith(details), { maxLength: 10, size: 'max' }),
    })
    .map(({ submitted, applicant, steps }) => {
      const submit = { type: 'submit', id, details: submitted, ...(applicant !== undefined && { applicant }) } as const
      return reach(id, submit, steps, catalogue)
    })
}

function stepWith(details: fc.Arbitrary<ApplicationDetails>): fc.Arbitrary<Step> {
  const seconds = fc.constantFrom(0, 1, 3600, 86_400)
  const outdated = usually(false, fc.constant(true), 6)
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('approve' as const), outdated, seconds }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('change' as const), details, seconds }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('reject' as const), seconds }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('suspend' as const, 'reinstate' as const), seconds }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('rotate_secret' as const), overlap: seconds, seconds }) },
  )
}

/** Submits an application, and applies all steps to it. */
function reach(
  id: ClientId,
  submit: ApplicationCommand,
  steps: readonly Step[],
  catalogue: ScopeCatalogue,
): ReachedApplication {
  let now = START
  let application = apply(undefined, submit, now)
  const clientSecrets: string[] = []
  for (const step of steps) {
    now += step.seconds
    const clientSecret = `a-secret-of-${id}-number-${clientSecrets.length + 1}`
    const secretDigest = digestOf(portableDigests, clientSecret)
    application = apply(application, commandOf(step, application?.revision ?? 0, secretDigest, catalogue), now)
    if (JSON.stringify(application).includes(secretDigest)) clientSecrets.push(clientSecret)
  }
  if (application === undefined) throw new Error('an application that could not begin')
  return { application, now, clientSecrets }
}

function apply(before: Application | undefined, command: ApplicationCommand, now: Seconds): Application | undefined {
  const outcome = transitionApplication(before, command, now)
  return outcome.type === 'done' ? outcome.application : before
}

/** Makes the command of a step. */
function commandOf(step: Step, revision: number, secretDigest: Digest, catalogue: ScopeCatalogue): ApplicationCommand {
  switch (step.do) {
    case 'approve':
      return { type: 'approve', revision: step.outdated ? revision - 1 : revision, secretDigest, catalogue }
    case 'reject':
      return { type: 'reject', revision, reason: 'Not needed.' }
    case 'rotate_secret':
      return { type: 'rotate_secret', secretDigest, overlap: step.overlap }
    case 'change':
      return { type: 'change', details: step.details }
    default:
      return { type: step.do }
  }
}

function detailsOf(registration: Registration, catalogue: ScopeCatalogue): ApplicationDetails {
  const checked = checkRegistration(registration, {
    scopes: catalogue,
    redirect: { matching: 'domain', allowLocalhost: false },
    specifiedResources: true,
    macTokens: false,
    reasons: 'optional',
    logo: 'required',
    redirectUris: 'required',
  })
  if (checked.type === 'faults') throw new Error(`not a sound registration: ${JSON.stringify(checked.faults)}`)
  return { ...checked.details, logo: 'logo' }
}
