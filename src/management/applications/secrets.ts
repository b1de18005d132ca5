/**
 * Suspends and reinstates applications, and gives them new secrets.
 * @module
 */

import { encodeBase64url } from '../../core/credentials/base64url.js'
import { CLIENT_SECRET_PREFIX, SECRET_BYTES } from '../../core/credentials/credential.js'
import { digestOf } from '../../core/credentials/digests.js'
import { passwordHashKind } from '../../core/credentials/imported-secret.js'
import { checkArgument, readStrictOptions } from '../../core/options.js'
import type { Takes } from '../../core/takes.js'
import { isTaken, NAME, seconds, TEXT } from '../../core/takes.js'
import type { Seconds } from '../../core/values.js'
import { parseClientId } from '../../core/values.js'
import type { ActedBy } from '../arguments.js'
import { ACTED_BY } from '../arguments.js'
import type { Applications } from './interface.js'
import type { ApplicationContext } from './records.js'
import { applyCommands } from './records.js'

const SECRET_OVERLAP: Seconds = 86_400

const VISIBLE = /^[\x21-\x7e]{24,255}$/

/** A secret that a host or an application made. */
export const SECRET: Takes = {
  words: '24 to 255 visible ASCII characters, and not the hash of a password',
  fits: (value) => isTaken(NAME, value) && VISIBLE.test(String(value)) && passwordHashKind(String(value)) === undefined,
  secret: true,
}

/** Creates the functions that suspend an application, reinstate it and rotate its secret. */
export function createSecretFunctions(
  context: ApplicationContext,
): Pick<Applications, 'suspend' | 'reinstate' | 'rotateSecret'> {
  return {
    suspend: async (id, options = {}) => {
      checkArgument('applications.suspend', 'clientId', TEXT, id)
      const by = readStrictOptions<ActedBy>('applications.suspend', options, ACTED_BY)
      await applyCommands(context, parseClientId(id), by, { type: 'suspend' })
    },

    reinstate: async (id, options = {}) => {
      checkArgument('applications.reinstate', 'clientId', TEXT, id)
      const by = readStrictOptions<ActedBy>('applications.reinstate', options, ACTED_BY)
      await applyCommands(context, parseClientId(id), by, { type: 'reinstate' })
    },

    rotateSecret: async (id, options = {}) => {
      const of = 'applications.rotateSecret'
      checkArgument(of, 'id', TEXT, id)
      const takes = { overlap: seconds(0, 365 * 86_400), clientSecret: SECRET, ...ACTED_BY }
      const given = readStrictOptions<{ overlap?: Seconds; clientSecret?: string } & ActedBy>(of, options, takes)
      const { overlap = SECRET_OVERLAP, clientSecret = createSecret(context) } = given
      const secretDigest = digestOf(context.settings.digests, clientSecret)
      const command = { type: 'rotate_secret', secretDigest, overlap } as const
      const { after } = await applyCommands(context, parseClientId(id), given, command)
      return { clientId: after.id, clientSecret }
    },
  }
}

/** Creates a random client secret. */
export function createSecret({ settings }: Pick<ApplicationContext, 'settings'>): string {
  return CLIENT_SECRET_PREFIX + encodeBase64url(settings.entropy(SECRET_BYTES))
}
