/**
 * A platform that serves gRPC for the soak test of both ports. Each message and each trailer names the tenant of the token, and the token
 * says how the call ends: `t7.reset` is tenant 7, whose call is reset.
 */
import { createServer } from "node:http2";

const SLOW_MS = 200;
const LATE_MS = 300;
const BIG_BYTES = 256 * 1024;
const STREAMED = 5;
const BETWEEN_MS = 20;

const framed = (text) => {
  const bytes = Buffer.from(text);
  const prefix = Buffer.from([0, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
};

/** Codes of HTTP/2 with which a call is reset. */
const RESETS = { reset: 2, refused: 7, calm: 11 };
/** Statuses with which a call ends. */
const STATUSES = { unavailable: "14", quota: "8", missing: "5" };

const server = createServer();
server.on("session", (session) => session.on("error", () => {}));
server.on("stream", (stream, headers) => {
  stream.on("error", () => {});
  const [, tenant = "", fault = ""] = /^Bearer t(\d+)\.(\w+)$/.exec(headers.authorization ?? "") ?? [];
  const marker = `tenant-${tenant}-`;
  const head = { ":status": 200, "content-type": "application/grpc" };
  const end = (status) => ({ "grpc-status": status, "x-whose": marker });
  if (tenant === "") return stream.respond({ ...head, "grpc-status": "16" }, { endStream: true });
  let asked = 0;
  stream.on("data", (bytes) => {
    asked += bytes.length;
  });
  const respond = async () => {
    if (stream.destroyed) return;
    if (fault in RESETS) return stream.close(RESETS[fault]);
    if (fault in STATUSES) return stream.respond({ ...head, ...end(STATUSES[fault]) }, { endStream: true });
    if (fault === "goaway") stream.session.close();
    stream.respond(head, { waitForTrailers: fault !== "statusless" });
    stream.once("wantTrailers", () => stream.sendTrailers(end("0")));
    if (fault === "cut") {
      return stream.write(framed(marker.repeat(1_000)).subarray(0, 5_000), () => stream.close(2));
    }
    if (headers[":path"].endsWith("/Watch")) {
      for (let i = 0; i < STREAMED && !stream.destroyed; i++) {
        stream.write(framed(`${marker} ${i}`));
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
      }
      return stream.end();
    }
    stream.end(framed(headers[":path"].endsWith("/Big") ? marker.padEnd(BIG_BYTES) : `${marker} ${asked}`));
  };
  const wait = fault === "slow" ? SLOW_MS : fault === "late" ? LATE_MS : 0;
  stream.on("end", () => (wait > 0 ? setTimeout(respond, wait) : respond()));
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}`),
);
