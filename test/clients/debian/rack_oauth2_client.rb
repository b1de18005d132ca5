# The gem rack-oauth2, as its wiki has it.
require 'rack/oauth2'
require 'securerandom'
require_relative 'talk'

issuer = URI(SETTING['issuer'])
client = Rack::OAuth2::Client.new(
  identifier: SETTING['clientId'],
  secret: SETTING['clientSecret'],
  redirect_uri: SETTING['redirectUri'],
  scheme: issuer.scheme,
  host: issuer.host,
  port: issuer.port,
  authorization_endpoint: '/oauth2/auth',
  token_endpoint: '/oauth2/token',
  revocation_endpoint: '/oauth2/revoke'
)
state = SecureRandom.hex(16)
token = nil
tokens_of = ->(of) { { 'accessToken' => of.access_token, 'refreshToken' => of.refresh_token } }

talk(
  client.authorization_uri(scope: SETTING['scopes'], state: state),
  {
    'finish' => lambda { |callback|
      parameters = URI.decode_www_form(URI(callback).query).to_h
      raise 'another state' unless parameters['state'] == state

      client.authorization_code = parameters['code']
      token = client.access_token!
      tokens_of.call(token)
    },
    'call' => ->(_tokens) { JSON.parse(token.get(SETTING['api']).body) },
    'refresh' => lambda { |tokens|
      client.refresh_token = tokens['refreshToken']
      tokens_of.call(client.access_token!)
    },
    'revoke' => ->(tokens) { client.revoke!(refresh_token: tokens['refreshToken']).to_s }
  }
)
