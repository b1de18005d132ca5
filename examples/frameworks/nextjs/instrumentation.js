export async function register() {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./start.js') // on the runtime that has sockets
}
