import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { dial, type Front, front, V1, V2 } from "./front.ts";

const CONNECTIONS = 10;

/** The `n`th of requests of which none resembles another. */
function request(n: number): string {
  const body = `{"name":"n","novelty${n}":${n}}`;
  const lines = [
    `GET /unknown-${n}/v1/path HTTP/1.1`,
    `GET ${V1}?parameter_${n}=1 HTTP/1.1`,
    `GET ${V2}/${n.toString(16)}?x=${n} HTTP/1.1`,
    `GET /iam/v1/novelties${n} HTTP/1.1`,
    `PUT ${V1}/${n.toString(16)} HTTP/1.1\r\nContent-Length: ${body.length}`,
  ];
  const which = n % lines.length;
  const fields = [
    `Host: host-${n}.example`,
    `Authorization: Bearer ${Buffer.from(`{"sub":"${n}"}`).toString("base64url")}.token-${n}.x`,
    `Accept: application/x-${n}`,
    `Accept-Language: x-${n}`,
    `User-Agent: agent-${n}/1.${n}`,
    `X-Request-Id: id-${n}`,
    `X-Novelty-${n}: ${n}`,
    `Cookie: c${n}=${n}`,
  ];
  return `${lines[which]}\r\n${fields.join("\r\n")}\r\n\r\n${which === 4 ? body : ""}`;
}

/** Sends requests `from` to `to`, each when the one before on its connection has been answered. */
async function send(here: Front, from: number, to: number): Promise<void> {
  const worker = async (first: number) => {
    const client = await dial(here.port);
    for (let n = first; n < to; n += CONNECTIONS) {
      const seen = client.text().length;
      client.send(request(n));
      const id = `x-request-id: id-${n}\r\n`;
      await client.until((text) => text.indexOf(id, seen) > 0 && isWhole(text, text.indexOf("HTTP/1.1 ", seen)));
    }
    client.leave();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => worker(from + i)));
}

function isWhole(text: string, start: number): boolean {
  const end = text.indexOf("\r\n\r\n", start);
  const length = /content-length: (\d+)/i.exec(text.slice(start, end))?.[1];
  return end > 0 && text.length >= end + 4 + Number(length ?? 0);
}

const page = async (here: Front, path: string) => (await fetch(here.adminUrl + path)).text();
/** Without Node's own, which come with its first collection of each kind. */
const seriesOf = (metrics: string) => new Set(metrics.match(/^carryover_(?!nodejs_)[^ ]+/gm));

function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

describe("T-SMG-37: paths, tokens, agents and names that are new each time", () => {
  it("add no series and no entry once the places that there are have been taken", async () => {
    const here = await front();
    const half = scale(1_000, 50_000);
    try {
      const fresh = seriesOf(await page(here, "/metrics"));
      await send(here, 0, half);
      const taken = seriesOf(await page(here, "/metrics"));
      const novelties = (await page(here, "/unknown-fields")).length;
      const heap = heapAfterCollection();
      await send(here, half, 2 * half);
      const after = await page(here, "/metrics");
      expect([...seriesOf(after)].filter((name) => !taken.has(name))).toEqual([]);
      expect(taken.size).toBeLessThan(1_000);
      expect(after).not.toMatch(/novelt|unknown-\d|agent-|token-|host-\d|x-\d{3}/);
      // The default of clients.max: three of five requests are of v1, each by a client of its own.
      expect(JSON.parse(await page(here, "/clients")).clients).toHaveLength(1_000);
      expect((await page(here, "/unknown-fields")).length).toBeLessThan(novelties + 1_000);
      expect(here.exchanges.length).toBe(2 * half);
      const grown = (heapAfterCollection() - heap) / 1e6;
      figure("T-SMG-37", "requests of which none resembles another", 2 * half, "requests");
      figure("T-SMG-37", "series when there are no such requests", fresh.size, "series");
      figure("T-SMG-37", "series after them", taken.size, "series");
      figure(
        "T-SMG-37",
        "heap that the second half of them left behind, with the test's own records of each",
        grown,
        "MB",
      );
    } finally {
      await here.close();
    }
  }, 600_000);
});
