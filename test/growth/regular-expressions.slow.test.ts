/**
 * Every regular expression of the sources takes a time that is linear in the text that it is held against, as the checker
 * recheck proves: most of them read what a stranger wrote.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'

const sources = fileURLToPath(new URL('../../src/', import.meta.url))

/** Expressions that are made while the program runs, by the code that makes them, with what they are then. */
const MADE = new Map([
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written there
  ['new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)', /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the same
  ['new RegExp(`\\\\s${name}="([^"]*)"`, \'i\')', /\sname="([^"]*)"/i],
])

const PRINTER = ts.createPrinter({ removeComments: true })
const UNSPECIFIED = ts.EmitHint.Unspecified

/** Lists each expression of a file, as it is written. */
function expressionsOf(file: string): readonly string[] {
  const text = readFileSync(join(sources, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text)
    const isMade = ts.isNewExpression(node) || ts.isCallExpression(node)
    // On one line, however it is formatted.
    if (isMade && node.expression.getText() === 'RegExp') found.push(PRINTER.printNode(UNSPECIFIED, node, source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function parsed(file: string, written: string): { readonly source: string; readonly flags: string } {
  const literal = /^\/(.*)\/([a-z]*)$/s.exec(written)
  if (literal === null) return MADE.get(written) ?? expect.fail(`what is ${written} of ${file}?`)
  return { source: literal[1] ?? '', flags: literal[2] ?? '' }
}

const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !file.startsWith('metadata/generated/'))

const expressions = new Map(files.map((file) => [file, expressionsOf(file)]))

/** Counts steps alone: a limit of time would find a slow machine. */
const BY_STEPS = { timeout: null, attackTimeout: null, incubationTimeout: null }

describe('regular expressions', () => {
  let check: typeof import('recheck').check
  beforeAll(async () => {
    // By its native program where npm has installed it, which takes a fifth of the time, and else in JavaScript.
    process.env['RECHECK_BACKEND'] = 'auto'
    check = (await import('recheck')).check
  })

  it('are found', () => {
    expect(expressions.get('protocol/parameters.ts')?.length).toBeGreaterThan(3)
    expect([...expressions.values()].flat().length).toBeGreaterThan(100)
  })

  it.each([
    [/^(a+)+$/, 'exponential'],
    [/^[ \t]*:?[ \t]*$/, 'polynomial'],
    [/ +$/, 'polynomial'],
  ])('%s would be found to be %s', async (expression, type) => {
    const found = await check(expression.source, expression.flags, BY_STEPS)
    expect(found).toMatchObject({ status: 'vulnerable', complexity: { type } })
  })

  it('are linear, each of them', async () => {
    const known = new Map<string, string>()
    const faults: string[] = []
    for (const [file, all] of expressions)
      for (const written of all) {
        const { source, flags } = parsed(file, written)
        const status = known.get(`${flags} ${source}`) ?? (await check(source, flags, BY_STEPS)).status
        known.set(`${flags} ${source}`, status)
        if (status !== 'safe') faults.push(`${file}: ${written} is ${status}`)
      }
    expect(faults).toEqual([])
  })
})
