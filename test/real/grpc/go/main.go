// Calls gRPC methods with clients that protoc-gen-go-grpc generated: one call as JSON a line in, one outcome a line out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	_ "google.golang.org/genproto/googleapis/rpc/errdetails"

	"carryover.test/client/gen/events"
	"carryover.test/client/gen/iam"
	"carryover.test/client/gen/registry"
	"carryover.test/client/gen/vulnerabilities"
)

type asked struct {
	Rpc     string          `json:"rpc"`
	Request json.RawMessage `json:"request"`
	Token   string          `json:"token"`
}

type outcome struct {
	Code     uint32            `json:"code"`
	Message  string            `json:"message"`
	Details  []json.RawMessage `json:"details"`
	Response json.RawMessage   `json:"response,omitempty"`
}

func main() {
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		panic(err)
	}
	clients := map[string]any{
		"iam.GroupAccountAssociations":  iam.NewGroupAccountAssociationsClient(connection),
		"iam.Groups":                    iam.NewGroupsClient(connection),
		"iam.Roles":                     iam.NewRolesClient(connection),
		"iam.GroupInvites":              iam.NewGroupInvitesClient(connection),
		"iam.Identities":                iam.NewIdentitiesClient(connection),
		"iam.IdentityProviders":         iam.NewIdentityProvidersClient(connection),
		"iam.RoleBindings":              iam.NewRoleBindingsClient(connection),
		"events.Identities":             events.NewIdentitiesClient(connection),
		"registry.Registry":             registry.NewRegistryClient(connection),
		"vulnerabilities.v1.Advisories": vulnerabilities.NewAdvisoriesClient(connection),
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		text, err := json.Marshal(call(clients, lines.Bytes()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

func call(clients map[string]any, line []byte) outcome {
	var one asked
	if err := json.Unmarshal(line, &one); err != nil {
		panic(err)
	}
	service, name, _ := strings.Cut(one.Rpc, "/")
	method := reflect.ValueOf(clients[service]).MethodByName(name)
	request := reflect.New(method.Type().In(1).Elem())
	if err := protojson.Unmarshal(one.Request, request.Interface().(proto.Message)); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+one.Token)
	results := method.Call([]reflect.Value{reflect.ValueOf(ctx), request})
	failed, _ := results[1].Interface().(error)
	said := status.Convert(failed).Proto()
	out := outcome{Code: uint32(said.GetCode()), Message: said.GetMessage(), Details: []json.RawMessage{}}
	for _, detail := range said.GetDetails() {
		out.Details = append(out.Details, asJSON(detail))
	}
	if failed == nil {
		out.Response = asJSON(results[0].Interface().(proto.Message))
	}
	return out
}

func asJSON(message proto.Message) json.RawMessage {
	text, err := protojson.Marshal(message)
	if err != nil {
		panic(err)
	}
	return text
}
