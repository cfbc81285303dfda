/** How do thousands of clients ask one thing each, over real connections? */
import { connect } from "node:net";

export interface CrowdAsk {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const CONNECTIONS = 4;
/** Reads on one connection before their answers came; a write stands alone, as carryover serves none beside another request. */
const AHEAD = 16;

/**
 * Sends all of them over a few connections, one behind the other; gives each answer's `carryover-mode`, or its status
 * where it has none. Answers must come with a `content-length`.
 */
export async function crowd(url: string, asks: readonly CrowdAsk[]): Promise<string[]> {
  const modes: string[] = new Array(asks.length);
  const lanes = Array.from({ length: CONNECTIONS }, (_, lane) => lane);
  await Promise.all(
    lanes.map((lane) => {
      const mine = asks.flatMap((ask, at) => (at % CONNECTIONS === lane ? [{ ask, at }] : []));
      return converse(
        url,
        mine.map(({ ask }) => ask),
        (index, mode) => {
          modes[mine[index]?.at ?? -1] = mode;
        },
      );
    }),
  );
  return modes;
}

function converse(url: string, asks: readonly CrowdAsk[], tell: (index: number, mode: string) => void): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((done, failed) => {
    if (asks.length === 0) return done();
    const socket = connect({ host: hostname, port: Number(port) });
    let [sent, got] = [0, 0];
    let rest = "";
    const more = () => {
      let text = "";
      for (; sent < asks.length && sent < got + aheadOf(asks[sent], asks[sent - 1]); sent++) {
        text += written(asks[sent] as CrowdAsk, hostname);
      }
      if (text !== "") socket.write(text);
    };
    socket.setEncoding("latin1").on("data", (text: string) => {
      rest += text;
      for (;;) {
        const end = rest.indexOf("\r\n\r\n");
        if (end < 0) break;
        const head = rest.slice(0, end);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? "0");
        if (rest.length < end + 4 + length) break;
        tell(got, /^carryover-mode: (\S+)/im.exec(head)?.[1] ?? head.slice(9, 12));
        rest = rest.slice(end + 4 + length);
        got += 1;
      }
      if (got === asks.length) socket.destroy();
      else if (sent - got < AHEAD / 2) more();
    });
    socket.on("error", failed);
    socket.on("close", () => (got === asks.length ? done() : failed(new Error(`closed after ${got} answers`))));
    more();
  });
}

/** How many may be under way when `ask` goes out behind `before`. */
function aheadOf(ask: CrowdAsk | undefined, before: CrowdAsk | undefined): number {
  return ask?.method === "GET" && (before === undefined || before.method === "GET") ? AHEAD : 1;
}

function written({ method, path, headers, body }: CrowdAsk, host: string): string {
  const fields = Object.entries({
    host,
    ...headers,
    ...(body === undefined ? {} : { "content-length": String(body.length) }),
  });
  return `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body ?? ""}`;
}
