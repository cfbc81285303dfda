/** Native v1 as a server of grpc-go, and carryover twice: it translates, and it passes calls to a native v1 of the same kind. */
import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { VENDOR_TYPES } from "../../../../sandbox/src/data/vendor.ts";
import { type ApiRequest, header, type SendLayer } from "../../../../sandbox/src/http.ts";
import { recordingSandbox } from "../../../../sandbox/test/seeded.ts";
import { readDescriptors } from "../../../grpc/clients/clients.ts";
import { ALIKE } from "../../../grpc/clients/same.ts";
import { fileWith } from "../../../grpc/support/translating.ts";
import { startCarryover } from "../../../support/carryover.ts";
import { later } from "../../../support/take-down.ts";
import { type Came, type Outcome, outcomeOf } from "./outcome.ts";
import { requestOf } from "./request.ts";
import type { Probe } from "./table.ts";

/** Where `scripts/install-grpc-tools.sh` puts them. */
const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/grpc/bin");

interface Target {
  try(probe: Probe): Promise<Outcome>;
}

export interface Targets {
  readonly native: Target;
  readonly translated: Target;
  /** Native v1 serves. */
  readonly passed: Target;
}

/** The targets that a probe is sent to, each with a platform of its own. */
export async function startTargets(): Promise<Targets> {
  const [one, two, three] = [platform(), platform(), platform()];
  const flags = {
    listenGrpcPort: "0",
    grpcDescriptors: fileWith(one.sandbox.descriptors()),
    v1RecordTimes: "published",
  };
  const first = await startPlatform(one);
  const second = await startPlatform(two);
  const translating = await startCarryover({
    v2Url: second.url,
    flags: { ...flags, upstreamV2GrpcUrl: second.native },
  });
  const third = await startPlatform(three);
  const behind = { upstreamV1GrpcUrl: third.native, upstreamV2GrpcUrl: third.native, cutoverMode: "native" };
  const passing = await startCarryover({ v2Url: third.url, v1Url: third.url, flags: { ...flags, ...behind } });
  for (const { close } of [one.sandbox, two.sandbox, three.sandbox, translating, passing]) later(close);
  return {
    native: target(new URL(first.native).host, one),
    translated: target(new URL(translating.grpcUrl ?? "").host, two),
    passed: target(new URL(passing.grpcUrl ?? "").host, three),
  };
}

function platform() {
  return recordingSandbox({ ...ALIKE, faults: hanging });
}

/** Never responds to a call that asks for it. */
const hanging: SendLayer = (next) => (request, options) => {
  const asked = header(request.headers, "x-probe-hang") ?? header(request.headers, "grpc-metadata-x-probe-hang");
  if (asked === undefined) return next(request, options);
  return new Promise((_, reject) => {
    options.signal.addEventListener("abort", () => reject(options.signal.reason), { once: true });
  });
};

/** Starts a sandbox, and the server in Go that calls it: health and reflection are its own. */
async function startPlatform({ sandbox }: Platform): Promise<{ readonly url: string; readonly native: string }> {
  const { url } = await sandbox.listen();
  const address = await program("native", [new URL(url).host])();
  return { url, native: `http://${address}` };
}

/** Reads a program's lines. */
function program(name: string, words: readonly string[]) {
  const child = spawn(join(TOOLS, name), words, { stdio: ["pipe", "pipe", "inherit"] });
  later(async () => void child.stdin.end());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (line?: string): Promise<string> => {
    if (line !== undefined) child.stdin.write(`${line}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${name} ended`);
    return value;
  };
}

interface Platform {
  readonly sandbox: ReturnType<typeof recordingSandbox>["sandbox"];
  readonly arrived: ApiRequest[];
}

function target(address: string, { sandbox, arrived }: Platform): Target {
  const sender = program("probe", []);
  const registry = readDescriptors(sandbox.descriptors());
  const place = { token: sandbox.token("admin"), root: sandbox.wellKnown.rootGroup, types: VENDOR_TYPES };
  return {
    async try({ request }) {
      const unusual = request(place);
      arrived.length = 0;
      const line = JSON.stringify({ address, ...requestOf(place, unusual) });
      const came: Came = JSON.parse(await sender(line));
      const [service = "", name] = (unusual.path ?? `/${VENDOR_TYPES}.iam.Groups/List`).slice(1).split("/");
      const output = registry.getService(service)?.methods.find((one) => one.name === name)?.output;
      const read = (message: Uint8Array) =>
        output === undefined || service.startsWith("grpc.")
          ? undefined
          : toJson(output, fromBinary(output, message), { registry });
      return outcomeOf(came, arrived, read);
    },
  };
}
