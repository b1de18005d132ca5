// The codecs that are compared, each made from proto/metadata.proto and with the same few functions.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createFileRegistry, fromBinary, toBinary, toJson } from '@bufbuild/protobuf'
import { fromText, toText } from '@bufbuild/protobuf/txtpb'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { formatText, MetaData, parseText } from 'grantwell/metadata'
import { PbfReader, PbfWriter } from 'pbf'
import protobufjs from 'protobufjs'
import textformat from 'protobufjs/ext/textformat.js'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const schema = `${root}proto/metadata.proto`
/** Within the project, so that what is made there finds its packages. */
const made = `${root}temp/bench/`

export async function contestantsOf() {
  mkdirSync(made, { recursive: true })
  return {
    grantwell: {
      decode: (bytes) => MetaData.decode(bytes),
      encode: (message) => MetaData.encode(message),
      parse: (text) => parseText(text),
      print: (message) => formatText(message),
      json: (message) => MetaData.toJSON(message),
    },
    '@bufbuild/protobuf': bufbuild(),
    'protobufjs, compiled from reflection': reflected(),
    'pbf, compiled': await pbf(),
    'ts-proto, bare': await tsProto(),
  }
}

function bufbuild() {
  run('buf', ['build', `${root}proto`, '-o', `${made}metadata.binpb`])
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(`${made}metadata.binpb`))
  const type = createFileRegistry(set).getMessage('external_updater.MetaData')
  return {
    decode: (bytes) => fromBinary(type, bytes),
    encode: (message) => toBinary(type, message),
    parse: (text) => fromText(type, text),
    print: (message) => toText(type, message),
    json: (message) => toJson(type, message),
  }
}

/** Its functions are made at the first call, and are those that `pbjs --target static-module` writes into a file. */
function reflected() {
  const type = protobufjs.loadSync(schema).lookupType('external_updater.MetaData')
  return {
    decode: (bytes) => type.decode(bytes),
    encode: (message) => type.encode(message).finish(),
    parse: (text) => textformat.fromText(type, text),
    print: (message) => textformat.toText(type, message),
    json: (message) => type.toObject(message, { enums: String }),
  }
}

async function pbf() {
  writeFileSync(`${made}pbf.mjs`, run('pbf', [schema]))
  const { readMetaData, writeMetaData } = await import(`${made}pbf.mjs`)
  return {
    decode: (bytes) => {
      const reader = new PbfReader(bytes)
      return readMetaData(reader, reader.length)
    },
    encode: (message) => {
      const writer = new PbfWriter()
      writeMetaData(message, writer)
      return writer.finish()
    },
    // It has no JSON of its own; what it read, grantwell reads from what it wrote.
    json: (message) => {
      const writer = new PbfWriter()
      writeMetaData(message, writer)
      return MetaData.toJSON(MetaData.decode(writer.finish()))
    },
  }
}

/** What grantwell stands on, with none of its checks: for information. */
async function tsProto() {
  const source = readFileSync(`${root}src/metadata/generated/metadata.ts`, 'utf8')
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  })
  writeFileSync(`${made}ts-proto.mjs`, outputText)
  const { MetaData: generated } = await import(`${made}ts-proto.mjs`)
  return {
    decode: (bytes) => generated.decode(bytes),
    encode: (message) => generated.encode(message).finish(),
    json: (message) => generated.toJSON(message),
  }
}

/** @returns what a command of this project's packages prints */
function run(command, args) {
  return execFileSync(`${root}node_modules/.bin/${command}`, args, { encoding: 'utf8' })
}
