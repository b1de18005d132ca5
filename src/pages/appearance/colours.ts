/**
 * The colours of the pages in the light and in the dark, and whether each pair of them can be read.
 * @module
 * @see WCAG 2.2, success criteria 1.4.3 and 1.4.11, and its definition of contrast ratio
 */

import { ownModel } from '../fragments.js'

/** The name of a colour: `primary` is that of the stylesheet's custom property `--primary`. */
export type ColourName =
  | 'page'
  | 'card'
  | 'text'
  | 'muted'
  | 'line'
  | 'control'
  | 'link'
  | 'primary'
  | 'primary-hover'
  | 'on-primary'
  | 'secondary'
  | 'secondary-hover'
  | 'change'
  | 'fault'
  | 'fault-page'

/** Some colours, each as `#rgb` or `#rrggbb`. */
export type Colours = { readonly [Name in ColourName]?: string }

/** The colours of the pages, in the light and in the dark. What is left out has its default. */
export interface ColourSchemes {
  /** The colours where the browser asks for a light page, or for none. */
  readonly light?: Colours
  /** The colours where the browser asks for a dark page. */
  readonly dark?: Colours
}

type Scheme = Readonly<Record<ColourName, string>>

const LIGHT: Scheme = {
  page: '#f3f5f7',
  card: '#ffffff',
  text: '#1c2128',
  muted: '#57606a',
  line: '#d3d9df',
  control: '#7b858f',
  link: '#0b57c2',
  primary: '#17693a',
  'primary-hover': '#0f5530',
  'on-primary': '#ffffff',
  secondary: '#f6f8fa',
  'secondary-hover': '#e9edf1',
  change: '#8a4600',
  fault: '#a01c26',
  'fault-page': '#fdf0f0',
}

const DARK: Scheme = {
  page: '#0d1117',
  card: '#161c24',
  text: '#e4e9ee',
  muted: '#9ba7b3',
  line: '#313a45',
  control: '#76828f',
  link: '#7db5ff',
  primary: '#23794a',
  'primary-hover': '#1d6b40',
  'on-primary': '#ffffff',
  secondary: '#222a34',
  'secondary-hover': '#2d3743',
  change: '#f0b160',
  fault: '#ff9a94',
  'fault-page': '#2c171a',
}

/** The names of all colours. */
export const COLOUR_NAMES: readonly ColourName[] = Object.keys(LIGHT) as ColourName[] // its own keys

/** Pairs of which one is read on the other, with the contrast that they need. */
const PAIRS: readonly (readonly [above: ColourName, below: ColourName, least: number])[] = [
  ['text', 'page', 4.5],
  ['text', 'card', 4.5],
  ['text', 'secondary', 4.5],
  ['text', 'secondary-hover', 4.5],
  ['muted', 'page', 4.5],
  ['muted', 'card', 4.5],
  ['link', 'page', 4.5],
  ['link', 'card', 4.5],
  ['on-primary', 'primary', 4.5],
  ['on-primary', 'primary-hover', 4.5],
  ['change', 'card', 4.5],
  ['fault', 'card', 4.5],
  ['fault', 'fault-page', 4.5],
  ['fault', 'secondary', 4.5],
  ['fault', 'secondary-hover', 4.5],
  // The edge of a field.
  ['control', 'card', 3],
]

/** A pair of colours that many people cannot tell apart. */
export interface FaintPair {
  readonly scheme: 'light' | 'dark'
  readonly above: ColourName
  readonly below: ColourName
  /** The contrast ratio, rounded down to two digits. */
  readonly contrast: number
  /** The contrast ratio that it needs. */
  readonly least: number
}

/** Writes the rules of all colours, those of a host among them. */
export function colourRules(schemes: ColourSchemes = {}): string {
  const { light, dark } = ownModel(schemes)
  return `:root {
  color-scheme: light dark;
${properties({ ...LIGHT, ...light })}
}

@media (prefers-color-scheme: dark) {
  :root {
${properties({ ...DARK, ...dark })}
  }
}
`
}

/** Finds the pairs of colours that are too faint. The default colours have none. */
export function faintPairs(schemes: ColourSchemes): readonly FaintPair[] {
  const { light, dark } = ownModel(schemes)
  return [...faintIn('light', { ...LIGHT, ...light }), ...faintIn('dark', { ...DARK, ...dark })]
}

function properties(scheme: Scheme): string {
  return COLOUR_NAMES.map((name) => `  --${name}: ${scheme[name]};`).join('\n')
}

function faintIn(scheme: FaintPair['scheme'], colours: Scheme): readonly FaintPair[] {
  return PAIRS.flatMap(([above, below, least]) => {
    const contrast = Math.floor(contrastOf(colours[above], colours[below]) * 100) / 100
    return contrast < least ? [{ scheme, above, below, contrast, least }] : []
  })
}

/** Returns the contrast ratio of two colours: 1 of equal ones, 21 of black and white. */
function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Returns the relative luminance of a colour, from 0 of black to 1 of white. */
function luminanceOf(colour: string): number {
  const digits = colour.slice(1)
  const width = digits.length / 3
  const [red = 0, green = 0, blue = 0] = [0, 1, 2].map((at) => {
    const part = digits.slice(at * width, (at + 1) * width)
    const share = Number.parseInt(part.repeat(2 / width), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
