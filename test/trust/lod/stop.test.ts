/** A stopping process finishes what it can, and ends in time. (Under load: stop.all.ts.) */
import { describe, expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { dial, parse } from "../../server/support/client.ts";
import { createDouble, ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { serve } from "./serving.ts";

takeDownAfterEach();

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a process that is told to stop", () => {
  it("T-LOD-07: a list that is longer than the drain is finished, and so is what arrives on a connection that is open", async () => {
    let go = () => {};
    const platform = await createDouble(({ line }, socket) => {
      if (line.includes("/slow")) go = () => socket.write(ok('"late"'));
      else socket.write(ok());
    });
    later(platform.close);
    const { run, url } = await serve({ upstreamV2Url: platform.url, listenShutdownDelaySeconds: "0" });
    const port = Number(new URL(url).port);
    const [slow, half] = [await dial(port), await dial(port)];
    slow.send("GET /iam/v2beta1/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    half.send("GET /iam/v2beta1/half HTTP/1.1\r\nHost: a\r\nX-Half: ");
    await platform.until(() => platform.requests.length === 1);
    run.stop("SIGTERM");
    while (
      (await dial(port).then(
        (client) => client.leave(),
        () => "gone",
      )) !== "gone"
    )
      await pause(10);
    half.send("1\r\n\r\n");
    const served = parse(await half.closed());
    expect([served.status, served.field("connection")]).toEqual([200, "close"]);
    go();
    expect(parse(await slow.closed()).body).toBe('"late"');
    expect(await run.ended).toEqual({ code: 0, signal: null });
  });
});

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
