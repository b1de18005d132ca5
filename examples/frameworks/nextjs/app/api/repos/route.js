export { list as GET } from '../../../oauth.js'
