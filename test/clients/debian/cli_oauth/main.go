// Command cli_oauth is github.com/cli/oauth, the library of GitHub's command, with the endpoints of another service. Its first
// argument is the flow: it prints the token that it gets, or the error, as a line of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/cli/oauth"
	"github.com/cli/oauth/api"
)

type setting struct {
	AuthorizationEndpoint, TokenEndpoint, DeviceEndpoint, ClientID, ClientSecret, RedirectURI string
	Scopes                                                                                    []string
}

func main() {
	var given setting
	if err := json.Unmarshal([]byte(os.Args[2]), &given); err != nil {
		panic(err)
	}
	flow := &oauth.Flow{
		Host: &oauth.Host{
			DeviceCodeURL: given.DeviceEndpoint,
			AuthorizeURL:  given.AuthorizationEndpoint,
			TokenURL:      given.TokenEndpoint,
		},
		ClientID:     given.ClientID,
		ClientSecret: given.ClientSecret,
		CallbackURI:  given.RedirectURI,
		Scopes:       given.Scopes,
		DisplayCode: func(code, address string) error {
			say(map[string]string{"code": code, "url": address})
			return nil
		},
		BrowseURL: func(address string) error {
			if os.Args[1] == "web" {
				say(map[string]string{"url": address})
			}
			return nil
		},
	}
	var token *api.AccessToken
	var err error
	if os.Args[1] == "web" {
		token, err = flow.WebAppFlow()
	} else {
		token, err = flow.DeviceFlow()
	}
	if err != nil {
		say(map[string]string{"error": err.Error()})
		return
	}
	say(map[string]string{"accessToken": token.Token, "refreshToken": token.RefreshToken, "type": token.Type})
}

func say(answer map[string]string) {
	line, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
