/** A platform that accepts every request and never responds. */
import { createServer } from "node:http";

const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request) => request.resume());
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
