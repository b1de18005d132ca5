# Google's gem signet, as its README has it.
require 'signet/oauth_2/client'
require 'uri'
require_relative 'talk'

# It refuses an authorization endpoint without TLS, which the loopback of the test has not.
client = Signet::OAuth2::Client.new(
  authorization_uri: SETTING['authorizationEndpoint'].sub('http:', 'https:'),
  token_credential_uri: SETTING['tokenEndpoint'],
  client_id: SETTING['clientId'],
  client_secret: SETTING['clientSecret'],
  scope: SETTING['scopes'].join(' '),
  redirect_uri: SETTING['redirectUri'],
  state: 'a-state'
)
tokens_of = -> { { 'accessToken' => client.access_token, 'refreshToken' => client.refresh_token } }

talk(
  client.authorization_uri.to_s.sub('https:', 'http:'),
  {
    'finish' => lambda { |callback|
      client.code = URI.decode_www_form(URI(callback).query).to_h['code']
      client.fetch_access_token!
      tokens_of.call
    },
    'call' => ->(_tokens) { JSON.parse(client.fetch_protected_resource(uri: SETTING['api']).body) },
    'refresh' => lambda { |_tokens|
      client.refresh!
      tokens_of.call
    }
  }
)
