export { write as PUT } from '../../../../oauth.js'
