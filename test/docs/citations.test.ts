/**
 * The rules in `docs/rules` have every section of the specification that a docstring of the sources cites.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url)

/** A place that a docstring cites: a number such as `4.2`, or the name of a message such as `MetaData`. */
interface Citation {
  readonly file: string
  readonly section: string
}

const NUMBER = String.raw`\d+(?:\.\d+)*`
const NUMBERS = `sections? (${NUMBER}(?:(?:, | and | to )${NUMBER})*)`

/** The ways in which docstrings cite. */
const CITATIONS = [
  new RegExp(String.raw`[Ss]pecification(?:, | \()${NUMBERS}`, 'g'),
  new RegExp(`${NUMBERS} of the specification`, 'g'),
  /[Ss]pecification, ([A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)?)/g,
]

/** Reads the files of a folder and of those within it whose names end so. */
function filesIn(folder: string, ending: string): readonly (readonly [file: string, text: string])[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => [name, readFileSync(new URL(`${folder}/${name}`, root), 'utf8')])
}

/** Finds the citations of a text. One may be broken over two lines of a comment. */
function citationsOf(file: string, text: string): readonly Citation[] {
  const joined = text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' ')
  return CITATIONS.flatMap((citation) => [...joined.matchAll(citation)])
    .flatMap(([, cited = '']) => cited.split(/, | and | to /))
    .map((section) => ({ file, section }))
}

const citations = filesIn('src', '.ts').flatMap(([file, text]) => citationsOf(file, text))

/** Headings with an anchor: the section or message, and the anchor. */
const headings = filesIn('docs/rules', '.md')
  .flatMap(([, text]) => [...text.matchAll(/^#{2,4} ([\w.]+)(?: [^{\n]*)? ?\{#([\w-]+)\}$/gm)])
  .map(([, section = '', anchor = '']) => ({ section, anchor }))

describe('citations of the specification', () => {
  it.each([
    ['@see Specification, section 4; RFC 8414, section 3.1', ['4']],
    ['@see RFC 6749, sections 5.1 and 5.2; specification, sections 2.3, 2.4 and 4.4', ['2.3', '2.4', '4.4']],
    ['by the\n * specification (section 4.2), so', ['4.2']],
    ['(specification,\n   * section 5.2).', ['5.2']],
    ['by section 3 of the specification, and', ['3']],
    ['(specification, URL.Type). (specification, ThirdPartyMetaData: `type`)', ['URL.Type', 'ThirdPartyMetaData']],
    ['(text format language specification, "String Literals")', []],
  ])('are found in %j', (text, sections) => {
    expect(citationsOf('', text).map(({ section }) => section)).toEqual(sections)
  })

  it('are found in the sources: of both specifications, and of every chapter that docstrings cite', () => {
    const cited = citations.map(({ section }) => section)
    expect(cited.length).toBeGreaterThan(50)
    expect(cited).toEqual(expect.arrayContaining(['1', '2.1', '3', '4.2', '5.3', '7', '8', 'MetaData', 'LicenseType']))
  })

  it('have each a heading in docs/rules', () => {
    const known = headings.map(({ section }) => section)
    expect(citations.filter(({ section }) => !known.includes(section))).toEqual([])
  })
})

describe('the headings of docs/rules', () => {
  it('have an anchor that follows from the section, and no section comes twice', () => {
    expect(headings.length).toBeGreaterThan(20)
    for (const { section, anchor } of headings) {
      const dashed = section.toLowerCase().replaceAll('.', '-')
      expect([section, anchor]).toEqual([section, /^\d/.test(section) ? `section-${dashed}` : dashed])
    }
    expect(new Set(headings.map(({ section }) => section)).size).toBe(headings.length)
  })
})
