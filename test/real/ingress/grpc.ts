/** What of gRPC matters to a proxy: HTTP/2 streams in both directions, `te`, trailers. A platform and a client of it. */
import { type ClientHttp2Session, connect, createServer, type IncomingHttpHeaders } from "node:http2";
import { later } from "../../end-to-end/app/rig.ts";

export interface GrpcPlatform {
  readonly url: string;
  /** Heads as they arrived. */
  readonly calls: IncomingHttpHeaders[];
}

/** Gives back every message as it comes, ends with `grpc-status: 0` in the trailers. HTTP/2 without TLS; gone after the test. */
export async function startGrpcPlatform(): Promise<GrpcPlatform> {
  const calls: IncomingHttpHeaders[] = [];
  const sessions = new Set<{ destroy(): void }>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    calls.push(headers);
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "grpc-message": "said" }));
    stream.on("error", () => {});
    stream.pipe(stream);
  });
  const port = await new Promise<number>((done) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      done(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  later(
    () =>
      new Promise((done) => {
        server.close(() => done());
        for (const session of sessions) session.destroy();
      }),
  );
  return { url: `http://127.0.0.1:${port}`, calls };
}

export interface GrpcAnswer {
  readonly status: number;
  /** What came back for each message, each awaited before the next was sent. */
  readonly echoes: readonly string[];
  readonly trailers: IncomingHttpHeaders;
}

/** One call in both directions: a message goes out when the one before it has come back. */
export async function callGrpc(url: string, path: string, messages: readonly string[]): Promise<GrpcAnswer> {
  const session: ClientHttp2Session = connect(url);
  try {
    return await new Promise((done, failed) => {
      session.once("error", failed);
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc+proto",
        te: "trailers",
        "grpc-timeout": "20S",
        "x-trace": "a",
      });
      let status = 0;
      let trailers: IncomingHttpHeaders = {};
      const echoes: string[] = [];
      const next = (): void => {
        const message = messages[echoes.length];
        if (message === undefined) stream.end();
        else stream.write(message);
      };
      stream.once("response", (headers) => {
        status = headers[":status"] ?? 0;
      });
      stream.once("trailers", (headers) => {
        trailers = headers;
      });
      stream.setEncoding("utf8").on("data", (piece: string) => {
        echoes.push(piece);
        next();
      });
      stream.once("error", failed);
      stream.once("close", () => done({ status, echoes, trailers }));
      next();
    });
  } finally {
    session.destroy();
  }
}
