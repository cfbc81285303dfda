/** A small platform in one process: v2, native v1 and token exchange over the same records. */
import { createHash } from "node:crypto";
import { createAuthenticator, namedToken, workloadToken } from "./auth.ts";
import type { Context } from "./context.ts";
import { createHandler } from "./gateway/handle.ts";
import {
  createChurn,
  createRateLimiter,
  deadlineExceeded,
  grpcTimeoutMs,
  pause,
  unavailable,
} from "./gateway/misbehave.ts";
import { createDescriptors, type Descriptors } from "./grpc/descriptors.ts";
import { createGrpcServer } from "./grpc/server.ts";
import { type ApiRequest, type ApiResponse, createServerAround, type Send, type SendOptions } from "./http.ts";
import { type SandboxOptions, settingsOf } from "./options.ts";
import { allRoutes } from "./routes.ts";
import { createRandom } from "./seed/prng.ts";
import { createSeed, type Seed, type WellKnown } from "./seed/seed.ts";
import { makeRecord } from "./store/collection.ts";
import { type Contents, contentsOf, createStore, type Snapshot, type Store, snapshotOf } from "./store/store.ts";
import { V1, V2, withNewerNames } from "./wire/schema.ts";

export { VENDOR_TYPES } from "./data/vendor.ts";

/** One call that the sandbox served. */
export interface ServedCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
}

export interface Sandbox {
  /** Both faces and token exchange, told apart by path. */
  readonly send: Send;
  /** Serves the same over HTTP, and over gRPC on the same port; port 0 (the default) takes a free one, the host is loopback unless said otherwise. */
  listen(port?: number, host?: string): Promise<{ readonly url: string }>;
  close(): Promise<void>;
  /** What `protoc --include_imports` would make of the .proto files of both faces: a FileDescriptorSet. */
  descriptors(): Uint8Array;
  /** A deep copy of all records by resource, ascending by uid. */
  snapshot(): Snapshot;
  /** The same without copying. A value that nobody has replaced is the seed's own object. */
  contents(): Contents;
  /** A ready token: `admin`, `staff`, `viewer` or `nobody`, with `@GROUP_UID` limited to a subtree, with `#name` for another subject. */
  token(name: string): string;
  /** A token as a workload's own platform would issue it, for `/sts/exchange`. Unsigned. */
  oidcToken(issuer: string, subject: string, audience?: string): string;
  readonly wellKnown: WellKnown;
  /** The newest calls served, oldest first, at most `logSize` of them. */
  readonly requests: readonly ServedCall[];
}

/**
 * A platform of its own. Its state follows from `options.seed`, the clock and the calls it gets. `seed`: what it begins with, when that
 * was made already (of the same options).
 */
export function createSandbox(options: SandboxOptions = {}, seed?: Seed): Sandbox {
  const settings = settingsOf(options);
  const context: Context = {
    settings,
    store: createStore(settings.seed),
    v1: V1[settings.recordTimes],
    v2: withNewerNames(V2, settings.newerNames),
  };
  const { records, wellKnown } = seed ?? createSeed(settings);
  fill(context.store, records);
  const secret = createHash("sha256").update(`secret of ${settings.seed}`).digest("hex");
  const limiter = createRateLimiter(settings.rateLimit, settings.clock);
  const handle = createHandler({
    context,
    secret,
    limiter,
    authenticate: createAuthenticator(context, secret),
    routes: allRoutes(context),
  });
  const churn = createChurn(context, wellKnown.rootGroup);
  const requests: ServedCall[] = [];
  const log = createLog(requests, settings.logSize);
  const moods = createRandom(`moods of ${settings.seed}`);
  const plain: Send = async (request, sendOptions) => {
    const late = await delay(settings.latencyMs, request, sendOptions);
    if (late !== undefined) return log(request, late);
    // Given up before anything was done: nothing is done.
    sendOptions.signal.throwIfAborted();
    const response = moods.chance(settings.errorRate) ? unavailable() : handle(request);
    churn(request, response);
    return log(request, response);
  };
  const send = settings.faults === undefined ? plain : settings.faults(plain);
  let descriptors: Descriptors | undefined;
  const described = () => {
    descriptors ??= createDescriptors(settings.version);
    return descriptors;
  };
  const grpc = createGrpcServer({
    send,
    registry: () => described().registry,
    maxMessageBytes: settings.maxBodyBytes,
  });
  const server = createServerAround(send, settings.maxBodyBytes, grpc);
  return {
    send,
    listen: server.listen,
    close: server.close,
    descriptors: () => described().bytes,
    snapshot: () => snapshotOf(context.store),
    contents: () => contentsOf(context.store),
    token: (name) => namedToken(secret, name),
    oidcToken: (issuer, subject, audience = "sandbox") => workloadToken(issuer, subject, audience),
    wellKnown,
    requests,
  };
}

/** Records of its own, since each keeps what was last sent of it; the values are the seed's. */
function fill(store: Store, records: Seed["records"]): void {
  for (const [name, seeded] of records)
    store.collection(name).load(seeded.map(({ value, extra }) => makeRecord(value, extra)));
}

/** Notes each call in `requests`, of which the newest `size` stay. */
function createLog(requests: ServedCall[], size: number): (request: ApiRequest, response: ApiResponse) => ApiResponse {
  return (request, response) => {
    requests.push({ method: request.method, target: request.target, status: response.status });
    if (requests.length > size) requests.splice(0, requests.length - size);
    return response;
  };
}

/** Waits as long as the sandbox is to be slow; the answer when the caller's own deadline is shorter. */
async function delay(ms: number, request: ApiRequest, options: SendOptions): Promise<ApiResponse | undefined> {
  const allowed = grpcTimeoutMs(request);
  if (ms > 0) await pause(Math.min(ms, allowed), options);
  return ms >= allowed ? deadlineExceeded() : undefined;
}
