export { oauth as GET, oauth as OPTIONS, oauth as POST } from '../../../oauth.js'
