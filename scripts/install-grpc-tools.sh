#!/usr/bin/env bash
# For `npm run real -- grpc` and `-- ingress`: Go programs with clients and servers generated from the sandbox's descriptors, one that sends raw frames, and grpcurl.
. "$(dirname "$0")/tools.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
plugins=(google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12 google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2)
grpcurl=github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3
sources=$(cd "$root" && cat test/real/grpc/go/{,provider/}*.* test/real/grpc/probes/go/*/* scripts/grpc/generate.mjs sandbox/src/data/*-{messages,rpcs}.ts sandbox/src/grpc/descriptors.ts | sha256sum)
want grpc "${plugins[*]} $grpcurl $sources"
need go node
for tool in "${plugins[@]}" "$grpcurl"; do go_install "$fresh/bin" "$tool"; done
cp -r "$root/test/real/grpc/go" "$fresh/source"
cp -r "$root/test/real/grpc/probes/go/." "$fresh/source"
node "$root/scripts/grpc/generate.mjs" "$fresh/bin" "$fresh/source"
(cd "$fresh/source" && go build -trimpath -o "$fresh/bin/" . ./provider ./native ./probe && mv "$fresh/bin/client" "$fresh/bin/calls")
expect protoc-gen-go 1.36. "$fresh/bin/protoc-gen-go" --version
expect protoc-gen-go-grpc 1.6. "$fresh/bin/protoc-gen-go-grpc" --version
expect grpcurl 1.9. sh -c "go version -m '$fresh/bin/grpcurl' | grep -w mod"
keep
