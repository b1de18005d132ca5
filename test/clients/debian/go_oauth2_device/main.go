// Command go_oauth2_device is the device flow of golang.org/x/oauth2, as its documentation has it. It prints the code and the address
// for the user, and then the token that it gets, or the error, each as a line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/oauth2"
)

type setting struct {
	TokenEndpoint, DeviceEndpoint, ClientID string
	Scopes                                  []string
}

func main() {
	var given setting
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		panic(err)
	}
	config := &oauth2.Config{
		ClientID: given.ClientID,
		Endpoint: oauth2.Endpoint{TokenURL: given.TokenEndpoint, DeviceAuthURL: given.DeviceEndpoint},
		Scopes:   given.Scopes,
	}
	ctx := context.Background()
	response, err := config.DeviceAuth(ctx)
	if err != nil {
		say(map[string]string{"error": err.Error()})
		return
	}
	say(map[string]string{"code": response.UserCode, "url": response.VerificationURI})
	token, err := config.DeviceAccessToken(ctx, response)
	if err != nil {
		say(map[string]string{"error": err.Error()})
		return
	}
	say(map[string]string{"accessToken": token.AccessToken, "refreshToken": token.RefreshToken, "type": token.Type()})
}

func say(answer map[string]string) {
	line, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
