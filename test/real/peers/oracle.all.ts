/**
 * Checks that the oracle finds each kind of fault, with made-up data. (`npm run real -- peers` sends real requests.)
 */
import { describe, expect, it } from "vitest";
import { hostileH2 } from "./h2.ts";
import { hostile, mutants } from "./hostile.ts";
import { faultsOf } from "./oracle.ts";
import { readStream } from "./wire.ts";

const STAMP = "X-Front-Id: 1\r\nX-Front-Read: POST /x\r\n";
const ASKED = `POST /x HTTP/1.1\r\nHost: a.example\r\n${STAMP}Content-Length: 2\r\n\r\nab`;
const FORWARDED = "X-Forwarded-For: 127.0.0.1, 127.0.0.1\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: a.example\r\n";
const CAME = `POST /x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n${STAMP}${FORWARDED}Content-Length: 2\r\n\r\nab`;
const NEXT = { target: "/next/0", text: 'HTTP/1.1 200 OK\r\n\r\n{"target":"/next/0"}' };

function faults(came: string, asked = ASKED, next = NEXT): string {
  const { requests, odd } = readStream(came);
  const platform = { url: "http://127.0.0.1:1", requests, odd: odd === undefined ? [] : [odd] };
  const chain = { tap: { connections: [{ asked, answered: "" }] }, platform };
  return faultsOf(chain, [{ name: "one", bytes: "", answered: true, written: 1, arrived: 1, next }]).join("\n");
}

it("finds nothing when the platform gets what the front wrote", () => {
  expect(faults(CAME)).toBe("");
});

describe("finds", () => {
  const hidden = "GET /hidden HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n";
  it.each([
    ["a smuggled request", CAME + hidden, "smuggled: GET /hidden"],
    ["a smuggled request with an id of its own making", CAME + CAME.replace("Id: 1", "Id: 2"), "smuggled: POST /x"],
    ["a request that arrives twice", CAME + CAME, "twice"],
    ["another method", CAME.replace("POST /x HTTP", "PUT /x HTTP"), "the front wrote POST /x"],
    ["another target", CAME.replace("/x HTTP", "/y HTTP"), "the front wrote POST /x"],
    ["another body", CAME.replace("\r\n\r\nab", "\r\n\r\nac"), "another body"],
    ["another host", CAME.replace("127.0.0.1:1", "evil.example"), "host is"],
    ["two framings", CAME.replace("Content", "Transfer-Encoding: chunked\r\nContent"), "more than one framing"],
    ["a forged peer", CAME.replace("127.0.0.1, 127.0.0.1", "6.6.6.6, 127.0.0.1"), "x-forwarded-for is"],
    ["a forged host", CAME.replace("Host: a.example", "Host: evil.example"), "x-forwarded-host is"],
    ["a forged port", CAME.replace("X-Front-Id", "X-Forwarded-Port: 1\r\nX-Front-Id"), "x-forwarded-port"],
    ["a field of the connection", CAME.replace("X-Front-Id", "TE: trailers\r\nX-Front-Id"), "a field te"],
    ["a field of gRPC", CAME.replace("X-Front-Id", "Grpc-Timeout: 1S\r\nX-Front-Id"), "a field grpc-timeout"],
    ["a name with an underscore", CAME.replace("X-Front-Id", "X_Forwarded_For: 1\r\nX-Front-Id"), "x_forwarded_for"],
  ])("%s", (_, came, fault) => {
    expect(faults(came)).toContain(fault);
  });

  it("a front that read something else than it wrote", () => {
    expect(faults(CAME, ASKED.replace("Read: POST /x", "Read: POST /z"))).toContain("the front read POST /z");
  });

  it("an answer that another client got", () => {
    const text = NEXT.text.replace("/next/0", "/hidden");
    expect(faults(CAME, ASKED, { ...NEXT, text })).toContain('behind "one" the next client got');
  });
});

describe("a reader that takes no liberties", () => {
  it.each([
    ["Content-Length: 2\r\nContent-Length: 2", "more than one framing"],
    ["Content-Length: +2", "length +2"],
    ["Content-Length: 2, 2", "length 2, 2"],
    ["Transfer-Encoding: gzip, chunked", "coding gzip, chunked"],
    ["Transfer-Encoding : chunked", "field Transfer-Encoding : chunked"],
    ["X: a\r\n b", "field  b"],
    ["X: a\nb", "field X: a"],
  ])("does not read on behind %s", (field, odd) => {
    const { requests, odd: said } = readStream(`POST /x HTTP/1.1\r\n${field}\r\n\r\nab`);
    expect(requests).toEqual([]);
    expect(said).toContain(odd);
  });

  it("waits for what is not all there, and reads chunks and trailers", () => {
    const chunked = "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n";
    expect(readStream(chunked + chunked)).toMatchObject({
      requests: [{ body: "abc" }, { body: "abc" }],
      odd: undefined,
    });
    for (let end = 0; end < chunked.length; end++) {
      expect(readStream(chunked.slice(0, end))).toEqual({ requests: [], end: 0, odd: undefined });
    }
  });
});

it("hostile requests and their mutants are many, named, and the same for the same seed", () => {
  const all = [...hostile(), ...hostileH2()];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(300);
  expect(mutants(all, 50, 1)).toEqual(mutants(all, 50, 1));
  expect(mutants(all, 50, 1)).not.toEqual(mutants(all, 50, 2));
});
