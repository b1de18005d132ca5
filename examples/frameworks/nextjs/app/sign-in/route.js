import { session } from '../../oauth.js'

const headers = { 'Content-Type': 'text/html' }
export const GET = () => new Response('<form method="post"><button>Sign in as Ada</button></form>', { headers })
export function POST({ url }) {
  const { href } = new URL(`${process.env.ISSUER}/${new URL(url).searchParams.get('return_to') ?? ''}`) // of this site
  const cookie = `session=${session}; Path=/; HttpOnly; SameSite=Lax` // and Secure, on https
  return new Response(null, { status: 303, headers: { Location: href, 'Set-Cookie': cookie } })
}
