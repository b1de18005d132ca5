/**
 * Metadata records that other people wrote, by file name. There are none here: whoever bundles the suite puts them in,
 * since not every runtime reads files.
 * @module
 */
export const records: Readonly<Record<string, string>> = {}
