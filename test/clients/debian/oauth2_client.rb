# The gem oauth2, as its README has it.
require 'oauth2'
require_relative 'talk'

client = OAuth2::Client.new(
  SETTING['clientId'],
  SETTING['clientSecret'],
  site: SETTING['issuer'],
  authorize_url: '/oauth2/auth',
  token_url: '/oauth2/token'
)
redirect_uri = SETTING['redirectUri']
state = 'a-state'
token = nil
tokens_of = ->(of) { { 'accessToken' => of.token, 'refreshToken' => of.refresh_token } }

talk(
  client.auth_code.authorize_url(redirect_uri: redirect_uri, scope: SETTING['scopes'].join(' '), state: state),
  {
    'finish' => lambda { |callback|
      parameters = URI.decode_www_form(URI(callback).query).to_h
      raise 'another state' unless parameters['state'] == state

      token = client.auth_code.get_token(parameters['code'], redirect_uri: redirect_uri)
      tokens_of.call(token)
    },
    'call' => ->(_tokens) { token.get(SETTING['api']).parsed },
    'refresh' => ->(_tokens) { tokens_of.call(token.refresh!) }
  }
)
