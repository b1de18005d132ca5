"""Authlib's session for requests, as its documentation has it."""
import os

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

from talk import SETTING, talk, tokens_of

# The loopback of the test has no TLS.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

session = OAuth2Session(
    SETTING["clientId"],
    SETTING.get("clientSecret"),
    redirect_uri=SETTING["redirectUri"],
    scope=" ".join(SETTING["scopes"]),
    code_challenge_method="S256",
    **({} if "clientSecret" in SETTING else {"token_endpoint_auth_method": "none"}),
)
verifier = generate_token(48)
url, state = session.create_authorization_url(SETTING["authorizationEndpoint"], code_verifier=verifier)


def finish(callback):
    return tokens_of(
        session.fetch_token(
            SETTING["tokenEndpoint"], authorization_response=callback, code_verifier=verifier, state=state
        )
    )


def call(_tokens):
    response = session.get(SETTING["api"])
    response.raise_for_status()
    return response.json()


def refresh(tokens):
    return tokens_of(session.refresh_token(SETTING["tokenEndpoint"], refresh_token=tokens["refreshToken"]))


def revoke(tokens):
    session.revoke_token(SETTING["revocationEndpoint"], tokens["refreshToken"]).raise_for_status()


talk(url, {"finish": finish, "call": call, "refresh": refresh, "revoke": revoke})
