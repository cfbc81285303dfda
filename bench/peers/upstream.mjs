/** A platform that serves responses from a file, by request target; any other target is 404. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.argv[2], "utf8"))).map(([target, { headers, body }]) => {
    const bytes = Buffer.from(body);
    const fields = headers.filter(([name]) => name !== "content-length").flat();
    return [target, { bytes, fields: [...fields, "content-length", String(bytes.length)] }];
  }),
);
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const answer = answers.get(request.url);
  if (answer === undefined) {
    response.writeHead(404, { "content-length": 0 }).end();
    return;
  }
  response.writeHead(200, answer.fields);
  response.end(answer.bytes);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
