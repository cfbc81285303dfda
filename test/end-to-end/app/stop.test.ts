import { expect, it } from "vitest";
import { serve } from "../../trust/lod/serving.ts";
import { takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const NOBODY = { listenShutdownDelaySeconds: "0", upstreamV2Url: "http://127.0.0.1:9" };

it("T-FLT-23: a log that nobody reads holds up no request, and is written out before the process ends", async () => {
  const { run, url } = await serve(NOBODY);
  run.listen(false);
  const count = 300;
  for (let made = 0; made < count; made += 50) {
    const calls = Array.from({ length: 50 }, () => fetch(`${url}/nowhere`));
    expect((await Promise.all(calls)).every(({ status }) => status === 404)).toBe(true);
  }
  run.stop("SIGTERM");
  run.listen(true);
  expect(await run.ended).toEqual({ code: 0, signal: null });
  // Its start and its stop, too.
  expect(run.out().trimEnd().split("\n")).toHaveLength(count + 2);
});

/** Ends the process at once when the second request has its answer: there is no time to close anything. */
const SUDDEN = `
import { subscribe } from "node:diagnostics_channel";
let answers = 0;
subscribe("http.server.response.finish", () => {
  if (++answers === 2) setTimeout(() => process.exit(3), 1);
});
`;

it("a process that ends at once still writes the lines of requests that were over", async () => {
  const imported = `--import=data:text/javascript,${encodeURIComponent(SUDDEN)}`;
  const { run, url } = await serve(NOBODY, { NODE_OPTIONS: imported });
  for (const path of ["first", "last"]) expect((await fetch(`${url}/${path}`)).status).toBe(404);
  expect((await run.ended).code).toBe(3);
  const lines = run.out().trimEnd().split("\n");
  const paths = lines.flatMap((line) => JSON.parse(line).path ?? []);
  expect(paths.toSorted()).toEqual(["/first", "/last"]);
});
