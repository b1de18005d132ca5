/**
 * The forms, links and words of an HTML document, as far as the check of pages needs them. It reads tags, and is no whole parser.
 * @module
 */

/** A tag that opens an element. */
interface Tag {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
}

/** A control of a form: a field or a button. */
export interface Control {
  readonly name: string
  readonly value: string
  /** True for a hidden field. */
  readonly hidden: boolean
}

/** A form with its controls. */
export interface Form {
  readonly method: string
  readonly action: string
  readonly controls: readonly Control[]
}

/** A document that was read. */
export interface PageDocument {
  /** True if it begins with `<!doctype html>`. */
  readonly hasDoctype: boolean
  /** The names of all elements and attributes. */
  readonly names: ReadonlySet<string>
  readonly forms: readonly Form[]
  /** The addresses of the links. */
  readonly links: readonly string[]
  /** The words outside of tags. */
  readonly text: string
}

const TAG_NAME = /<(\/?)([a-z][\w-]*)/iy
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g
const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** Replaces the references that engines write when they escape. */
function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(ATTRIBUTE)].map(([, name = '', quoted, single, bare]) => [
      name.toLowerCase(),
      decode(quoted ?? single ?? bare ?? ''),
    ]),
  )
}

/** Returns the control that a tag is: an option of a list counts with the name of the list. */
function controlOf({ name, attributes }: Tag, list: string): Control | undefined {
  if (name !== 'input' && name !== 'button' && name !== 'select' && name !== 'option' && name !== 'textarea')
    return undefined
  return {
    name: name === 'option' ? list : (attributes.get('name') ?? ''),
    value: attributes.get('value') ?? '',
    hidden: attributes.get('type')?.toLowerCase() === 'hidden',
  }
}

/** Removes comments; one that does not end is the rest of the document. */
function withoutComments(html: string): string {
  let plain = ''
  for (let from = 0; ; ) {
    const start = html.indexOf('<!--', from)
    if (start === -1) return plain + html.slice(from)
    plain += html.slice(from, start)
    const end = html.indexOf('-->', start + 4)
    if (end === -1) return plain
    from = end + 3
  }
}

/** A tag as it stands in a document, from its `<` to behind its `>`. */
interface TagFound {
  readonly isClosing: boolean
  readonly name: string
  readonly attributes: string
  readonly start: number
  readonly end: number
}

/** Finds the tags one after the other, each character once: a regular expression for a whole tag would take the square of the time. */
function* tagsOf(html: string): Generator<TagFound> {
  for (let start = html.indexOf('<'); start !== -1; ) {
    TAG_NAME.lastIndex = start
    const [opened = '', slash, name = ''] = TAG_NAME.exec(html) ?? []
    const from = start + Math.max(1, opened.length)
    const end = opened === '' ? from : endOfTag(html, from)
    // The rest of the document is in this tag.
    if (end === -1) return
    if (opened !== '')
      yield {
        isClosing: slash !== '',
        name: name.toLowerCase(),
        attributes: html.slice(from, end - 1),
        start,
        end,
      }
    start = html.indexOf('<', end)
  }
}

/** Returns the place behind the `>` that ends a tag, outside of quotes; -1 where there is none. */
function endOfTag(html: string, from: number): number {
  const stops = /["'>]/g
  stops.lastIndex = from
  for (let stop = stops.exec(html); stop !== null; stop = stops.exec(html)) {
    if (stop[0] === '>') return stops.lastIndex
    const close = html.indexOf(stop[0], stops.lastIndex)
    if (close === -1) return -1
    stops.lastIndex = close + 1
  }
  return -1
}

/** Reads a document. */
export function readDocument(html: string): PageDocument {
  const names = new Set<string>()
  const forms: (Form & { readonly id: string | undefined; readonly controls: Control[] })[] = []
  const elsewhere: (readonly [form: string, control: Control])[] = []
  const links: string[] = []
  let isInForm = false
  let list = ''
  let words = ''
  let read = 0
  const plain = withoutComments(html)
  for (const { isClosing, name, attributes: given, start, end } of tagsOf(plain)) {
    words += `${plain.slice(read, start)} `
    read = end
    const attributes = isClosing ? new Map<string, string>() : attributesOf(given)
    for (const each of [name, ...attributes.keys()]) names.add(each)
    if (name === 'form') {
      isInForm = !isClosing
      if (isInForm) {
        const method = (attributes.get('method') ?? 'get').toLowerCase()
        forms.push({ id: attributes.get('id'), method, action: attributes.get('action') ?? '', controls: [] })
      }
    }
    if (isClosing) continue
    if (name === 'select') list = attributes.get('name') ?? ''
    if (name === 'a') links.push(attributes.get('href') ?? '')
    const control = controlOf({ name, attributes }, list)
    const owner = attributes.get('form')
    if (control === undefined) continue
    if (owner !== undefined) elsewhere.push([owner, control])
    else if (isInForm) forms.at(-1)?.controls.push(control)
  }
  // The form may come after the control that names it.
  for (const [owner, control] of elsewhere) forms.find(({ id }) => id === owner)?.controls.push(control)
  return {
    hasDoctype: /^\uFEFF?\s*<!doctype html/i.test(plain),
    names,
    forms,
    links,
    text: decode(words + plain.slice(read)),
  }
}
