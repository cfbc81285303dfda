import { dial } from "../../server/support/client.ts";
import { V1, V2 } from "./front.ts";

const CONNECTIONS = 10;

/** The `n`th of requests that all differ. */
function request(n: number): string {
  const body = `{"name":"n","novelty${n}":${n}}`;
  const lines = [
    `GET /unknown-${n}/v1/path HTTP/1.1`,
    `GET ${V1}?parameter_${n}=1 HTTP/1.1`,
    `GET ${V2}/${n.toString(16)}?x=${n} HTTP/1.1`,
    `GET /iam/v1/novelties${n} HTTP/1.1`,
    `PUT ${V1}/${n.toString(16)} HTTP/1.1\r\nContent-Length: ${body.length}`,
  ];
  const which = n % lines.length;
  const fields = [
    `Host: host-${n}.example`,
    `Authorization: Bearer ${Buffer.from(`{"sub":"${n}"}`).toString("base64url")}.token-${n}.x`,
    `Accept: application/x-${n}`,
    `Accept-Language: x-${n}`,
    `User-Agent: agent-${n}/1.${n}`,
    `X-Request-Id: id-${n}`,
    `X-Novelty-${n}: ${n}`,
    `Cookie: c${n}=${n}`,
  ];
  return `${lines[which]}\r\n${fields.join("\r\n")}\r\n\r\n${which === 4 ? body : ""}`;
}

/** Sends requests `from` to `to`, which all differ, each after the response to the previous one on its connection. */
export async function sendNovelties(port: number, from: number, to: number): Promise<void> {
  const worker = async (first: number) => {
    const client = await dial(port);
    for (let n = first; n < to; n += CONNECTIONS) {
      const seen = client.text().length;
      client.send(request(n));
      const id = `x-request-id: id-${n}\r\n`;
      await client.until((text) => text.indexOf(id, seen) > 0 && isWhole(text, text.indexOf("HTTP/1.1 ", seen)));
    }
    client.leave();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, i) => worker(from + i)));
}

function isWhole(text: string, start: number): boolean {
  const end = text.indexOf("\r\n\r\n", start);
  const length = /content-length: (\d+)/i.exec(text.slice(start, end))?.[1];
  return end > 0 && text.length >= end + 4 + Number(length ?? 0);
}
