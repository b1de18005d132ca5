/**
 * The configuration of the site.
 * @module
 */
import { defineConfig } from 'vitepress'
import { SECTIONS } from './sections.js'

/** The folder of the site at its origin, such as `/grantwell/`. */
const base = process.env['DOCS_BASE'] ?? '/'

export default defineConfig({
  base,
  title: 'grantwell',
  description: 'An OAuth 2.0 authorization server inside the service that you already have',
  lang: 'en',
  cleanUrls: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}icon.svg` }]],
  markdown: {
    linkify: false,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/what' },
      { text: 'Guides', link: '/guides/guard' },
      { text: 'Playground', link: '/playground/lifecycle' },
      { text: 'Rules', link: '/rules/' },
      { text: 'Reference', link: '/reference/options' },
    ],
    sidebar: Object.entries(SECTIONS).map(([text, pages]) => ({
      text,
      items: pages.map(([link, title]) => ({ link, text: title })),
    })),
  },
})
