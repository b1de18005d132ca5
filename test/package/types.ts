/**
 * The types that an entry point exports, as the type checker reads them.
 * @module
 */
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from './project.js'

/** Lists the fields of an exported interface, wherever it is declared. */
export function fieldsOf(name: string, entryPoint: string): readonly string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const program = ts.createProgram([entryPoint], options)
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(entryPoint)
  const module = source && checker.getSymbolAtLocation(source)
  const exported = module && checker.getExportsOfModule(module).find((symbol) => symbol.name === name)
  if (exported === undefined) throw new Error(`${entryPoint} does not export ${name}`)
  const declared = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
  return checker
    .getDeclaredTypeOfSymbol(declared)
    .getProperties()
    .map((field) => field.name)
}
