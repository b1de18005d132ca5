# LWP::Authen::OAuth2, as its documentation has it.
use strict;
use warnings;
use JSON::MaybeXS qw(decode_json);
use LWP::Authen::OAuth2;
use Talk;
use URI;

my $setting = setting();
my $tokens;
my $oauth2 = LWP::Authen::OAuth2->new(
    client_id              => $setting->{clientId},
    client_secret          => $setting->{clientSecret},
    authorization_endpoint => $setting->{authorizationEndpoint},
    token_endpoint         => $setting->{tokenEndpoint},
    redirect_uri           => $setting->{redirectUri},
    scope                  => join(' ', @{ $setting->{scopes} }),
    save_tokens            => sub { $tokens = decode_json(shift) },
);
my $tokens_of = sub { return { accessToken => $tokens->{access_token}, refreshToken => $tokens->{refresh_token} } };

talk(
    $oauth2->authorization_url(state => 'a-state'),
    finish => sub {
        my %parameters = URI->new(shift)->query_form;
        $oauth2->request_tokens(code => $parameters{code});
        return $tokens_of->();
    },
    call => sub {
        my $response = $oauth2->get($setting->{api});
        die $response->status_line unless $response->is_success;
        return decode_json($response->content);
    },
    refresh => sub {
        $oauth2->refresh_access_token;
        return $tokens_of->();
    },
);
