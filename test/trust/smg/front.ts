/** Runs the whole program in front of a platform that is scripted byte for byte, and shows what reaches it. */
import type { Socket } from "node:net";
import type { Exchange } from "../../../src/model/exchange.ts";
import { type Answer, dial, parse, talk } from "../../server/support/client.ts";
import { createDouble, type Double, ok, type Recorded, type Script } from "../../server/support/double.ts";
import { startCarryover } from "../../support/carryover.ts";

export const V1 = "/iam/v1/groups";
export const V2 = "/iam/v2beta1/groups";
export const TOKEN = "Authorization: Bearer a.b-c\r\n";

/** A platform whose lists are empty, and that has every record that is asked for by its uid. */
export const serving = ({ line }: Pick<Recorded, "line">, socket: Socket): void => {
  const [method, target = ""] = line.split(" ");
  const uid = /^\/iam\/v2beta1\/groups\/([^?:]+)/.exec(target)?.[1];
  if (method === "HEAD") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
  else socket.write(ok(uid === undefined ? "{}" : JSON.stringify({ uid, name: "n" })));
};

export interface Front {
  readonly port: number;
  readonly adminUrl: string;
  readonly platform: Double;
  readonly exchanges: Exchange[];
  readonly lines: string[];
  /** Sends bytes and takes everything until the connection is closed; what reached the platform meanwhile. */
  talk(bytes: string | Buffer): Promise<{ text: string; sent: readonly Recorded[] }>;
  /** `talk` with one request, and its one answer. */
  ask(line: string, fields?: string, body?: string): Promise<{ answer: Answer; sent: readonly Recorded[] }>;
  close(): Promise<void>;
}

/** Carryover whole, over `script`. */
export async function front(script: Script = serving, flags: Readonly<Record<string, string>> = {}): Promise<Front> {
  const platform = await createDouble(script);
  const exchanges: Exchange[] = [];
  const lines: string[] = [];
  const carryover = await startCarryover({
    v2Url: platform.url,
    flags,
    logLine: (line) => lines.push(line),
    onExchange: (one) => exchanges.push(one),
  });
  const port = Number(new URL(carryover.url).port);
  const converse = async (bytes: string | Buffer) => {
    const before = platform.requests.length;
    const text = await talk(port, bytes);
    return { text, sent: platform.requests.slice(before) };
  };
  return {
    port,
    adminUrl: carryover.adminUrl,
    platform,
    exchanges,
    lines,
    talk: converse,
    ask: async (line, fields = "", body = "") => {
      const { text, sent } = await converse(
        `${line} HTTP/1.1\r\nHost: api.example\r\nConnection: close\r\n${fields}\r\n${body}`,
      );
      return { answer: parse(text), sent };
    },
    close: async () => {
      await carryover.close();
      await platform.close();
    },
  };
}

export { dial, ok, parse };

/** The values of a field that was received (name in lower case). */
export function valuesOf({ fields }: Pick<Recorded, "fields">, name: string): readonly string[] {
  return fields.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}

/** The reason in carryover's own error. */
export function reasonOf(answer: Answer): string | undefined {
  return answer.json().details.find((detail) => "reason" in detail)?.reason;
}
