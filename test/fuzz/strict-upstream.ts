/** A raw upstream server that checks every byte that arrives, as strictly as any reader on the way. */
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A request as it arrived, read by one strict grammar. */
export interface Arrived {
  readonly line: string;
  readonly method: string;
  readonly target: string;
  /** Names in lower case. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
}

export interface StrictUpstream {
  readonly url: string;
  /** Well-formed requests so far. */
  count(): number;
  /** How often each request id arrived. */
  readonly ids: ReadonlyMap<string, number>;
  /** What should never have arrived, since the last time somebody asked. */
  takeFaults(): readonly string[];
  close(): Promise<void>;
}

export interface StrictOptions {
  /** Whole paths that may arrive. */
  readonly path: RegExp;
  /** Says more of one request; undefined: nothing wrong with it. */
  readonly judge?: (request: Arrived) => string | undefined;
  readonly answer: (request: Arrived) => string;
}

const LINE = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/[\x21-\x22\x24-\x7e\x80-\xff]*) HTTP\/1\.1$/;
const FIELD = /^([!#$%&'*+.^_`|~A-Za-z0-9-]+): ?([\t\x20-\x7e\x80-\xff]*)$/;
/** Fields of one connection, and fields that only proxies may set; never sent on. */
const FORBIDDEN =
  /^(?:keep-alive|proxy-connection|proxy-authorization|te|trailer|upgrade|http2-settings|expect|x-http-method(?:-override)?|x-method-override|grpc-(?!metadata-).*|forwarded|x-real-ip|grpc-metadata-(?:authorization|cookie|host|forwarded|x-forwarded-.*|x-real-ip|content-length|content-type|connection|te|trailer|transfer-encoding|upgrade|grpc.*)?)$/;
/** Names with signs that some programs read as a field that carryover controls: `x_forwarded_for`. */
const LOOK_ALIKE =
  /^(?=.*[^a-z0-9-])[^a-z0-9]*(?:x[^a-z0-9]*forwarded.*|grpc(?!-metadata-).*|(?:x[^a-z0-9]*real[^a-z0-9]*ip|forwarded|host|via|cookie|authorization|content[^a-z0-9]*length|transfer[^a-z0-9]*encoding|connection)[^a-z0-9]*)$/;
export const isForbidden = (name: string): boolean => FORBIDDEN.test(name) || LOOK_ALIKE.test(name);
const DOTS = /(?:^|\/|%2f|\\|%5c)(?:\.|%2e){1,2}(?:;[^/]*)?(?:\/|%2f|\\|%5c|$)/i;

/** What is wrong with the head of a request for everybody, whatever it asks. */
function faultOfHead({ target, fields }: Omit<Arrived, "body">, path: RegExp): string | undefined {
  const values = (name: string) => fields.filter(([each]) => each === name).map(([, value]) => value);
  const [way = ""] = target.split("?");
  if (!path.test(way)) return "a path outside of the prefixes";
  if (DOTS.test(way)) return "a dot segment";
  if (values("host").length !== 1) return `${values("host").length} Host fields`;
  const lengths = values("content-length");
  const codings = values("transfer-encoding");
  if (lengths.length + codings.length > 1) return "two framings";
  if (lengths.some((value) => !/^\d+$/.test(value) || !Number.isSafeInteger(Number(value)))) return "an odd length";
  if (codings.some((value) => value !== "chunked")) return "an odd transfer coding";
  if (values("connection").some((value) => !/^(?:keep-alive|close)$/.test(value))) return "an odd Connection";
  const bad = fields.find(([name]) => isForbidden(name));
  if (bad !== undefined) return `a field ${bad[0]}`;
  if (values("authorization").length > 1) return "two Authorization fields";
  if (values("x-request-id").length !== 1) return "no request id, or two";
  if (!/(?:^|, *)1\.1 carryover$/.test(values("via").at(-1) ?? "")) return "no Via of carryover: a smuggled request";
  return undefined;
}

/** One request at the beginning of `text`: undefined while more is to come; a string says what is wrong. */
function read(text: string, path: RegExp): { request: Arrived; length: number } | string | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return text.length > 64 * 1024 ? "a head without an end" : undefined;
  const [line = "", ...lines] = text.slice(0, end).split("\r\n");
  const [, method = "", target = ""] = LINE.exec(line) ?? [];
  if (method === "") return `a line that is none: ${JSON.stringify(line.slice(0, 200))}`;
  const fields: [string, string][] = [];
  for (const each of lines) {
    const [, name, value = ""] = FIELD.exec(each) ?? [];
    if (name === undefined) return `a field that is none: ${JSON.stringify(each.slice(0, 200))}`;
    fields.push([name.toLowerCase(), value.trim()]);
  }
  const fault = faultOfHead({ line, method, target, fields }, path);
  if (fault !== undefined) return `${fault}: ${JSON.stringify(text.slice(0, Math.min(end, 600)))}`;
  const body = bodyAt(text, end + 4, fields);
  if (body === undefined || typeof body === "string") return body;
  return { request: { line, method, target, fields, body: body.text }, length: body.end };
}

function bodyAt(
  text: string,
  start: number,
  fields: Arrived["fields"],
): { text: string; end: number } | string | undefined {
  const value = (name: string) => fields.find(([each]) => each === name)?.[1];
  if (value("transfer-encoding") === undefined) {
    const end = start + Number(value("content-length") ?? 0);
    return text.length < end ? undefined : { text: text.slice(start, end), end };
  }
  let at = start;
  let whole = "";
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const digits = text.slice(at, lineEnd);
    if (!/^[0-9a-fA-F]{1,8}$/.test(digits)) return `a chunk size that is none: ${JSON.stringify(digits.slice(0, 100))}`;
    const size = Number.parseInt(digits, 16);
    const end = lineEnd + 2 + size;
    if (text.length < end + 2) return undefined;
    if (text.slice(end, end + 2) !== "\r\n") return "a chunk that does not end, or a trailer";
    whole += text.slice(lineEnd + 2, end);
    at = end + 2;
    if (size === 0) return { text: whole, end: at };
  }
}

export async function createStrictUpstream(options: StrictOptions): Promise<StrictUpstream> {
  const { path, judge, answer } = options;
  const sockets = new Set<Socket>();
  const ids = new Map<string, number>();
  let faults: string[] = [];
  let count = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    let rest = "";
    let busy = false;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    const blame = (what: string) => {
      faults.push(what);
      socket.destroy();
    };
    socket.on("data", (chunk: Buffer) => {
      rest += chunk.toString("latin1");
      if (busy) return blame(`bytes behind a request that has no answer yet: ${JSON.stringify(rest.slice(0, 200))}`);
      const found = read(rest, path);
      if (found === undefined) return;
      if (typeof found === "string") return blame(found);
      rest = rest.slice(found.length);
      if (rest !== "") return blame(`bytes behind a request: ${JSON.stringify(rest.slice(0, 200))}`);
      const { request } = found;
      const wrong = judge?.(request);
      if (wrong !== undefined) return blame(`${wrong}: ${request.line}`);
      count++;
      const id = request.fields.find(([name]) => name === "x-request-id")?.[1] ?? "";
      ids.set(id, (ids.get(id) ?? 0) + 1);
      busy = true;
      // Whatever else the client side has written by then must not be there.
      setImmediate(() => {
        busy = false;
        socket.write(answer(request), "latin1");
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    ids,
    takeFaults: () => {
      const taken = faults;
      faults = [];
      return taken;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
