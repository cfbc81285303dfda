/**
 * `node scripts/grpc/generate.mjs PLUGINS FOLDER`: the sandbox's descriptors as `FOLDER/descriptors.binpb`, and Go code for its v1 services
 * in `FOLDER/gen`, made by protoc-gen-go and protoc-gen-go-grpc in the folder PLUGINS.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { withTypeScript } from "../typescript.mjs";

const [plugins = "", folder = ""] = process.argv.slice(2);
const MODULE = "carryover.test/client";
/** Where the Go code of files is that everybody has already. */
const KNOWN = [
  ["google/api", "google.golang.org/genproto/googleapis/api/annotations", ["annotations", "http"]],
  ...["descriptor", "duration", "empty", "field_mask", "timestamp"].map((name) => [
    "google/protobuf",
    `google.golang.org/protobuf/types/known/${name.replace("_", "")}pb`.replace("known/descriptor", "descriptor"),
    [name],
  ]),
];

await withTypeScript(async (load) => {
  const { createSandbox } = await load("/sandbox/src/sandbox.ts");
  const bytes = createSandbox({ organisation: false }).descriptors();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "descriptors.binpb"), bytes);
  const protoFile = fromBinary(FileDescriptorSetSchema, bytes).file.filter(
    ({ name }) => !/^(google\/rpc|grpc)\/|\/any\.|v2beta1|capabilities/.test(name),
  );
  const own = protoFile.filter(({ name }) => !name.startsWith("google/"));
  // `…/vulnerabilities/v1.proto` is package vulnerabilities.
  const packageOf = (name) => /(\w+)(?:\/v\d+)?\.proto$/.exec(name)?.[1];
  const parameter = [
    ...own.map(({ name }) => `M${name}=${MODULE}/gen/${packageOf(name)}`),
    ...KNOWN.flatMap(([path, module, names]) => names.map((name) => `M${path}/${name}.proto=${module}`)),
    `module=${MODULE}`,
  ].join(",");
  for (const plugin of ["protoc-gen-go", "protoc-gen-go-grpc"]) {
    const request = create(CodeGeneratorRequestSchema, {
      fileToGenerate: own.map(({ name }) => name),
      parameter,
      protoFile,
    });
    const { stdout, stderr, status, error } = spawnSync(join(plugins, plugin), {
      input: toBinary(CodeGeneratorRequestSchema, request),
      maxBuffer: 1 << 26,
    });
    if (status !== 0) throw error ?? new Error(String(stderr));
    const response = fromBinary(CodeGeneratorResponseSchema, stdout);
    if (response.error !== "") throw new Error(response.error);
    for (const { name, content } of response.file) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
  }
});
