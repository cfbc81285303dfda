/**
 * Maps the addresses that a page's commands use to free ports, so that tests can run in parallel. It is loaded into
 * every Node process of a page. A process that listens on or calls one of the addresses in PAGES_NETWORK gets the free
 * port that stands for it.
 */
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { isIP, Server, Socket } from "node:net";

const ports = new Map(JSON.parse(process.env.PAGES_NETWORK ?? "[]"));
const HERE = new Set(["127.0.0.1", "localhost", "::1", "0.0.0.0", "::", undefined]);

/** For programs that look a name up before they connect: each name has an address of its own, of those for documentation (RFC 5737). */
const names = [...new Set([...ports.keys()].map((key) => key.slice(0, key.lastIndexOf(":"))))];
const addresses = new Map(
  names.filter((name) => isIP(name) === 0).map((name, index) => [name, `192.0.2.${index + 1}`]),
);
const nameOf = new Map([...addresses].map(([name, address]) => [address, name]));

const standIn = (host, port) => ports.get(`${HERE.has(host) ? "127.0.0.1" : (nameOf.get(host) ?? host)}:${port}`);

/** `args` of listen and connect come as options, as (port, host), or as the list that Node makes of either. */
function bent(args, standInOf) {
  const [first, ...rest] = args;
  if (Array.isArray(first)) {
    const list = bent(first, standInOf);
    // Node marks the lists that it made itself with symbols.
    for (const mark of Object.getOwnPropertySymbols(first)) list[mark] = first[mark];
    return [list, ...rest];
  }
  if (typeof first === "object" && first !== null && first.port !== undefined) {
    const port = standInOf(first.host, first.port);
    return port === undefined ? args : [{ ...first, port, host: "127.0.0.1" }, ...rest];
  }
  if (typeof first !== "number" && typeof first !== "string") return args;
  const host = typeof rest[0] === "string" ? rest[0] : undefined;
  const port = standInOf(host, first);
  if (port === undefined) return args;
  return [port, "127.0.0.1", ...(host === undefined ? rest : rest.slice(1))];
}

const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  return listen.apply(
    this,
    bent(args, (_host, port) => standIn(undefined, port)),
  );
};
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) {
  return connect.apply(this, bent(args, standIn));
};
const { lookup } = dns;
dns.lookup = function (host, ...rest) {
  const address = addresses.get(host);
  return address === undefined ? lookup.call(this, host, ...rest) : lookup.call(this, address, ...rest);
};
syncBuiltinESMExports();
