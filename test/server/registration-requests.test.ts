/**
 * Bodies of requests to register, as the adapters and the host's own parsers hand them over.
 * @module
 * @see RFC 7591, section 3.1
 */
import type { HttpRequest } from 'grantwell'
import { scopeCatalogue } from 'grantwell'
import { describe, expect, it } from 'vitest'
import { checkClientMetadata } from '../../src/protocol/registration/client-metadata.js'
import { askToRegister, NATIVE_CLIENT, openServer } from '../protocol/registration.js'
import { send } from '../support.js'

async function askWith(body: HttpRequest['body'], headers: Record<string, string>) {
  const test = await openServer()
  const answer = await send(test.server, { method: 'POST', url: '/oauth2/register', headers, body })
  return { status: answer.status, error: JSON.parse(String(answer.body)).error, errors: test.errors }
}

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

describe('the body of a request to register', () => {
  it('may be one that the host parsed, and nothing of a prototype counts', async () => {
    expect((await askWith({ type: 'parsed', fields: NATIVE_CLIENT }, JSON_TYPE)).status).toBe(201)
    const inherited = Object.create(NATIVE_CLIENT)
    expect(await askWith({ type: 'parsed', fields: inherited }, JSON_TYPE)).toMatchObject({
      status: 400,
      error: 'invalid_redirect_uri',
    })
  })

  it.each([[null], [undefined], ['{}'], [[NATIVE_CLIENT]]])('is no object where the host parsed %j', async (fields) => {
    expect(await askWith({ type: 'parsed', fields }, JSON_TYPE)).toMatchObject({
      status: 400,
      error: 'invalid_request',
    })
  })

  it('must say that it is JSON', async () => {
    const body = { type: 'text', text: JSON.stringify(NATIVE_CLIENT) } as const
    const types: Record<string, string>[] = [{}, { 'content-type': 'application/json; charset=utf-16' }]
    for (const headers of types)
      expect(await askWith(body, headers)).toMatchObject({ status: 400, error: 'invalid_request' })
  })

  it('is refused with 413 beyond the limit, and is none where there is nothing', async () => {
    expect(await askWith({ type: 'too_large' }, JSON_TYPE)).toMatchObject({ status: 413, error: 'invalid_request' })
    expect(await askWith(undefined, JSON_TYPE)).toMatchObject({ status: 400, error: 'invalid_request' })
  })

  it('that cannot be read is an error of the host', async () => {
    const error = new Error('the parser failed')
    expect(await askWith({ type: 'unreadable', error }, JSON_TYPE)).toMatchObject({
      status: 500,
      error: 'server_error',
      errors: [error],
    })
  })
})

describe('the metadata of a client', () => {
  it('have lists of strings, or none', async () => {
    const test = await openServer()
    for (const wrong of [{ response_types: 'code' }, { response_types: [1] }, { grant_types: [null] }]) {
      const answer = await askToRegister(test, { ...NATIVE_CLIENT, ...wrong })
      expect([answer.status, JSON.parse(String(answer.body)).error]).toEqual([400, 'invalid_client_metadata'])
    }
  })

  it('register nothing at a service without scopes', () => {
    const redirect = { matching: 'domain', allowLocalhost: true } as const
    const rules = { scopes: scopeCatalogue([]), redirect, specifiedResources: false, allowPost: true }
    expect(checkClientMetadata(NATIVE_CLIENT, 'An application', rules)).toMatchObject({
      type: 'error',
      code: 'invalid_client_metadata',
    })
  })
})
