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

const COMMENT = /<!--[\s\S]*?-->/g
const TAG = /<(\/?)([a-z][\w-]*)((?:[^"'>]|"[^"]*"|'[^']*')*)>/gi
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

/** Reads a document. */
export function readDocument(html: string): PageDocument {
  const names = new Set<string>()
  const forms: (Form & { readonly id: string | undefined; readonly controls: Control[] })[] = []
  const elsewhere: (readonly [form: string, control: Control])[] = []
  const links: string[] = []
  let isInForm = false
  let list = ''
  const plain = html.replace(COMMENT, '')
  for (const [, closing, given = '', rest = ''] of plain.matchAll(TAG)) {
    const name = given.toLowerCase()
    const attributes = closing === '' ? attributesOf(rest) : new Map<string, string>()
    for (const each of [name, ...attributes.keys()]) names.add(each)
    if (name === 'form') {
      isInForm = closing === ''
      if (isInForm) {
        const method = (attributes.get('method') ?? 'get').toLowerCase()
        forms.push({ id: attributes.get('id'), method, action: attributes.get('action') ?? '', controls: [] })
      }
    }
    if (closing !== '') continue
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
    text: decode(plain.replace(TAG, ' ')),
  }
}
