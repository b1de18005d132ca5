export { oauth as GET, oauth as OPTIONS } from '../../../oauth.js'
