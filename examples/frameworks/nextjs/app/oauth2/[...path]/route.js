export { oauth as GET, oauth as POST } from '../../../oauth.js'
