/** What is fuzzed: the whole of carryover before upstreams that take nothing but what may reach them. */
import { type Catalogue, loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import { type Carryover, startCarryover } from "../support/carryover.ts";
import { type Arrived, createStrictUpstream, type StrictUpstream } from "./strict-upstream.ts";

export interface FuzzTarget {
  readonly port: number;
  readonly catalogue: Catalogue;
  readonly upstreams: readonly StrictUpstream[];
  /** What should never have reached an upstream, since the last time somebody asked. */
  takeFaults(): readonly string[];
  /** Ids of requests that reached upstreams more often than carryover knows of: somebody slipped one through. */
  slipped(): readonly string[];
  /** Requests that the listener holds now. */
  inFlight(): Promise<number>;
  close(): Promise<void>;
}

const DOMAINS = "(?:iam|registry|vulnerabilities|events|advisory|libraries|ping)";
/** Translated requests are in this form alone; what passes through is the client's own bytes below the same prefixes. */
const V2 = new RegExp(`^/${DOMAINS}/(?:v2beta1|v2)(?:/[^\\\\]*)?$`);
/** Native v1 may have domains that carryover does not know. */
const V1 = /^\/[a-z][a-z0-9-]*\/v1(?:\/[^\\]*)?$/;
const STS = /^\/sts\/exchange$/;

export async function createFuzzTarget(): Promise<FuzzTarget> {
  const catalogue = await loadCatalogue("v2beta1");
  const lists = new Map(
    catalogue.resources.map(({ domain, v2, items }) => [`/${domain}/v2beta1/${v2}`, items] as const),
  );
  const v2 = await createStrictUpstream({ path: V2, answer: (request) => answerOf(request, lists) });
  const v1 = await createStrictUpstream({ path: V1, answer: (request) => answerOf(request, lists) });
  const sts = await createStrictUpstream({ path: STS, answer: (request) => answerOf(request, lists) });
  const upstreams = [v2, v1, sts];
  /** What carryover knows of each request id. What it was still waiting for when a request ended is noted afterwards, or never. */
  const known = new Map<string, Exchange[]>();
  const carryover: Carryover = await startCarryover({
    v2Url: v2.url,
    v1Url: v1.url,
    stsUrl: sts.url,
    // What waits for the rest of a body is over before it counts as a hang.
    flags: { limitsBodyBytes: "65536", limitsRequestSeconds: "2s", listsMaxSeconds: "1s" },
    onExchange: (exchange) => {
      known.set(exchange.requestId, [...(known.get(exchange.requestId) ?? []), exchange]);
    },
  });
  return {
    port: Number(new URL(carryover.url).port),
    catalogue,
    upstreams,
    takeFaults: () => upstreams.flatMap((upstream) => upstream.takeFaults()),
    slipped: () => {
      const arrived = new Map<string, number>();
      for (const { ids } of upstreams) {
        for (const [id, count] of ids) arrived.set(id, (arrived.get(id) ?? 0) + count);
      }
      return [...arrived].flatMap(([id, count]) => {
        const here = known.get(id) ?? [];
        const cut = here.some(({ aborted, reason }) => aborted || reason === "UPSTREAM_TIMEOUT");
        const made = here.reduce((sum, { calls }) => sum + calls.length, 0);
        const told = here.map(({ method, path, status, reason }) => `${method} ${path} ${status} ${reason ?? ""}`);
        return cut || count <= made ? [] : [`${id}: ${count} arrived, ${made} known of ${told.join(", ") || "nobody"}`];
      });
    },
    inFlight: async () => {
      const text = await (await fetch(`${carryover.adminUrl}/metrics`)).text();
      return Number(/^carryover_in_flight_requests (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
    },
    close: async () => {
      await carryover.close();
      for (const upstream of upstreams) await upstream.close();
    },
  };
}

/** A record at its zeros with the uid that was asked for and what was sent; for a collection an empty page. */
function answerOf({ method, target, body }: Arrived, lists: ReadonlyMap<string, string>): string {
  const [path = ""] = target.split("?");
  const items = lists.get(path);
  const json = method === "GET" && items !== undefined ? { [items]: [], totalCount: "0" } : record(path, body);
  const bytes = Buffer.from(JSON.stringify(json)).toString("latin1");
  const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Upstream: double\r\n";
  return `${head}Content-Length: ${bytes.length}\r\n\r\n${method === "HEAD" ? "" : bytes}`;
}

function record(path: string, body: string): object {
  const uid = path.split("/").slice(4).join("/").replace(/:\w+$/, "");
  try {
    const sent: unknown = JSON.parse(Buffer.from(body, "latin1").toString());
    return { ...(typeof sent === "object" ? sent : {}), uid };
  } catch {
    return { uid };
  }
}
