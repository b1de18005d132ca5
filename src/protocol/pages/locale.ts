/**
 * The choice of a language: the tags that a reader asks for, and the language of ours that fits best.
 * @module
 * @see RFC 9110, section 12.5.4 (Accept-Language); RFC 4647, section 3.4 (lookup); OpenID Connect Core, section 3.1.2.1 (ui_locales)
 */

/** Tags that are read of a list; a browser sends a handful. */
const TAGS_READ = 16

/** Characters of a tag that is read: a language, a script, a region and some variants. */
const TAG_CHARACTERS = 35

/** Returns the tags of an `Accept-Language` header, those that are wanted most first. A tag with `q=0` is not wanted. */
export function acceptedTags(header: string): readonly string[] {
  return header
    .split(',', TAGS_READ)
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';')
      const weight = parameters.map((each) => each.trim()).find((each) => each.startsWith('q='))
      return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight.slice(2)) }
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

/** Returns the tags of a list that is separated by spaces, as `ui_locales` is. */
export function listedTags(text: string): readonly string[] {
  return text.split(' ', TAGS_READ).filter((tag) => tag !== '')
}

/** A language that there is, with what is compared of its tag. */
export interface KnownLanguage<Name extends string> {
  readonly name: Name
  readonly baseName: string
  /** Its language and script, be it written or understood. */
  readonly writing: string
  /** True for a tag without a region. */
  readonly isBare: boolean
}

/** Reads the tags of the languages that there are, once for many readers. What is no tag is left out. */
export function knownLanguages<Name extends string>(names: readonly Name[]): readonly KnownLanguage<Name>[] {
  return names.flatMap((name) => {
    const tag = readTag(name)
    if (tag === undefined) return []
    return [{ name, baseName: tag.baseName, writing: writingOf(tag), isBare: tag.region === undefined }]
  })
}

/** A language of ours that fits a tag. */
export interface FittingLanguage<Name extends string> {
  /** Its name among those that there are. */
  readonly language: Name
  /** The tag that was asked for, in its canonical form and without extensions: it tells how days and numbers are written. */
  readonly locale: string
}

/**
 * Finds the language for a reader: the first tag of which we have the language in the same script. `pt-BR` fits `pt`, and `zh-TW`, which
 * is written in another script, does not fit `zh-Hans`.
 * @param wanted - tags, those that are wanted most first; what is no tag is passed over
 */
export function fittingLanguage<Name extends string>(
  wanted: readonly string[],
  known: readonly KnownLanguage<Name>[],
): FittingLanguage<Name> | undefined {
  for (const each of wanted) {
    const tag = readTag(each)
    if (tag === undefined) continue
    const writing = writingOf(tag)
    const fitting = known.filter((language) => language.writing === writing)
    // The most exact one, where there are several: `pt-PT` before `pt`.
    const exact = fitting.find(({ baseName }) => baseName === tag.baseName)
    const found = exact ?? fitting.find(({ isBare }) => isBare) ?? fitting[0]
    if (found !== undefined) return { language: found.name, locale: tag.baseName }
  }
  return undefined
}

/** Reads a tag; undefined for anything else. */
export function readTag(tag: string): Intl.Locale | undefined {
  if (tag.length > TAG_CHARACTERS) return undefined
  try {
    return new Intl.Locale(tag)
  } catch {
    return undefined
  }
}

function writingOf(tag: Intl.Locale): string {
  const { language, script } = tag.maximize()
  return `${language}-${script}`
}
