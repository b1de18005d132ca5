/**
 * The stylesheet of both sites.
 * @module
 */
import { stylesheet } from 'grantwell/pages'

/** The look of the consent page, and what the pages of the demo have more. */
export const css = `${stylesheet}
:root { --code: #f3f5f7; --app: #4b3fc4; --app-hover: #3c319f; --good: #17693a; }
@media (prefers-color-scheme: dark) {
  :root { --code: #0d1117; --app: #6257d6; --app-hover: #7268e0; --good: #6fcf97; }
}

/* The application has colours of its own, so that one sees on whose page one is. */
.sample { --primary: var(--app); --primary-hover: var(--app-hover); max-width: 72rem; }

main > * + *, main form > * + *, section > * + * { margin-top: 1rem; }
main form { padding: 0; border: 0; }
h3 { font-size: 1.0625rem; }
code { font: 0.875em ui-monospace, 'Liberation Mono', Menlo, Consolas, monospace; }

.button, button {
  display: inline-block;
  min-height: 2.75rem;
  padding: 0.5rem 1.25rem;
  border: 1px solid var(--primary);
  border-radius: 0.5rem;
  background: var(--primary);
  color: var(--on-primary);
  font: inherit;
  font-weight: 600;
  line-height: 1.625rem;
  text-decoration: none;
  cursor: pointer;
}
.button:hover, button:hover { border-color: var(--primary-hover); background: var(--primary-hover); }
.danger { border-color: var(--fault); background: var(--card); color: var(--fault); }
.danger:hover { border-color: var(--fault); background: var(--fault-page); }

.field { display: block; font-weight: 600; }
.field :is(input, select, textarea) {
  display: block;
  width: min(100%, 24rem);
  min-height: 2.75rem;
  margin-top: 0.25rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--control);
  border-radius: 0.5rem;
  background: var(--page);
  color: var(--text);
  font: inherit;
  font-weight: 400;
}
.field textarea { width: 100%; min-height: 5.5rem; resize: vertical; }
.field [aria-invalid='true'] { border-color: var(--fault); }
.field + .fault, legend + .fault { margin: 0.375rem 0 0; }
.hint { font-weight: 400; }
.notice { padding: 0.75rem 1rem; border: 1px solid var(--good); border-radius: 0.5rem; }

.steps { margin-bottom: 0; padding: 0; list-style: none; counter-reset: step; }
.steps > li { overflow: visible; border-top: 1px solid var(--line); counter-increment: step; }
.steps summary, .steps > li > h2 { display: flex; gap: 0.75rem; align-items: center; padding: 0.75rem 0; }
.steps h2 { font-size: 1.0625rem; }
.steps summary { cursor: pointer; }
.steps summary::-webkit-details-marker { display: none; }
.steps summary::after { content: 'show'; margin-inline-start: auto; color: var(--link); font-size: 0.875rem; }
.steps [open] > summary::after { content: 'hide'; }
.steps summary::before, .steps > li > h2::before {
  content: counter(step);
  flex: none;
  width: 1.75rem;
  height: 1.75rem;
  border: 1px solid var(--control);
  border-radius: 50%;
  font-size: 0.875rem;
  font-weight: 600;
  line-height: 1.625rem;
  text-align: center;
}
.done summary::before { border-color: var(--good); background: var(--good); color: var(--card); }
.failed summary::before { border-color: var(--fault); background: var(--fault); color: var(--card); }
.next > h2::before { border-color: var(--primary); background: var(--primary); color: var(--on-primary); }
.later { color: var(--muted); }
.later h2 { font-weight: 400; }
.step { padding: 0 0 1.25rem 2.5rem; }
.step > * + *, .step form { margin-top: 0.75rem; }
.outcome { font-weight: 600; }
.failed .outcome { color: var(--fault); }

.message { border: 1px solid var(--line); border-radius: 0.5rem; overflow: clip; }
.message h3 { margin: 0; padding: 0.375rem 0.75rem; border-bottom: 1px solid var(--line); font-size: 0.8125rem; }
.message pre {
  margin: 0;
  padding: 0.625rem 0.75rem;
  background: var(--code);
  white-space: pre-wrap;
}
.message pre, .terms dt { font: 0.8125rem/1.55 ui-monospace, 'Liberation Mono', Menlo, Consolas, monospace; }
.terms { display: grid; grid-template-columns: auto 1fr; gap: 0.125rem 1rem; align-items: baseline; }
.terms dd { font-weight: 400; }

/* Credentials, so that one can follow each from message to message. Their names are not copied with them. */
mark { padding: 0.0625rem 0.125rem; border-radius: 0.1875rem; background: #ffe9a8; color: #1c2128; }
mark.access { background: #bfe8cd; }
mark.refresh { background: #c9dcff; }
mark::before { content: attr(data-name) ' '; white-space: nowrap; color: #57606a; }

@media (max-width: 36rem) {
  .step { padding-left: 0; }
  .terms { grid-template-columns: 1fr; }
  .terms dd { margin-bottom: 0.375rem; }
}
`
