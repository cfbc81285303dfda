// Does to the API what an infrastructure-as-code provider does, with generated clients: plan, create, list, update, import, destroy. One
// step a line in, what came of it as JSON a line out. No call is repeated.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

func main() {
	ca := flag.String("ca", "", "the file with the certificate of the server's authority; without it no TLS")
	token := flag.String("token", "", "the token of every call")
	root := flag.String("root", "", "the group below which everything is created")
	flag.Parse()
	connection, err := grpc.NewClient(flag.Arg(0), grpc.WithTransportCredentials(trust(*ca)), grpc.WithDisableRetry())
	if err != nil {
		panic(err)
	}
	provider := newProvider(kindsOf(connection), *token, *root)
	steps := bufio.NewScanner(os.Stdin)
	for steps.Scan() {
		text, err := json.Marshal(provider.run(steps.Text()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

func trust(ca string) credentials.TransportCredentials {
	if ca == "" {
		return insecure.NewCredentials()
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		panic("no certificate in " + ca)
	}
	return credentials.NewTLS(&tls.Config{RootCAs: pool})
}
