/**
 * The sources can be read: no docstring is a riddle, and no file, function or folder is too long.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { faultsOfFolders, faultsOfSource } from './readability.js'

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))

/** Finds the faults of a file, each with its path. */
function faultsOf(file: string): readonly string[] {
  const text = readFileSync(join(SOURCES, file), 'utf8')
  return faultsOfSource(text, file.startsWith('metadata/generated/')).map((fault) => `${file}: ${fault}`)
}

describe('the sources', () => {
  it('have files and functions that are not too long, and docstrings that are no riddles', () => {
    expect(files.flatMap(faultsOf)).toEqual([])
  })

  it('have folders that are not too long', () => {
    expect([...faultsOfFolders(files)]).toEqual([])
  })
})

describe('the check', () => {
  it.each([
    ['a constant', '/** What it is. */\nexport const a = 1', ['line 1: a docstring begins with What']],
    ['a module', '/**\n * How it is.\n * @module\n */\nimport a from "a"', ['line 1: a docstring begins with How']],
    [
      'a field',
      'interface A {\n  /** Where it is. */\n  readonly a: string\n}',
      ['line 2: a docstring begins with Where'],
    ],
    ['a choice', 'type A =\n  | "a"\n  /** The same. */\n  | "b"', ['line 3: a docstring begins with The same']],
    ['a text', '/** Whether. */\nfunction a(): string { return "" }', ['line 1: a docstring begins with Whether']],
    ['a boolean', '/** Whether it is. */\nfunction a(): boolean { return true }', []],
    ['a predicate', '/** Whether it is. */\nconst a = (b: unknown): b is string => true', []],
    ['a boolean field', 'interface A {\n  /** Whether it is. */\n  readonly a?: boolean\n}', []],
    ['another word', '/** Whatever it is. */\nexport const a = 1', []],
    ['a comment', '// What it is.\nexport const a = 1', []],
    ['a function of 60 lines', `const a = () => {\n${'\n'.repeat(58)}}`, []],
    ['a function of 61 lines', `const a = () => {\n${'\n'.repeat(59)}}`, ['line 1: a function of 61 lines']],
    ['a file of 300 lines', `${'\n'.repeat(299)}const a = 1\n`, []],
    ['a file of 301 lines', `${'\n'.repeat(300)}const a = 1\n`, ['has 301 lines']],
  ])('finds the faults of %s, and no others', (_, text, faults) => {
    expect(faultsOfSource(text)).toEqual(faults)
  })

  it('lets generated code be long, and its docstrings be no riddles', () => {
    const text = `/** What it is. */\nexport const a = 1${'\n'.repeat(300)}const b = 1\n`
    expect(faultsOfSource(text, true)).toEqual(['line 1: a docstring begins with What'])
  })

  it('counts the files of each folder alone', () => {
    const names = Array.from({ length: 13 }, (_, index) => `${index}.ts`)
    const paths = [...names.map((name) => `a/${name}`), ...names.slice(1).map((name) => `a/b/${name}`)]
    expect([...faultsOfFolders(paths)]).toEqual([['a', 'has 13 files']])
  })
})
