/**
 * The reference implementation: protoc 3.21 and python3-protobuf 4.21 with its C++ backend, as Debian 12 has them.
 * protoc decides what is text and how text is printed, C++ (in either) what is binary, Python what is JSON.
 * @module
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TypeName } from './specification.js'

const PROTO = fileURLToPath(new URL('../../proto', import.meta.url))
const REFERENCE_PY = fileURLToPath(new URL('./reference.py', import.meta.url))

/** Another version has another opinion, on text above all. */
const PROTOC_VERSION = 'libprotoc 3.21.'
const PYTHON_VERSION = 'cpp 4.21.'
const PRINT_PYTHON_VERSION =
  'import google.protobuf as p; from google.protobuf.internal import api_implementation as a; print(a.Type(), p.__version__)'

export interface Programs {
  readonly protoc: string
  readonly python: string
}

/** Both programs, or undefined. `PROTOC_PATH` and `PYTHON_PATH` go before the usual places. */
export function findReference(): Programs | undefined {
  const find = (places: (string | undefined)[], args: string[], version: string) =>
    places.find((place) => place && spawnSync(place, args, { encoding: 'utf8' }).stdout?.startsWith(version))
  const protoc = find([process.env['PROTOC_PATH'], '/usr/bin/protoc', 'protoc'], ['--version'], PROTOC_VERSION)
  const pythons = [process.env['PYTHON_PATH'], '/usr/bin/python3', 'python3']
  const python = find(pythons, ['-c', PRINT_PYTHON_VERSION], PYTHON_VERSION)
  return protoc && python ? { protoc, python } : undefined
}

export const NO_REFERENCE =
  'grantwell/metadata was NOT compared with the reference implementation, since protoc 3.21 or python3-protobuf 4.21 with its ' +
  'C++ backend was not found. On Debian 12: apt-get install protobuf-compiler python3-protobuf. Elsewhere set PROTOC_PATH and ' +
  'PYTHON_PATH to programs of these versions, and run the tests again.'

/** What was refused is undefined. */
export interface Reference {
  /** Binary as C++ writes what it read from binary. */
  rewrite(type: TypeName, bytes: Uint8Array): Promise<Uint8Array | undefined>
  /** Binary of a text, by protoc. */
  parse(text: Uint8Array): Promise<Uint8Array | undefined>
  /** Binary of a text, by Python, which reads some texts otherwise; `anyText` without the fields that the schema does not know. */
  parseInPython(text: Uint8Array, form: 'text' | 'anyText'): Promise<Uint8Array | undefined>
  /** Canonical text of a binary MetaData, by protoc, unknown fields by number. */
  print(bytes: Uint8Array): Promise<string | undefined>
  /** Canonical text of a binary MetaData, by Python, without unknown fields; `utf8` with characters instead of escaped bytes. */
  printInPython(bytes: Uint8Array, form: 'text' | 'utf8'): Promise<string | undefined>
  /** JSON of a binary message. */
  toJSON(type: TypeName, bytes: Uint8Array): Promise<string | undefined>
  /** Binary of JSON. */
  fromJSON(type: TypeName, json: string): Promise<Uint8Array | undefined>
  stop(): void
}

type Question =
  | { readonly protoc: 'encode' | 'decode' }
  | {
      readonly type: TypeName
      readonly from: 'binary' | 'text' | 'anyText' | 'json'
      readonly to: 'binary' | 'text' | 'utf8' | 'json'
    }

/** Each answer is kept, so that a case costs nothing when it is asked again. */
export function startReference(programs: Programs): Reference {
  const process_ = new ReferenceProcess(programs)
  const answers = new Map<string, Promise<Uint8Array | undefined>>()
  function ask(question: Question, data: Uint8Array): Promise<Uint8Array | undefined> {
    const key = JSON.stringify({ ...question, data: Buffer.from(data).toString('base64') })
    const answer = answers.get(key) ?? process_.ask(key)
    answers.set(key, answer)
    return answer
  }
  const text = async (answer: Promise<Uint8Array | undefined>) => {
    const bytes = await answer
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  }
  return {
    rewrite: (type, bytes) => ask({ type, from: 'binary', to: 'binary' }, bytes),
    parse: (source) => ask({ protoc: 'encode' }, source),
    parseInPython: (source, from) => ask({ type: 'MetaData', from, to: 'binary' }, source),
    print: (bytes) => text(ask({ protoc: 'decode' }, bytes)),
    printInPython: (bytes, to) => text(ask({ type: 'MetaData', from: 'binary', to }, bytes)),
    toJSON: (type, bytes) => text(ask({ type, from: 'binary', to: 'json' }, bytes)),
    fromJSON: (type, json) => ask({ type, from: 'json', to: 'binary' }, Buffer.from(json)),
    stop: () => process_.stop(),
  }
}

/** reference.py. It starts protoc too, since a process as large as this one is slow at that. */
class ReferenceProcess {
  private readonly child: ChildProcessWithoutNullStreams
  private readonly asked = new Map<
    number,
    { resolve(answer: Uint8Array | undefined): void; reject(error: Error): void }
  >()
  private id = 0
  private complaint = ''
  private ended = false

  constructor(programs: Programs) {
    this.child = spawn(programs.python, [REFERENCE_PY, programs.protoc, PROTO])
    this.child.stdin.on('error', () => {})
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.complaint = `${this.complaint}${chunk}`.slice(-2000)
    })
    this.child.on('close', () => {
      this.ended = true
      for (const { reject } of this.asked.values()) reject(new Error(`reference.py ended: ${this.complaint}`))
    })
    createInterface(this.child.stdout).on('line', (line) => {
      const { id, answer, fault } = JSON.parse(line) as {
        id: number
        answer?: string
        refusal?: string
        fault?: string
      }
      const { resolve, reject } = this.asked.get(id) ?? {}
      this.asked.delete(id)
      if (fault !== undefined) reject?.(new Error(`reference.py: ${fault}`))
      else resolve?.(answer === undefined ? undefined : Uint8Array.from(Buffer.from(answer, 'base64')))
    })
  }

  /** @param question - as JSON, without its id */
  ask(question: string): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new Error(`reference.py ended: ${this.complaint}`))
      const id = this.id++
      this.asked.set(id, { resolve, reject })
      this.child.stdin.write(`${question.replace(/}$/, `,"id":${id}}`)}\n`)
    })
  }

  stop(): void {
    this.child.stdin.end()
  }
}
