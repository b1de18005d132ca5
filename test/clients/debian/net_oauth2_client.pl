# Net::OAuth2, as its documentation has it.
use strict;
use warnings;
use JSON::MaybeXS qw(decode_json);
use Net::OAuth2::Profile::WebServer;
use Talk;

my $setting = setting();
my $profile = Net::OAuth2::Profile::WebServer->new(
    client_id         => $setting->{clientId},
    client_secret     => $setting->{clientSecret},
    site              => $setting->{issuer},
    authorize_path    => '/oauth2/auth',
    access_token_path => '/oauth2/token',
    refresh_token_path => '/oauth2/token',
    scope             => join(' ', @{ $setting->{scopes} }),
    state             => 'a-state',
    redirect_uri      => $setting->{redirectUri},
);
my $token;
my $tokens_of = sub { return { accessToken => $token->access_token, refreshToken => $token->refresh_token } };

talk(
    $profile->authorize,
    finish => sub {
        my %parameters = URI->new(shift)->query_form;
        $token = $profile->get_access_token($parameters{code});
        return $tokens_of->();
    },
    call => sub {
        my $response = $token->get('/api');
        die $response->status_line unless $response->is_success;
        return decode_json($response->content);
    },
    refresh => sub {
        $token->refresh;
        return $tokens_of->();
    },
);
