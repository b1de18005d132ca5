export { oauth as GET } from '../../../oauth.js'
