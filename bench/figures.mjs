/** A table, in Markdown or in columns for the eye. The first column is text, the others are figures. */
export function tableOf(head, rows, markdown) {
  if (markdown) {
    const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
    return [head, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
  }
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  const line = (row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
  return all.map((row) => line(row).join('   ')).join('\n')
}

export const whole = (number) => Math.round(number).toLocaleString('en')
export const ratio = (number) => number.toFixed(2)
