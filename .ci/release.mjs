// @ts-check
/**
 * What a release needs beside the build. package.json calls it, and so does the workflow that publishes.
 *
 *     node .ci/release.mjs changelog     gives what is under Unreleased the version of package.json and today's date
 *     node .ci/release.mjs pages         makes the links of the front pages work without the repository
 *     node .ci/release.mjs restore       brings back the front pages as they were
 *     node .ci/release.mjs check v1.2.3  fails where something that publishing needs is missing
 *
 * The address of the repository stands in one place, `repository` of package.json: the links, the comparisons in the changelog and the
 * address of the site follow from it.
 * @module
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parser } from 'keep-a-changelog'

/** The pages that the package has in it. */
const FRONT_PAGES = ['README.md', 'SECURITY.md']

/**
 * @typedef {object} Manifest
 * @property {string} version
 * @property {readonly string[]} files
 * @property {string | { url: string }} [repository] such as `github:owner/name`
 * @property {string} [homepage] of the site; by default where GitHub Pages has it
 */

/**
 * Where the project is, as package.json says it; undefined where it does not say it yet.
 * @param {Manifest} manifest
 * @returns {{ readonly repository: string, readonly site: string } | undefined} addresses without a slash at the end
 */
export function addresses({ repository, homepage }) {
  const given = typeof repository === 'string' ? repository : (repository?.url ?? '')
  const [, owner, name] =
    /^(?:github:|git\+)?(?:https:\/\/github\.com\/)?([\w.-]+)\/([\w.-]+?)(?:\.git)?$/.exec(given) ?? []
  if (owner === undefined || name === undefined) {
    if (given === '') return undefined
    throw new Error(`package.json: repository must be like github:owner/name; got ${JSON.stringify(given)}`)
  }
  const site = homepage ?? `https://${owner.toLowerCase()}.github.io/${name}`
  return { repository: `https://github.com/${owner}/${name}`, site: site.replace(/\/+$/, '') }
}

/**
 * A front page for the package: links to pages of the site lead to the site, links to files lead to the release in the repository.
 * Without an address, only links to files of the package stay, and of the others the words; pictures go.
 * @param {string} page - Markdown
 * @param {Manifest} manifest
 */
export function packedPage(page, manifest) {
  const found = addresses(manifest)
  return page.replaceAll(
    /(!?)\[([^\]]+)\]\(([^)\s:#][^)\s:]*)\)/g,
    (link, picture, words, /** @type {string} */ target) => {
      const [path = '', anchor] = target.split('#')
      const hash = anchor === undefined ? '' : `#${anchor}`
      if (found === undefined) return picture === '!' ? '' : manifest.files.includes(path) ? link : words
      if (picture === '!') return `![${words}](${found.repository}/raw/v${manifest.version}/${path})`
      const [, onSite] = /^docs\/(.+?)(?:index)?\.md$/.exec(path) ?? []
      const to =
        onSite === undefined ? `${found.repository}/blob/v${manifest.version}/${path}` : `${found.site}/${onSite}`
      return `[${words}](${to}${hash})`
    },
  )
}

/**
 * The changelog of a release.
 * @param {string} text - the changelog so far
 * @param {Manifest} manifest - with the version of the release
 * @param {Date} date
 * @throws Error where nothing is under Unreleased, or the version is there already
 */
export function releasedChangelog(text, manifest, date) {
  const changelog = parser(text)
  const release = changelog.releases.find(({ version }) => version === undefined)
  if (release === undefined || release.isEmpty()) throw new Error('CHANGELOG.md: nothing is under Unreleased')
  if (changelog.findRelease(manifest.version) !== undefined)
    throw new Error(`CHANGELOG.md: ${manifest.version} is there already`)
  release.setVersion(manifest.version)
  release.setDate(date)
  changelog.format = 'markdownlint'
  const found = addresses(manifest)
  if (found !== undefined) changelog.url = found.repository
  return changelog.toString()
}

/**
 * What keeps a release from being published.
 * @param {Manifest} manifest
 * @param {string} changelog
 * @param {string} tag
 * @returns {readonly string[]} nothing where all is well
 */
export function missing(manifest, changelog, tag) {
  const release = parser(changelog).findRelease(manifest.version)
  return [
    tag === `v${manifest.version}` ? '' : `the tag is ${tag}, and package.json has the version ${manifest.version}`,
    release?.date === undefined ? `CHANGELOG.md has no ${manifest.version} with a date` : '',
    addresses(manifest) === undefined ? 'package.json has no repository: npm pkg set repository=github:owner/name' : '',
  ].filter((fault) => fault !== '')
}

/** @param {readonly string[]} words */
function main([command, tag = '']) {
  /** @type {Manifest} */
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  // Beside them, npm would pack the originals too.
  const original = (/** @type {string} */ page) => join('temp', page)
  const restore = () => {
    for (const page of FRONT_PAGES) if (existsSync(original(page))) renameSync(original(page), page)
  }
  if (command === 'changelog') {
    writeFileSync('CHANGELOG.md', releasedChangelog(readFileSync('CHANGELOG.md', 'utf8'), manifest, new Date()))
  } else if (command === 'pages') {
    // A packing before this one may have been cut short.
    restore()
    mkdirSync('temp', { recursive: true })
    for (const page of FRONT_PAGES) {
      const text = readFileSync(page, 'utf8')
      renameSync(page, original(page))
      writeFileSync(page, packedPage(text, manifest))
    }
  } else if (command === 'restore') {
    restore()
  } else if (command === 'check') {
    const faults = missing(manifest, readFileSync('CHANGELOG.md', 'utf8'), tag)
    for (const fault of faults) console.error(fault)
    process.exitCode = faults.length === 0 ? 0 : 1
  } else {
    throw new Error(`.ci/release.mjs takes changelog, pages, restore or check; got ${JSON.stringify(command ?? '')}`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
