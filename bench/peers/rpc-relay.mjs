/** A relay on node:http2 that does nothing else: one connection to the platform, fields, messages and trailers as they come. */
import { connect, createServer } from "node:http2";

const platform = connect(process.argv[2]);
const server = createServer();
server.on("stream", (stream, headers) => {
  const { ":scheme": _scheme, ":authority": _authority, ...fields } = headers;
  const up = platform.request(fields);
  stream.on("error", () => up.close());
  up.on("error", () => stream.close());
  let trailers = {};
  up.on("response", ({ ":status": status, ...answered }) => {
    stream.respond({ ":status": status, ...answered }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers(trailers));
    up.pipe(stream);
  });
  up.on("trailers", (sent) => {
    trailers = sent;
  });
  stream.pipe(up);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
