/**
 * The commands and the output of the page "The command".
 * @module
 */
import { beforeAll, expect, it } from 'vitest'
import { build } from '../../test/built.js'
import { metadata, write } from '../../test/cli/command.js'

beforeAll(build)

const ZLIB = `# Kept by hand.
name: "zlib"
third_party {
  url { type: GIT value: "https://git.example/zlib" }  # the sources
  version: "1.3.1"
  license_type: NOTICE
  last_upgrade_date { year: 2024 month: 1 day: 22 }
}
`

it('shows, checks, changes and converts as the page says', () => {
  write('zlib/METADATA', ZLIB)
  write('bad.textproto', 'name: "y"\nthird_party {\n  url { type: GIT value: "github.com/x/y" }\n  version: "1"\n}\n')

  const checked = metadata(['check', '.'])
  expect(checked.code).toBe(1)
  expect(checked.stdout).toContain(
    'bad.textproto:3:19: error: third_party.url[0].value: "github.com/x/y" is no URL [invalid_url]\n',
  )
  expect(checked.stderr).toBe('2 records checked: 1 error, 2 warnings\n')

  expect(metadata(['show', 'zlib', 'bad.textproto']).stdout).toContain('zlib  1.3.1')

  const set = ['set', 'third_party.version=1.3.2', 'third_party.last_upgrade_date=2026-11-21']
  const { stdout } = metadata([...set, '--dry-run', 'zlib/METADATA'])
  expect(stdout).toContain(`-  version: "1.3.1"\n+  version: "1.3.2"\n`)
  expect(stdout).toContain('+  last_upgrade_date { year: 2026 month: 11 day: 21 }\n')
  expect(metadata([...set, 'zlib/METADATA']).code).toBe(0)
  expect(JSON.parse(metadata(['convert', '--to', 'json', 'zlib/METADATA']).stdout).thirdParty.version).toBe('1.3.2')
})

it('says what is wrong as the page says', () => {
  write('zlib/METADATA', ZLIB)
  write('new.textproto', 'name: "x" foo: 1\n')
  expect(metadata(['set', 'third_party.verison=1', 'zlib/METADATA'])).toMatchObject({
    code: 2,
    stderr:
      'zlib/METADATA: error: third_party.verison is neither in the schema nor in this file; --create-unknown makes it\n',
  })
  expect(metadata(['convert', '--to', 'binary', '-o', 'x.bin', 'new.textproto'])).toMatchObject({
    code: 1,
    stderr:
      'new.textproto: error: binary cannot hold foo, which the schema does not know; --drop-unknown leaves it out\n',
  })
  expect(metadata(['check', '--strict', 'new.textproto']).stdout).toBe(
    'new.textproto:1:11: error: MetaData has no field foo [unknown_field]\n',
  )
  expect(metadata(['check', 'nothing.textproto'])).toMatchObject({
    code: 2,
    stderr:
      'nothing.textproto: error: no such file or directory\n0 records checked: 0 errors, 0 warnings, 1 not read\n',
  })
  expect(metadata(['set', '--unset', 'third_party.nope', 'zlib/METADATA'])).toMatchObject({
    code: 0,
    stderr: 'zlib/METADATA: warning: third_party.nope is not there, so nothing of it is removed\n',
  })
})
