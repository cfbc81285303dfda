// Native v1 as a server of grpc-go: the services that protoc-gen-go-grpc generated, whose calls go on to the sandbox's gRPC at os.Args[1].
// Everything before a handler (paths, frames, metadata, encodings, deadlines, messages) is what grpc-go makes of it.
package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"carryover.test/client/gen/iam"
	"carryover.test/client/gen/registry"
	"carryover.test/client/gen/vulnerabilities"
)

func main() {
	sandbox, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if strings.HasPrefix(info.FullMethod, "/grpc.") {
			return handler(ctx, request)
		}
		return forward(ctx, sandbox, info.FullMethod, request.(proto.Message))
	}))
	iam.RegisterGroupsServer(server, iam.UnimplementedGroupsServer{})
	iam.RegisterRolesServer(server, iam.UnimplementedRolesServer{})
	iam.RegisterRoleBindingsServer(server, iam.UnimplementedRoleBindingsServer{})
	iam.RegisterIdentitiesServer(server, iam.UnimplementedIdentitiesServer{})
	iam.RegisterGroupInvitesServer(server, iam.UnimplementedGroupInvitesServer{})
	registry.RegisterRegistryServer(server, registry.UnimplementedRegistryServer{})
	vulnerabilities.RegisterAdvisoriesServer(server, vulnerabilities.UnimplementedAdvisoriesServer{})
	healthpb.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr())
	// Ends with the test that started it.
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	check(server.Serve(listener))
}

// Bytes of a value that are compared.
const shown = 32

func forward(ctx context.Context, sandbox *grpc.ClientConn, path string, request proto.Message) (any, error) {
	outgoing := metadata.MD{}
	incoming, _ := metadata.FromIncomingContext(ctx)
	var probed []string
	for name, values := range incoming {
		for _, value := range values {
			if strings.Contains(name, "x-probe") {
				probed = append(probed, name+"="+hex.EncodeToString([]byte(value[:min(len(value), shown)])))
			}
		}
	}
	outgoing.Set("x-probed", strings.Join(probed, ", "))
	if _, hangs := incoming["x-probe-hang"]; hangs {
		outgoing.Set("x-probe-hang", "1")
	}
	for _, value := range incoming["authorization"] {
		// A client of grpc-go sends nothing else; the sandbox refuses this, as it refuses what it stands for.
		if strings.ContainsFunc(value, func(char rune) bool { return char < ' ' || char > '~' }) {
			value = "unprintable"
		}
		outgoing.Append("authorization", value)
	}
	dropUnknown(request.ProtoReflect())
	service, method, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	check(err)
	output := found.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(method)).Output()
	response, err := protoregistry.GlobalTypes.FindMessageByName(output.FullName())
	check(err)
	reply := response.New().Interface()
	err = sandbox.Invoke(metadata.NewOutgoingContext(ctx, outgoing), path, request, reply)
	return reply, err
}

// A server does not look at fields that it does not know.
func dropUnknown(message protoreflect.Message) {
	message.SetUnknown(nil)
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range value.List().Len() {
				dropUnknown(value.List().Get(i).Message())
			}
		default:
			dropUnknown(value.Message())
		}
		return true
	})
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
