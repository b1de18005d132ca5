import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { fromBinary } from '@bufbuild/protobuf'
import {
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { describeField, MetaData } from 'grantwell/metadata'
import { beforeAll, describe, expect, it } from 'vitest'
import { ENUMS, type MessageType, MetaDataSchema } from '../../src/metadata/schema/schema.js'
import { SPECIFICATION } from './specification.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const buf = (args: readonly string[], cwd = ROOT) =>
  run(process.execPath, [join(ROOT, 'node_modules/@bufbuild/buf/bin/buf'), ...args], {
    cwd,
    env: { ...process.env, PATH: `${ROOT}node_modules/.bin:${process.env['PATH']}` },
  })

const EXPECTED = [...SPECIFICATION].sort()

describe('the schema', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'grantwell-schema-'))
    return () => rm(folder, { recursive: true })
  })

  it('in proto/metadata.proto is that of the specification, with one default', async () => {
    const file = join(folder, 'descriptors.binpb')
    await buf(['build', 'proto', '-o', file])
    const [proto] = fromBinary(FileDescriptorSetSchema, await readFile(file)).file
    expect(proto).toMatchObject({ package: 'external_updater', syntax: '' })
    const messages = proto?.messageType ?? []
    const enums: [string, EnumDescriptorProto][] = [
      ...(proto?.enumType.map((type): [string, EnumDescriptorProto] => [type.name, type]) ?? []),
      ...messages.flatMap(({ name, enumType }) =>
        enumType.map((type): [string, EnumDescriptorProto] => [`${name}.${type.name}`, type]),
      ),
    ]
    const lines = [
      ...messages.flatMap(({ name, field }) => field.map((one) => `${name}.${one.name} ${one.number} ${typeOf(one)}`)),
      ...enums.map(([name, { value }]) => `${name} ${value.map((one) => `${one.name}=${one.number}`).join(' ')}`),
    ]
    expect(lines.sort()).toEqual(EXPECTED)
    const defaults = messages.flatMap(({ field }) => field.filter(({ defaultValue }) => defaultValue !== ''))
    expect(defaults.map(({ name, defaultValue }) => [name, defaultValue])).toEqual([['type', 'PACKAGE']])
  })

  it('in the tables of the codec is that of the specification', () => {
    const types = new Set<MessageType>()
    const visit = (type: MessageType): void => {
      types.add(type)
      for (const field of type.fields) if (field.kind === 'message') visit(field.type)
    }
    visit(MetaDataSchema)
    const lines = [...types].flatMap(({ name, fields }) =>
      fields.map((field) => {
        const type = field.kind === 'message' ? field.type.name : field.kind === 'enum' ? field.enum.name : field.kind
        return `${name}.${field.name} ${field.number} ${field.repeated ? 'repeated ' : ''}${type}`
      }),
    )
    const enums = ENUMS.map(({ name, numbers }) => `${name} ${[...numbers].map((one) => one.join('=')).join(' ')}`)
    expect([...lines, ...enums].sort()).toEqual(EXPECTED)
    for (const { fields } of types)
      expect(fields.map(({ number }) => number)).toEqual(fields.map(({ number }) => number).sort((a, b) => a - b))
  })

  it('makes the generated file as it is committed', async () => {
    const template = (await readFile(join(ROOT, 'proto/buf.gen.yaml'), 'utf8')).replace(
      /out: .*/,
      `out: ${folder}/generated`,
    )
    await buf(['generate', 'proto', '--template', template])
    expect(await readdir(join(folder, 'generated'))).toEqual(await readdir(join(ROOT, 'src/metadata/generated')))
    expect(await readFile(join(folder, 'generated/metadata.ts'), 'utf8')).toBe(
      await readFile(join(ROOT, 'src/metadata/generated/metadata.ts'), 'utf8'),
    )
  })

  it('makes messages with the fields that the generated code gives them', async () => {
    const generated = await import('../../src/metadata/generated/metadata.js')
    const full = { thirdParty: { url: [{}], security: {}, lastUpgradeDate: {} } }
    const withoutUnknown = JSON.stringify(generated.MetaData.fromPartial(full), (key, value) =>
      key === '_unknownFields' ? undefined : value === undefined ? null : value,
    )
    expect(JSON.stringify(MetaData.create(full), (_, value) => (value === undefined ? null : value))).toBe(
      withoutUnknown,
    )
  })

  it('is there for programs to ask', () => {
    expect(describeField('name')).toEqual({ kind: 'string', repeated: false })
    expect(describeField('third_party.url')).toEqual({ kind: 'message', repeated: true, message: 'URL' })
    expect(describeField('third_party.url[3].type')?.values).toContain('GIT')
    expect(describeField('third_party.last_upgrade_date.year')).toEqual({ kind: 'int32', repeated: false })
    expect(describeField('third_party.identifier[0].version')).toBeUndefined()
    expect(describeField('name.first')).toBeUndefined()
  })
})

function typeOf({ type, typeName, label }: FieldDescriptorProto): string {
  const scalar = { [FieldDescriptorProto_Type.STRING]: 'string', [FieldDescriptorProto_Type.INT32]: 'int32' }
  const name =
    typeName === '' ? scalar[type as FieldDescriptorProto_Type.STRING] : typeName.replace('.external_updater.', '')
  return (label === FieldDescriptorProto_Label.REPEATED ? 'repeated ' : '') + name
}
