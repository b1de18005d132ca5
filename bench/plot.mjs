/** Plots as SVG, of text alone: readable in light and in dark, and without colours, since every line has a dash and a name of its own. */

const [WIDTH, HEIGHT, TOP, LEFT, GAP] = [220, 180, 48, 44, 56]
const STYLE = `
  svg { --ink: #1f2328; --faint: #d1d9e0; --a: #0969da; --b: #bc4c00; --c: #1a7f37; }
  @media (prefers-color-scheme: dark) { svg { --ink: #e6edf3; --faint: #3d444d; --a: #58a6ff; --b: #f0883e; --c: #3fb950; } }
  text { font: 11px system-ui, sans-serif; fill: var(--ink); }
  .title { font-weight: 600; font-size: 12px; }
  .grid { stroke: var(--faint); }
  .line { fill: none; stroke-width: 2; }
`
const INKS = [
  ['var(--a)', 'none'],
  ['var(--b)', '6 3'],
  ['var(--c)', '2 3'],
]

/**
 * Panels side by side, each with lines from the same origin 0.
 * @param panels - `{ title, x, base, lines: [{ name, points: [[x, y], ...] }] }`; x is logarithmic to that base
 * @param note - what 1 is
 */
export function plot(panels, note) {
  const width = LEFT + panels.length * (WIDTH + GAP)
  const height = TOP + HEIGHT + 76
  const legend = panels[0].lines.map(({ name }, index) => {
    const [ink, dash] = INKS[index]
    const at = LEFT + index * 110
    const y = height - 14
    return `<path class="line" stroke="${ink}" stroke-dasharray="${dash}" d="M${at} ${y}h28"/><text x="${at + 34}" y="${y + 4}">${name}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${panels.map(({ title }) => title).join(', ')}">
<style>${STYLE}</style>
<text x="${LEFT}" y="16">${note}</text>
${panels.map((panel, index) => panelOf(panel, LEFT + index * (WIDTH + GAP))).join('\n')}
${legend.join('\n')}
</svg>
`
}

function panelOf({ title, x: label, base, lines }, left) {
  const points = lines.flatMap((line) => line.points)
  const log = (x) => Math.log(x) / Math.log(base)
  const [from, to] = [Math.min, Math.max].map((extreme) => extreme(...points.map(([x]) => log(x))))
  const top = Math.max(1, Math.ceil(Math.max(...points.map(([, y]) => y)) * 2) / 2)
  const across = (x) => (left + ((log(x) - from) / (to - from)) * WIDTH).toFixed(1)
  const down = (y) => (TOP + HEIGHT - (y / top) * HEIGHT).toFixed(1)
  const step = top > 4 ? 1 : top > 1.5 ? 0.5 : 0.25
  const marks = Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step)
  const places = lines[0].points.map(([x]) => x)
  return [
    `<text class="title" x="${left}" y="${TOP - 12}">${title}</text>`,
    ...marks.map(
      (y) =>
        `<path class="grid" d="M${left} ${down(y)}h${WIDTH}"/><text x="${left - 6}" y="${Number(down(y)) + 4}" text-anchor="end">${y}</text>`,
    ),
    ...places.map(
      (x) => `<text x="${across(x)}" y="${TOP + HEIGHT + 16}" text-anchor="middle">${named(x, base)}</text>`,
    ),
    `<text x="${left + WIDTH / 2}" y="${TOP + HEIGHT + 34}" text-anchor="middle">${label}</text>`,
    ...lines.map(({ points: some }, index) => {
      const [ink, dash] = INKS[index]
      const path = some.map(([x, y]) => `${across(x)} ${down(y)}`).join('L')
      return `<path class="line" stroke="${ink}" stroke-dasharray="${dash}" d="M${path}"/>`
    }),
  ].join('\n')
}

/** Powers of ten as such. */
function named(x, base) {
  if (base !== 10) return String(x)
  return `10<tspan dy="-4" font-size="8">${Math.round(Math.log10(x))}</tspan>`
}
