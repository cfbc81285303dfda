/** The project's own sandbox as v1 and v2. What v2 does to a client depends on the client's name. */
import { setTimeout } from "node:timers/promises";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import type { ApiRequest, ApiResponse, SendLayer } from "../../../src/model/http.ts";
import { later } from "../../support/take-down.ts";

export interface Sick {
  /** Clients whose v2 responses differ from those of v1. */
  readonly wrong: Set<string>;
  /** Clients whose v2 responses are 503. */
  readonly failing: Set<string>;
  /** Milliseconds before each response of both versions. */
  slowMs: number;
}

export interface Platform {
  readonly sandbox: Sandbox;
  readonly sick: Sick;
  readonly url: string;
}

export async function startPlatform(): Promise<Platform> {
  const sick: Sick = { wrong: new Set(), failing: new Set(), slowMs: 0 };
  const faults: SendLayer = (next) => async (request, options) => {
    if (sick.slowMs > 0) await setTimeout(sick.slowMs);
    if (!request.target.includes("/v2beta1/")) return next(request, options);
    const client = clientOf(request);
    if (sick.failing.has(client)) return UNAVAILABLE;
    const response = await next(request, options);
    return sick.wrong.has(client) ? altered(response) : response;
  };
  const sandbox = seededSandbox({ organisation: false, faults, logSize: 0 });
  later(() => sandbox.close());
  const { url } = await sandbox.listen();
  return { sandbox, sick, url };
}

const UNAVAILABLE: ApiResponse = {
  status: 503,
  headers: [["content-type", "application/json"]],
  body: Buffer.from('{"code":14,"message":"sick","details":[]}'),
};

function clientOf({ headers }: ApiRequest): string {
  const agent = headers.find(([name]) => name.toLowerCase() === "user-agent")?.[1] ?? "";
  return agent.split("/")[0] ?? "";
}

/** Another description of each record. */
function altered(response: ApiResponse): ApiResponse {
  const text = Buffer.from(response.body).toString().replaceAll('"description":"', '"description":"not ');
  const headers = response.headers.filter(([name]) => name.toLowerCase() !== "content-length");
  return { ...response, headers, body: Buffer.from(text) };
}
