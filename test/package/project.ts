/**
 * The package as its users get it: built, packed, and installed into an empty project.
 * @module
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from '../once.js'

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What a build needs, what the package may have in it, and some of what it must not. */
const COPIED = [
  'package.json',
  'tsup.config.ts',
  'tsconfig.json',
  'src',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'SECURITY.md',
  'biome.json',
  '.ci',
  'test/support.ts',
]

/** An empty project with the package in it. */
export interface Project {
  readonly directory: string
  /** Where the package lies. */
  readonly installed: string
  /** Writes a file of the project. */
  readonly write: (file: string, text: string) => string
  /** Runs a file of the project; throws with all its output where it fails. */
  readonly run: (
    file: string,
    options?: { readonly args?: readonly string[]; readonly env?: Record<string, string> },
  ) => string
  /** Runs a command of a package that is installed. */
  readonly npx: (name: string, ...args: readonly string[]) => string
  /** Installs an optional peer, as this repository has it. */
  readonly addPeer: (name: string) => void
  readonly remove: () => void
}

/** The environment without what an `npm test` around it has told its own children. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS|VITEST|NODE_V8_COVERAGE)/i.test(name),
  )
  return { ...Object.fromEntries(inherited), ...more }
}

/** Runs a command to its end. */
function command(name: string, args: readonly string[], cwd: string, env?: Record<string, string>): string {
  const { status, stdout, stderr } = spawnSync(name, args, {
    cwd,
    env: environment(env),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${status}\n${stdout}\n${stderr}`)
  return stdout
}

/** Builds and packs a copy, so that it leaves nothing behind. */
function pack(base: string): void {
  const copy = join(base, 'copy')
  for (const file of COPIED)
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(copy, file), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction')
  command('npm', ['pack', '--silent', '--pack-destination', base], copy)
}

/** Builds and packs, once in a run, and installs into an empty project. */
export async function installPackage(): Promise<Project> {
  const packed = await once('package', pack)
  const tarball = readdirSync(packed).find((file) => file.endsWith('.tgz')) ?? 'no tarball'
  const base = mkdtempSync(join(tmpdir(), 'grantwell-package-'))
  const directory = join(base, 'project')
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "name": "empty", "version": "1.0.0", "private": true }\n')
  command('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', join(packed, tarball)], directory)
  return {
    directory,
    installed: join(directory, 'node_modules/grantwell'),
    write: (file, text) => {
      writeFileSync(join(directory, file), text)
      return join(directory, file)
    },
    run: (file, { args = [], env = {} } = {}) => command(process.execPath, [...args, file], directory, env),
    npx: (name, ...args) => command('npx', ['--no-install', name, ...args], directory),
    addPeer: (name) =>
      cpSync(join(ROOT, 'node_modules', name), join(directory, 'node_modules', name), { recursive: true }),
    remove: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** Compiles files of a project with this repository's own compiler; throws with what it says. */
export function compile(project: Project, files: readonly string[], options: Record<string, unknown> = {}): void {
  const config = {
    compilerOptions: {
      target: 'es2022',
      lib: ['es2022'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
      types: ['node'],
      ...options,
    },
    files,
  }
  const file = project.write(`tsconfig.${files.join('.')}.json`, JSON.stringify(config))
  command(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', file], project.directory)
}

/** Starts a file of the project that listens on a port of its own choice or on the one in `PORT`. */
export async function start(
  project: Project,
  file: string,
  env: Record<string, string>,
  isUp: (output: string) => Promise<boolean>,
): Promise<{ readonly output: () => string; readonly stop: () => Promise<void> }> {
  let output = ''
  const child = spawn(process.execPath, [file], { cwd: project.directory, env: environment(env) })
  let isOver = false
  // Once all that it said has been read, too.
  const ended = new Promise<void>((resolve) =>
    child.on('close', () => {
      isOver = true
      resolve()
    }),
  )
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  for (let tries = 0; !(await isUp(output).catch(() => false)); tries++) {
    if (isOver || tries > 4_000) {
      child.kill()
      throw new Error(`${file} did not come up:\n${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return {
    output: () => output,
    stop: async () => {
      child.kill()
      await ended
    },
  }
}
