/**
 * Tables without a frame, for terminals and for programs such as `awk`.
 * @module
 */

/** Makes the lines of a table, its titles first. Its cells must be escaped already. Characters that are two columns wide count as two. */
export async function tableLines(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<readonly string[]> {
  // Loaded here because most calls need no table.
  const { Table } = await import('console-table-printer')
  const none = { left: '', mid: '', right: '', other: '' }
  const table = new Table({
    shouldDisableColors: true,
    style: { headerTop: none, headerBottom: none, tableBottom: none, rowSeparator: none, vertical: '' },
    columns: titles.map((title) => ({ name: title, title, alignment: 'left' })),
    rows: rows.map((row) => Object.fromEntries(titles.map((title, index) => [title, row[index]]))),
  })
  // Even without a frame, each line begins with a blank, and empty lines stand in place of the frame.
  return table
    .render()
    .split('\n')
    .flatMap((line) => line.slice(1).trimEnd() || [])
}
