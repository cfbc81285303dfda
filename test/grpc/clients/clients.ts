/** Real gRPC clients behind one interface: a call as JSON in, its outcome as JSON out. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import {
  createFileRegistry,
  type DescMethodUnary,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { compressionAlgorithms, credentials, Client as GrpcJs, Metadata, type ServiceError } from "@grpc/grpc-js";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";

/** One call. `rpc` is `PACKAGE.SERVICE/METHOD` without the packages that all have. */
export interface Asked {
  readonly rpc: string;
  readonly request: object;
  readonly token: string;
}

export interface Outcome {
  readonly code: number;
  readonly message: string;
  /** The typed details of an error, empty when there are none. */
  readonly details: readonly JsonValue[];
  /** The message of a success. */
  readonly response?: JsonValue;
}

export interface Client {
  call(asked: Asked): Promise<Outcome>;
  close(): Promise<void>;
}

/** Longer than any call takes on a busy machine. */
const DEADLINE_MS = 60_000;

export function readDescriptors(bytes: Uint8Array): FileRegistry {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
}

/** The unary method that `rpc` names. */
export function methodOf(registry: FileRegistry, rpc: string): DescMethodUnary {
  const [service = "", name] = rpc.split("/");
  const method = registry.getService(`${VENDOR_TYPES}.${service}`)?.methods.find((one) => one.name === name);
  if (method?.methodKind !== "unary") throw new Error(`no rpc ${rpc}`);
  return method as DescMethodUnary;
}

/** The details in a binary google.rpc.Status. */
function detailsIn(registry: FileRegistry, bytes: Uint8Array | undefined): readonly JsonValue[] {
  const type = registry.getMessage("google.rpc.Status");
  if (bytes === undefined || type === undefined) return [];
  const status = toJson(type, fromBinary(type, bytes), { registry }) as { details?: JsonValue[] };
  return status.details ?? [];
}

/** `@grpc/grpc-js`, which compresses its requests. `ca` signs the server's certificate, where the URL says https. */
export function grpcJs(url: string, registry: FileRegistry, ca = ""): Client {
  const { protocol, host } = new URL(url);
  const trust = protocol === "https:" ? credentials.createSsl(Buffer.from(ca)) : credentials.createInsecure();
  const client = new GrpcJs(host, trust, {
    "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
  });
  return {
    call: ({ rpc, request, token }) =>
      new Promise((resolve) => {
        const { parent, name, input, output } = methodOf(registry, rpc);
        const metadata = new Metadata();
        metadata.set("authorization", `Bearer ${token}`);
        const done = (error: ServiceError | null, response?: Message): void => {
          if (error === null) {
            const json = response && toJson(output, response, { registry });
            resolve({ code: 0, message: "", details: [], ...(json === undefined ? {} : { response: json }) });
            return;
          }
          const [bytes] = error.metadata.get("grpc-status-details-bin");
          const details = detailsIn(registry, bytes === undefined ? undefined : Buffer.from(bytes));
          resolve({ code: error.code, message: error.details, details });
        };
        client.makeUnaryRequest(
          `/${parent.typeName}/${name}`,
          (message: Message) => Buffer.from(toBinary(input, message)),
          (bytes) => fromBinary(output, bytes),
          fromJson(input, request as JsonValue, { registry }),
          metadata,
          { deadline: Date.now() + DEADLINE_MS },
          done,
        );
      }),
    close: async () => client.close(),
  };
}

/** `@connectrpc/connect-node`, speaking gRPC. */
export function connectNode(url: string, registry: FileRegistry): Client {
  const sessionManager = new Http2SessionManager(url);
  const transport = createGrpcTransport({ baseUrl: url, sessionManager });
  return {
    async call({ rpc, request, token }) {
      const method = methodOf(registry, rpc);
      const client = createClient(method.parent, transport) as unknown as Record<
        string,
        (message: Message, options: object) => Promise<Message>
      >;
      const message = fromJson(method.input, request as JsonValue, { registry });
      const options = { headers: { authorization: `Bearer ${token}` }, timeoutMs: DEADLINE_MS };
      try {
        const response = await client[method.localName]?.(message, options);
        if (response === undefined) throw new Error(`no rpc ${rpc}`);
        return { code: 0, message: "", details: [], response: toJson(method.output, response, { registry }) };
      } catch (error) {
        const { code, rawMessage, metadata } = ConnectError.from(error);
        const bytes = metadata.get("grpc-status-details-bin");
        const details = detailsIn(registry, bytes === null ? undefined : Buffer.from(bytes, "base64"));
        return { code, message: rawMessage, details };
      }
    },
    close: async () => sessionManager.abort(),
  };
}

/** A program that reads one call a line and prints one outcome a line. */
export function program(file: string, url: string): Client {
  const child: ChildProcess = spawn(file, [new URL(url).host], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return {
    async call(asked) {
      child.stdin?.write(`${JSON.stringify(asked)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${file} ended`);
      return JSON.parse(value);
    },
    async close() {
      const gone = once(child, "exit");
      child.stdin?.end();
      await gone;
    },
  };
}
