/**
 * Questions to a parsed page.
 * @module
 */
import { type Node, parse } from 'parse5'

/** Every element of a document, in its order. */
export function elementsOf(document: string): readonly Node[] {
  return descendants(parse(document)).filter((node) => node.attrs !== undefined)
}

/** The document without what is written in it: element names, attribute names, nesting. */
export function skeletonOf(document: string): string {
  return skeleton(parse(document))
}

/** The first element of that name. */
export function element(document: string, name: string): Node {
  const found = elementsOf(document).find(({ nodeName }) => nodeName === name)
  if (found === undefined) throw new Error(`no <${name}>`)
  return found
}

/** Every text that an element holds, and the value of every attribute. */
export function contentsOf(document: string): {
  readonly texts: ReadonlySet<string>
  readonly attributes: ReadonlySet<string>
} {
  const nodes = elementsOf(document)
  return {
    texts: new Set(nodes.map(textOf)),
    attributes: new Set(nodes.flatMap(({ attrs }) => attrs?.map(({ value }) => value) ?? [])),
  }
}

/** A text as a parser gives it back: HTML cannot hold a NUL. */
export function asParsed(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

export function attribute(node: Node | undefined, name: string): string | undefined {
  return node?.attrs?.find((attribute) => attribute.name === name)?.value
}

export function textOf(node: Node): string {
  return descendants(node)
    .filter(({ nodeName }) => nodeName === '#text')
    .map(({ value }) => value)
    .join('')
}

function descendants(node: Node): readonly Node[] {
  return [node, ...(node.childNodes ?? []).flatMap(descendants)]
}

function skeleton({ nodeName, attrs = [], childNodes = [] }: Node): string {
  if (nodeName === '#text') return ''
  return `<${nodeName}${attrs.map(({ name }) => ` ${name}`).join('')}>${childNodes.map(skeleton).join('')}</>`
}
