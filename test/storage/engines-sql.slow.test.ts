/**
 * The kit on the memory store, on SQLite, on the embedded PGlite and on PostgreSQL.
 * @module
 */
import { engineSuite } from '../engines/suite.js'
import { describePglite, describeSqlEngines } from './engines-sql.js'

describeSqlEngines(engineSuite)
describePglite(engineSuite)
