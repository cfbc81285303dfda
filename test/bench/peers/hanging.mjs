/** What is a platform like that takes every request and never answers? */
import { createServer } from "node:http";

const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request) => request.resume());
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
