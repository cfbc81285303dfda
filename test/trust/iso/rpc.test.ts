import { createFileRegistry, type DescMethod, fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { answered, framed, open, platform, session, unary } from "../../grpc/support/rpc.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { figure } from "../../support/figures.ts";
import { randomOf } from "../../support/random.mjs";
import { scale } from "../../support/scale.ts";
import { markerPlatform } from "./support/platform.ts";
import { through } from "./support/rig.ts";
import { lookThrough, markerOf, seedOf, type Tenant, tenants } from "./support/tenants.ts";

takeDownAfterEach();

const [SESSIONS, LOOPS] = [4, 12];

/** A call, and the codes that it may end with. */
interface Errand {
  readonly kind: string;
  readonly path: string;
  readonly message: Uint8Array;
  readonly codes: readonly number[];
  readonly way?: string;
}

/** Answers with the marker of the credential, in message and trailers; notes requests that hold another one. */
async function rpcPlatform(strayed: string[], delay: () => number) {
  return platform((stream, headers) => {
    const marker = markerOf(String(headers.authorization));
    const respond = unary(
      (request) => {
        strayed.push(...lookThrough(request.toString("latin1"), marker).foreign);
        return [framed(Buffer.from(`${marker} `.repeat(20))), framed(request.subarray(5))];
      },
      { "grpc-status": "0", "x-whose": marker },
    );
    const ms = delay();
    if (ms === 0) respond(stream);
    else setTimeout(() => respond(stream), ms);
  });
}

/** Of every kind, translated and passed through. */
function errands(descriptors: Uint8Array): (tenant: Tenant, random: () => number) => Errand {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
  const groups = registry.getService(`${VENDOR_TYPES}.iam.Groups`);
  const methods = new Map<string, DescMethod>(groups?.methods.map((one) => [one.name, one]));
  const v1 = (name: string, json: object): Pick<Errand, "path" | "message"> => {
    const method = methods.get(name);
    if (method === undefined) throw new Error(`no rpc ${name}`);
    return {
      path: `/${method.parent.typeName}/${name}`,
      message: toBinary(method.input, fromJson(method.input, json as never, { registry })),
    };
  };
  return ({ marker }, random) => {
    const id = `${marker}/g${Math.floor(random() * 1000)}`;
    const dice = random();
    if (dice < 0.3) return { kind: "one", codes: [0], ...v1("List", { id }) };
    if (dice < 0.4) return { kind: "list", codes: [0], ...v1("List", {}) };
    if (dice < 0.42) return { kind: "many", codes: [0], ...v1("List", { name: "many" }) };
    if (dice < 0.55) return { kind: "update", codes: [0], ...v1("Update", { id, name: `${marker} is asked` }) };
    if (dice < 0.65) return { kind: "error", codes: [5], ...v1("Delete", { id: `${marker}/missing` }) };
    if (dice < 0.8) return { kind: "native", codes: [0], way: "native", ...v1("List", { id }) };
    const path = `/${VENDOR_TYPES}.iam.v2beta1.GroupsService/GetGroup`;
    return { kind: "v2", codes: [0], path, message: Buffer.from(`${marker} asks`) };
  };
}

interface Trial {
  readonly id: string;
  readonly total: number;
  /** Share of the calls that their client cancels, and of those with a deadline that some responses miss. */
  readonly cancels: number;
  readonly hurries: number;
  /** Before each response of the platform. */
  readonly delay: (random: () => number) => number;
}

const TRIALS: readonly (readonly [string, Trial])[] = [
  [
    "T-RPC-09: two credentials over the same gRPC connections: no response holds anything of the other",
    {
      ...{ id: "T-RPC-09", total: scale(600, 100_000), cancels: 0.02, hurries: 0 },
      delay: (random) => (random() < 0.3 ? 2 : 0),
    },
  ],
  [
    "T-RPC-10, T-RPC-14: in a storm of calls that are cancelled or late, each client gets only its own, and the log holds no token",
    {
      ...{ id: "T-RPC-10", total: scale(400, 20_000), cancels: 0.3, hurries: 0.3 },
      delay: (random) => (random() < 0.1 ? 30 + Math.floor(random() * 120) : Math.floor(random() * 3)),
    },
  ],
];

it.each(TRIALS)(
  "%s",
  {
    timeout: 3_600_000,
  },
  async (_, { id, total, cancels, hurries, delay }) => {
    const random = randomOf(seedOf(id));
    const strayed: string[] = [];
    const rpc = await rpcPlatform(strayed, () => delay(random));
    const both = tenants(2);
    let logged = 0;
    const logLine = (line: string): void => {
      logged++;
      if (both.some(({ token }) => line.includes(token))) strayed.push(`in the log: ${line}`);
    };
    const descriptors = seededSandbox().descriptors();
    const { rpcUrl, ended } = await through(
      await markerPlatform({ random, delay }),
      {
        listenGrpcPort: "0",
        grpcDescriptors: fileWith(descriptors),
        upstreamV2GrpcUrl: rpc.url,
        upstreamV1GrpcUrl: rpc.url,
      },
      logLine,
    );
    const errandOf = errands(descriptors);
    const wrong: string[] = [];
    const counts = { answers: 0, cancelled: 0, late: 0, own: 0 };
    const kinds = new Set<string>();
    const sessions = Array.from({ length: SESSIONS }, () => session(rpcUrl));
    const ask = async (at: number): Promise<void> => {
      const tenant = both[random() < 0.5 ? 0 : 1] as Tenant;
      const { kind, path, message, codes, way } = errandOf(tenant, random);
      const stream = open(sessions[at % SESSIONS] as (typeof sessions)[number], path, {
        authorization: `Bearer ${tenant.token}`,
        ...(way === undefined ? {} : { "x-way": way }),
        ...(random() < hurries ? { "grpc-timeout": "40m" } : {}),
      });
      stream.end(framed(message));
      if (random() < cancels) {
        setTimeout(() => stream.close(8), random() * 5);
        await answered(stream);
        counts.cancelled++;
        return;
      }
      const { head, trailers, body, status } = await answered(stream);
      const text = `${JSON.stringify([head, trailers])}${body.toString("latin1")}`;
      const { own, foreign } = lookThrough(text, tenant.marker);
      if (foreign.length > 0) wrong.push(`${kind} of ${tenant.marker} has ${foreign.join(", ")}`);
      const isLate = hurries > 0 && (status === 4 || (status === 14 && text.includes("in time")));
      if (isLate) counts.late++;
      else if (status === undefined || !codes.includes(status))
        wrong.push(`${kind} of ${tenant.marker} ended with ${status}`);
      counts.own += own;
      counts.answers++;
      kinds.add(kind);
    };
    const loop = async (at: number): Promise<void> => {
      while (counts.answers < total && wrong.length < 20) await ask(at);
    };
    await Promise.all(Array.from({ length: SESSIONS * LOOPS }, (_, at) => loop(at)));
    expect(wrong).toEqual([]);
    expect(strayed).toEqual([]);
    expect(kinds.size).toBe(7);
    // There was something to confuse.
    expect(counts.own).toBeGreaterThan(counts.answers / 2);
    expect(counts.late > 0).toBe(hurries > 0);
    expect(logged).toBeGreaterThan(total / 2);
    expect(counts.cancelled).toBeGreaterThan(0);
    expect(ended.internal).toBe(0);
    figure(id, "answers looked through for foreign markers", counts.answers, "answers");
    figure(id, "calls that were cancelled", counts.cancelled, "calls");
    figure(id, "calls whose response came too late", counts.late, "calls");
    figure(id, "foreign markers and tokens found", wrong.length + strayed.length, "markers");
  },
);
