"""requests-oauthlib, as its documentation has it."""
import os

from requests_oauthlib import OAuth2Session

from talk import SETTING, talk, tokens_of

# The loopback of the test has no TLS.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"

client_id, secret = SETTING["clientId"], SETTING.get("clientSecret")
session = OAuth2Session(client_id, redirect_uri=SETTING["redirectUri"], scope=SETTING["scopes"])
url, _state = session.authorization_url(SETTING["authorizationEndpoint"])


def finish(callback):
    return tokens_of(
        session.fetch_token(SETTING["tokenEndpoint"], authorization_response=callback, client_secret=secret)
    )


def call(_tokens):
    response = session.get(SETTING["api"])
    response.raise_for_status()
    return response.json()


def refresh(_tokens):
    # It does not keep the secret, so its documentation passes both here.
    return tokens_of(session.refresh_token(SETTING["tokenEndpoint"], client_id=client_id, client_secret=secret))


talk(url, {"finish": finish, "call": call, "refresh": refresh})
