import { sqliteStore } from 'grantwell/storage/sqlite'
import Database from 'libsql'

const database = new Database('grants.db')

/** The store of the server. */
export const store = sqliteStore(database)
/** Called when the command is done. */
export const close = () => database.close()
