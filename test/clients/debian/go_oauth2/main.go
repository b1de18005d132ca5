// Command go_oauth2 is golang.org/x/oauth2, as its documentation has it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"golang.org/x/oauth2"
)

type setting struct {
	AuthorizationEndpoint, TokenEndpoint, ClientID, ClientSecret, RedirectURI, API string
	Scopes                                                                         []string
}

type step struct {
	Name     string
	Argument json.RawMessage
}

func main() {
	var given setting
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		panic(err)
	}
	config := &oauth2.Config{
		ClientID:     given.ClientID,
		ClientSecret: given.ClientSecret,
		Endpoint:     oauth2.Endpoint{AuthURL: given.AuthorizationEndpoint, TokenURL: given.TokenEndpoint},
		RedirectURL:  given.RedirectURI,
		Scopes:       given.Scopes,
	}
	verifier := oauth2.GenerateVerifier()
	address := config.AuthCodeURL("a-state", oauth2.S256ChallengeOption(verifier))
	say(map[string]any{"url": address, "steps": []string{"finish", "call", "refresh"}})

	var token *oauth2.Token
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var next step
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			panic(err)
		}
		result, err := take(next, config, verifier, given.API, &token)
		if err != nil {
			say(map[string]any{"error": err.Error()})
		} else {
			say(map[string]any{"result": result})
		}
	}
}

func take(next step, config *oauth2.Config, verifier, api string, token **oauth2.Token) (any, error) {
	ctx := context.Background()
	switch next.Name {
	case "finish":
		var callback string
		if err := json.Unmarshal(next.Argument, &callback); err != nil {
			return nil, err
		}
		parsed, err := url.Parse(callback)
		if err != nil {
			return nil, err
		}
		code := parsed.Query().Get("code")
		*token, err = config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
		return tokensOf(*token), err
	case "call":
		response, err := config.Client(ctx, *token).Get(api)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != 200 {
			err = fmt.Errorf("%d %s", response.StatusCode, body)
		}
		return json.RawMessage(body), err
	default:
		// It refreshes a token that has expired.
		expired := **token
		expired.Expiry = time.Now().Add(-time.Hour)
		fresh, err := config.TokenSource(ctx, &expired).Token()
		*token = fresh
		return tokensOf(fresh), err
	}
}

func tokensOf(token *oauth2.Token) map[string]string {
	if token == nil {
		return nil
	}
	return map[string]string{"accessToken": token.AccessToken, "refreshToken": token.RefreshToken}
}

func say(answer any) {
	line, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
