/** The client that every server knows, and what it authenticates with. */
export const CLIENT = { id: 'bench', secret: 'bench-secret-0123456789abcdef', redirectUri: 'https://app.example/cb' }

export const basic = ({ id, secret }) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
