/**
 * Reads a list of the store to its end.
 * @module
 */
import type { OAuthError } from '../../core/errors.js'
import { isOAuthError } from '../../core/errors.js'
import type { PageWanted } from '../../shell/records/checked-store.js'
import { storeError } from '../../shell/records/checked-store.js'
import type { Transactions } from '../../shell/transactions.js'

/**
 * Reads a list once more after its records lost the label. An engine may keep a label, which names a user, in an index until it meets
 * there that the record is gone.
 * @throws GrantwellError `ERR_STORE`
 */
export async function clearIndex({ list }: Pick<Transactions, 'list'>, label: string): Promise<void> {
  for await (const _ of pagesOf(list, label));
}

/**
 * Reads the records with a label, page by page.
 * @throws GrantwellError `ERR_STORE`
 */
export async function* pagesOf<Page extends { readonly cursor?: string | undefined }>(
  list: (label: string, page: PageWanted) => Promise<Page | OAuthError>,
  label: string,
): AsyncGenerator<Page, void, undefined> {
  let cursor: string | undefined
  do {
    const page: Page | OAuthError = await list(label, cursor === undefined ? {} : { cursor })
    if (isOAuthError(page)) throw storeError(page)
    yield page
    cursor = page.cursor
  } while (cursor !== undefined)
}
