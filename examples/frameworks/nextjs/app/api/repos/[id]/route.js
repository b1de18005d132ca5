import { write } from '../../../../oauth.js'
export const PUT = async (request, { params }) => write(request, (await params).id) // of the route, not of the URL
