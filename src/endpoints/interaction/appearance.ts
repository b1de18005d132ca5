/**
 * The option `appearance`, as the pages use it.
 * @module
 */
import { configurationError } from '../../core/errors.js'
import { readOptions } from '../../core/options.js'
import type { Takes, TakesOf } from '../../core/takes.js'
import { isObject } from '../../core/takes.js'
import { isLine, isVisible, isWithin } from '../../core/text.js'
import { parseUrl } from '../../core/url.js'
import { COLOUR_NAMES, faintPairs } from '../../pages/appearance/colours.js'
import type { Appearance, ColourSchemes, Colours } from '../../pages/index.js'
import type { Settings } from '../../shell/options/settings.js'

/** Browsers drop tabs and line ends from an address, and read `/\` as `//`, which another host follows. */
const OWN_PATH = /^\/(?![/\\])[\x21-\x7e]*$/

/** A font's name, with quotes at both ends or at none. */
const FONT_NAME = /^(?:'[\w -]+'|"[\w -]+"|[\w-][\w -]*)$/

const isText = (value: unknown): value is string => typeof value === 'string'
const isOwnPath = (value: unknown): boolean => isText(value) && OWN_PATH.test(value)

const LINK: Takes = {
  words: "a path such as '/help', or an https URL",
  fits: (value) =>
    isOwnPath(value) || (isText(value) && /^https:\/\/[\x21-\x7e]+$/.test(value) && parseUrl(value) !== undefined),
}

const TAKES: TakesOf<Appearance> = {
  name: {
    words: 'a line of 1 to 50 characters',
    fits: (value) => isText(value) && isVisible(value) && isWithin(value, 50) && isLine(value),
  },
  logo: { words: "the path of an image on this server, such as '/logo.svg'", fits: isOwnPath },
  colours: { words: 'an object with light, dark or both', fits: isObject },
  font: {
    words: 'names of fonts with commas between them',
    fits: (value) =>
      isText(value) && value.length <= 256 && value.split(',').every((name) => FONT_NAME.test(name.trim())),
  },
  homeUrl: LINK,
  helpUrl: LINK,
  termsUrl: LINK,
  privacyUrl: LINK,
}

const SCHEME: Takes = { words: 'an object with colours', fits: isObject }
const COLOUR: Takes = {
  words: 'a colour such as #17693a',
  fits: (value) => isText(value) && /^#(?:[\da-f]{3}){1,2}$/i.test(value),
}
// Every colour has a check: they are made of all names.
const COLOURS = Object.fromEntries(COLOUR_NAMES.map((name) => [name, COLOUR])) as unknown as TakesOf<Colours>

const PLACE = 'createAuthorizationServer, appearance'

/**
 * Reads the option. `onError` is told of what is wrong in it, and the pages then look as by default: they are more than their colours.
 * It is also told of colours that are too faint on each other.
 */
export function readAppearance({ appearance, onError }: Pick<Settings<never>, 'appearance' | 'onError'>): Appearance {
  try {
    const own = readOptions<Appearance>(PLACE, appearance, TAKES)
    if (own.name === undefined && (own.logo ?? own.homeUrl) !== undefined)
      throw configurationError(`${PLACE}: the option name must be given where logo or homeUrl is`)
    // Frozen, since every page of the host gets the same.
    if (own.colours === undefined) return Object.freeze(own)
    const colours = readColours(own.colours)
    for (const { scheme, above, below, contrast, least } of faintPairs(colours)) {
      const words = `${above} on ${below} has a contrast of ${contrast} in the ${scheme}; people need ${least}`
      onError(configurationError(`${PLACE}, colours: ${words} (WCAG 2.2, success criteria 1.4.3 and 1.4.11)`))
    }
    return Object.freeze(Object.assign(own, { colours: freezeAll(colours) }))
  } catch (error) {
    onError(error)
    return readOptions<Appearance>(PLACE, {}, TAKES)
  }
}

function readColours(given: ColourSchemes): ColourSchemes {
  const { light, dark } = readOptions<ColourSchemes>(`${PLACE}, colours`, given, { light: SCHEME, dark: SCHEME })
  return {
    ...(light !== undefined && { light: { ...readOptions<Colours>(`${PLACE}, colours, light`, light, COLOURS) } }),
    ...(dark !== undefined && { dark: { ...readOptions<Colours>(`${PLACE}, colours, dark`, dark, COLOURS) } }),
  }
}

function freezeAll(colours: ColourSchemes): ColourSchemes {
  for (const scheme of Object.values(colours)) Object.freeze(scheme)
  return Object.freeze(colours)
}
