/**
 * The stylesheet of the default pages: system fonts, light and dark, from 320 px on (WCAG 2.2 AA).
 * @module
 */
import { ownModel } from '../fragments.js'
import type { Appearance } from './appearance.js'
import { colourRules } from './colours.js'

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif"

const RULES = `
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }

body {
  max-width: 46rem;
  margin: 0 auto;
  padding: 1.5rem 1rem 3rem;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 var(--font);
  overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%;
  text-size-adjust: 100%;
}

header { padding: 0 0.25rem; color: var(--muted); font-size: 0.875rem; text-align: end; }
header bdi { color: var(--text); font-weight: 600; }
header p { margin: 0 0 0.75rem; }
header p a { display: inline-block; margin-inline-start: 0.5rem; }
.brand { display: flex; flex-wrap: wrap; gap: 0.5rem; font-size: 1.125rem; font-weight: 600; text-align: start; }
.brand a { display: flex; gap: 0.5rem; align-items: center; color: inherit; text-decoration: none; }
.brand img { height: 2rem; width: auto; max-width: 12rem; }

footer { padding: 1rem 0.25rem 0; font-size: 0.875rem; }
footer ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }

main {
  padding: clamp(1rem, 4vw, 2rem);
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--card);
}

h1, h2, h3, p, ul, dl, dd, figure, blockquote, fieldset { margin: 0; padding: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
h2, .resources > legend { font-size: 1.125rem; font-weight: 600; line-height: 1.3; }
h3 { margin-top: 1rem; font-size: 0.875rem; font-weight: 600; }
ul { list-style: none; }
fieldset { min-width: 0; border: 0; }
legend { padding: 0; }
a { color: var(--link); text-underline-offset: 0.15em; }

:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 0.25rem; }

h1 + p, main > p + p, .checked { margin-top: 1rem; }

.identity { display: flex; flex-direction: column; gap: 0.75rem; }
.identity :is(h1, h2) { min-width: 0; }
.identity h1 { font-weight: 400; }
.identity :is(h1, h2) bdi { font-weight: 700; }
.logo {
  flex: none;
  display: grid;
  place-items: center;
  width: 3.5rem;
  height: 3.5rem;
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--secondary);
  color: var(--muted);
  font-size: 1.5rem;
  font-weight: 600;
  object-fit: contain;
  overflow: hidden;
}

/* What an application or the maker of a link wrote stays in its own box, whatever marks it stacks up. */
header, .identity, blockquote, dd, li, main > p, .asked, bdi { overflow: clip; overflow-clip-margin: 0.25rem; }
h1 bdi, main > p bdi, .decision bdi:first-child, .asked bdi:last-child { display: inline-block; max-width: 100%; }

figure { margin-top: 1.25rem; padding-inline-start: 1rem; border-inline-start: 3px solid var(--line); }
figcaption, dt, .hint, .reason, .checked { color: var(--muted); font-size: 0.875rem; }

dl { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem 2rem; margin-top: 1.25rem; }
dd { font-weight: 500; }

.warning {
  margin-top: 1rem;
  padding: 0.75rem 1rem;
  border-inline-start: 3px solid var(--change);
  background: var(--secondary);
}
.warning + form { margin-top: 1.25rem; padding-top: 0; border-top: 0; }

/* Letters that are compared one by one stand apart and have the same width. */
.code, [name='user_code'] {
  font-family: ui-monospace, 'SF Mono', Consolas, 'Liberation Mono', monospace;
  font-size: 1.25rem;
  letter-spacing: 0.08em;
}
.code { font-weight: 600; }
p.code { margin-block: 1rem; font-size: clamp(1.75rem, 9vw, 2.5rem); line-height: 1.3; text-align: center; }

main > section, form { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
section > p { margin-top: 0.5rem; }

.rw { color: var(--change); }
.r { color: var(--muted); }
.scopes { margin-top: 0.25rem; }
.scopes li { position: relative; padding-block: 0.1875rem; padding-inline-start: 1.125rem; break-inside: avoid; }
.scopes li::before {
  content: '';
  position: absolute;
  inset-inline-start: 0;
  top: 0.75rem;
  width: 0.375rem;
  height: 0.375rem;
  border-radius: 50%;
  background: var(--muted);
}
.new { padding: 0 0.375rem; border: 1px solid; border-radius: 0.375rem; font-size: 0.75rem; white-space: nowrap; }
.rw + .scopes li::before { background: var(--change); }

.choice { display: flex; gap: 0.625rem; align-items: flex-start; padding: 0.3125rem 0; cursor: pointer; }
.choice input {
  flex: none;
  width: 1.125rem;
  height: 1.125rem;
  margin: 0.1875rem 0 0;
  accent-color: var(--primary);
}
.choice bdi { min-width: 0; }
.resources > legend { margin-bottom: 0.5rem; }

.items { margin-top: 0.5rem; padding: 0.25rem 0.75rem 0.75rem; border: 1px solid var(--line); border-radius: 0.5rem; }
p.items { padding-block: 0.5rem; }
.items legend { padding: 0 0.375rem; color: var(--muted); font-size: 0.875rem; }
.items ul { max-height: 18.25rem; padding: 0.25rem; overflow: auto; }

.search { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: flex-end; padding: 0.5rem 0.25rem; }
.search .field { flex: 1 1 12rem; }

/* Where nothing else is chosen yet, the list stays in sight: a browser without :has shows it always. */
.resources:has([type='radio']:checked):not(:has([value='specified']:checked)) > .items { display: none; }

.field { display: block; font-weight: 600; }
.field :is(input, select, textarea), .reason-field {
  display: block;
  width: 100%;
  min-height: 2.75rem;
  margin-top: 0.375rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--control);
  border-radius: 0.5rem;
  background: var(--card);
  color: inherit;
  font: inherit;
  font-weight: 400;
}
[name='user_code'] { text-transform: uppercase; }
.field [aria-invalid='true'] { border-color: var(--fault); }
.hint { margin-top: 0.375rem; }

.application > * { margin-top: 1rem; }
.application > .identity { margin-top: 0; }
.application > form { padding-top: 0; border-top: 0; }
.suspended { color: var(--change); font-weight: 500; }
.grants > li + li, .older { margin-top: 1.25rem; padding-top: 0.25rem; border-top: 1px dashed var(--line); }
.grants > li > p, .older > p { margin-top: 0.75rem; }
.grants dl > :first-child, .older dl > :first-child { grid-column: 1 / -1; }
summary { cursor: pointer; }
.more { margin-top: 1.5rem; color: var(--muted); }

.skip { position: absolute; transform: translateX(-200vw); }
[dir='rtl'] .skip:not(:focus) { transform: translateX(200vw); }
.skip:focus { position: static; display: inline-block; margin: 0.25rem; transform: none; }

/* The console. */
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin-bottom: 1.25rem; font-size: 0.875rem; }
.listed > li { display: flex; gap: 1rem; align-items: flex-start; padding-block: 0.75rem; border-top: 1px solid var(--line); }
.listed .logo { width: 2.5rem; height: 2.5rem; font-size: 1rem; }
.listed form { margin-top: 0.5rem; padding-top: 0; border-top: 0; }
.listed + .actions, .details { margin-top: 1rem; }
.details ul { padding-inline-start: 1.125rem; list-style: disc; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
del { color: var(--fault); }
ins { font-weight: 600; text-decoration-thickness: 2px; }
details { margin-top: 1rem; }
details form { margin-top: 0.5rem; padding-top: 0; border-top: 0; }
/* A browser brings a field into view by its text alone. */
.field :is(input, select, textarea), .choice input, .reason-field { scroll-margin-block: 8rem; }
h2 + .field, .field ~ .field, .choices, .registration > .choice { margin-top: 1rem; }
.choices > legend { font-weight: 600; }
.choices li { padding-block: 0.375rem; }
.choices code, .listed code, .notice code { overflow-wrap: anywhere; }
.field-fault { margin-top: 0.375rem; color: var(--fault); font-weight: 500; }
.registration .actions, .choices + .actions, .actions > .button { margin-top: 1.5rem; }
.button {
  display: inline-block;
  padding: 0.5rem 1.25rem;
  border: 1px solid var(--control);
  border-radius: 0.5rem;
  background: var(--secondary);
  color: var(--text);
  font-weight: 600;
  text-decoration: none;
}
.button.primary { color: var(--on-primary); }

.fault, .notice {
  margin-bottom: 1.5rem;
  padding: 0.75rem 1rem;
  border: 1px solid var(--fault);
  border-radius: 0.5rem;
  background: var(--fault-page);
  color: var(--fault);
  font-weight: 500;
}
.notice { border-color: var(--line); background: var(--secondary); color: var(--text); }

.decision { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; }
.decision, .field ~ .actions { margin-top: 1.5rem; }
.asked { grid-column: 1 / -1; }
.asked bdi { font-weight: 600; }
.actions .asked { margin-bottom: 0.75rem; }
/* Whatever brings a button into view brings what it is about. */
.asked ~ button { scroll-margin-block-start: 8rem; }
button {
  min-height: 2.75rem;
  padding: 0.5rem 1.25rem;
  border: 1px solid var(--control);
  border-radius: 0.5rem;
  background: var(--secondary);
  color: var(--text);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}
button:hover { background: var(--secondary-hover); }
.primary, .decision [value='agree'] {
  border-color: var(--primary);
  background: var(--primary);
  color: var(--on-primary);
}
.primary:hover, .decision [value='agree']:hover {
  border-color: var(--primary-hover);
  background: var(--primary-hover);
}
.danger { color: var(--fault); }
.actions button { width: 100%; }

@media (min-width: 36rem) {
  body { padding-top: 2.5rem; }
  .identity { flex-direction: row; gap: 1rem; align-items: center; }
  dl { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .scopes { columns: 2; column-gap: 2rem; }
  .decision { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .actions button { width: auto; min-width: 12rem; }
}
`

/** Writes the stylesheet of the pages, with the colours and the font of a host. */
export function stylesheetOf(appearance: Pick<Appearance, 'colours' | 'font'> = {}): string {
  const { colours, font = FONT } = ownModel(appearance)
  return `\n${colourRules(colours)}\n:root { --font: ${font}; }\n${RULES}`
}

/**
 * The stylesheet of the default pages. The server serves it as `text/css; charset=utf-8` at the path that the pages name, with the
 * colours and the font of the option `appearance`.
 */
export const stylesheet: string = stylesheetOf()
