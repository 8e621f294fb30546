// Verifies signatures with the Go client, and with golang-jwt including its check of `iat`. Prints a line when ready, reads
// signatures as JSON from standard input, and prints for each whether both accept it.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/golang-jwt/jwt/v5"
	"github.com/upstash/qstash-go"
)

type given struct {
	CurrentSigningKey string   `json:"currentSigningKey"`
	NextSigningKey    string   `json:"nextSigningKey"`
	Body              string   `json:"body"`
	Url               string   `json:"url"`
	Signatures        []string `json:"signatures"`
}

func result(err error) any {
	if err == nil {
		return true
	}
	return err.Error()
}

func main() {
	fmt.Println("ready")
	var input given
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	receiver := qstash.NewReceiver(input.CurrentSigningKey, input.NextSigningKey)
	key := func(*jwt.Token) (any, error) { return []byte(input.CurrentSigningKey), nil }
	results := [][]any{}
	for _, signature := range input.Signatures {
		byClient := receiver.Verify(qstash.VerifyOptions{Signature: signature, Body: input.Body, Url: input.Url})
		_, byLibrary := jwt.Parse(signature, key, jwt.WithIssuedAt(), jwt.WithIssuer("Upstash"), jwt.WithSubject(input.Url))
		results = append(results, []any{result(byClient), result(byLibrary)})
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		panic(err)
	}
}
