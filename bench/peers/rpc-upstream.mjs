/** A platform that answers every gRPC call with the message in a file. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http2";

const message = readFileSync(process.argv[2]);
const server = createServer();
server.on("stream", (stream) => {
  stream.on("error", () => {});
  stream.resume();
  stream.once("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(message);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
