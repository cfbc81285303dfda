/** A stopping process finishes what it can, and ends in time. (Under load: stop.all.ts.) */
import { describe, expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { dial, parse } from "../../server/support/client.ts";
import { createDouble } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { serve } from "./serving.ts";

takeDownAfterEach();

describe("a process that cannot finish", () => {
  it("T-LOD-08: ends in time before a platform that hangs, and whoever waited is told", async () => {
    const platform = await createDouble(() => {});
    later(platform.close);
    const { run, url } = await serve({
      upstreamV2Url: platform.url,
      listenShutdownDelaySeconds: "0",
      limitsRequestSeconds: "2s",
      listsMaxSeconds: "1s",
    });
    const port = Number(new URL(url).port);
    const clients = await Promise.all(Array.from({ length: 20 }, () => dial(port)));
    for (const client of clients) client.send("DELETE /iam/v2beta1/groups/a HTTP/1.1\r\nHost: a\r\n\r\n");
    await platform.until(() => platform.requests.length === clients.length);
    run.stop("SIGTERM");
    const answers = (await Promise.all(clients.map((client) => client.closed()))).map(parse);
    expect(answers.every(({ status }) => status === 504)).toBe(true);
    // A write that was sent may have been done: its client must know.
    expect(answers.every((answer) => answer.json().details[0]?.metadata["state"] === "unknown")).toBe(true);
    expect(await run.ended).toEqual({ code: 0, signal: null });
    figure("T-LOD-08", "requests that hung when the process was stopped, each answered", answers.length, "requests");
  });

  it("T-LOD-08: a second signal ends at once", async () => {
    const platform = await createDouble(() => {});
    later(platform.close);
    const { run, url, adminUrl } = await serve({ upstreamV2Url: platform.url });
    const client = await dial(Number(new URL(url).port));
    client.send("GET /iam/v2beta1/groups/a HTTP/1.1\r\nHost: a\r\n\r\n");
    await platform.until(() => platform.requests.length === 1);
    run.stop("SIGTERM");
    while ((await fetch(`${adminUrl}/readyz`)).status === 200);
    run.stop("SIGTERM");
    expect((await run.ended).code).toBe(1);
    expect(await client.closed()).toBe("");
  });
});
