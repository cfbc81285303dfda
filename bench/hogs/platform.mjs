/** A platform for hogs: `good` is its only token, and one list has a page of `LIST_BYTES`. Prints its URL. */
import { createServer } from "node:http";

const LIST_BYTES = Number(process.env.LIST_BYTES ?? 6e6);
const HEAVY_BYTES = 7e6;
const group = (i, more) => ({ uid: `a/${String(i).padStart(6, "0")}`, name: `group ${i}`, description: "", ...more });
const page = (items) => Buffer.from(JSON.stringify({ groups: items, totalCount: String(items.length) }));
const text = "x".repeat(LIST_BYTES / 200 - 100);
const long = page(Array.from({ length: 200 }, (_, i) => group(i, { description: text })));
const short = page([group(1)]);
const one = Buffer.from(JSON.stringify({ ...group(1), uid: "a/1" }));

/** Pages whose records have as many members, or values, as fit. */
function heavy(kind) {
  const each = HEAVY_BYTES / 200;
  return page(
    Array.from({ length: 200 }, (_, i) => {
      if (kind === "members") {
        const members = Array.from({ length: each / 14 }, (_, j) => [`m${i}x${j}`, 1]);
        return group(i, Object.fromEntries(members));
      }
      return group(i, { more: Array.from({ length: each / 3 }, () => []) });
    }),
  );
}
const pages = new Map([
  ["long", long],
  ["short", short],
  ["members", heavy("members")],
  ["values", heavy("values")],
]);

const server = createServer((req, res) => {
  const send = (status, body) => {
    res.writeHead(status, { "content-type": "application/json", "content-length": body.length });
    res.end(body);
  };
  const done = () => {
    if (!/^Bearer good/.test(req.headers.authorization ?? "")) {
      return send(401, Buffer.from('{"code":16,"message":"Unauthenticated","details":[]}'));
    }
    const wanted = /[?&]name=([a-z]+)/.exec(req.url);
    if (/\/groups\?/.test(req.url)) return send(200, pages.get(wanted?.[1] ?? "short") ?? short);
    return send(200, one);
  };
  req.on("end", done).resume();
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
