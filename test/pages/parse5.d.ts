/** The part of parse5 that the tests use: the version that other tools bring along has no types. */
declare module 'parse5' {
  export interface Node {
    readonly nodeName: string
    readonly value?: string
    readonly attrs?: readonly { readonly name: string; readonly value: string }[]
    readonly childNodes?: readonly Node[]
  }
  export function parse(html: string): Node
}
