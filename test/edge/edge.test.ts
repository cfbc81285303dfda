import { describe, expect, it } from "vitest";
import { createCrowd } from "../../src/edge/crowd.ts";
import { type ArrivalHead, createEdge } from "../../src/edge/edge.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import type { HeaderList } from "../../src/model/http.ts";
import type { Problem } from "../../src/model/problem.ts";

const SLOW = { minRate: 1, graceMs: 10_000, stallMs: 5_000 };

function port(crowd = createCrowd()) {
  const seen: Exchange[] = [];
  const givenUp: [string, Problem][] = [];
  const edge = createEdge<string>(
    {
      trustedProxies: ["10.0.0.0/8"],
      limits: { uriBytes: 100, inFlight: 2, requestSeconds: 50 },
      crowd,
      credentialOf: (authorization) => authorization,
      observe: (exchange) => seen.push(exchange),
      newRequestId: () => "made",
      now: () => performance.now(),
    },
    (request, problem) => givenUp.push([request, problem]),
  );
  const arrive = (name: string, fields: HeaderList = [], other: Partial<ArrivalHead> = {}) => {
    const why = edge.admits(() => "");
    const received: HeaderList = [["host", "h"], ...fields];
    const arrival = edge.arrive(
      { method: "POST", target: "/a", httpVersion: "2", received, peer: "10.1.1.1", ...other },
      why,
    );
    arrival.request = name;
    return arrival;
  };
  return { ...edge, arrive, seen, givenUp, crowd };
}

describe("the edge", () => {
  it("counts and reports each request once, and says when none is left", () => {
    const { arrive, inFlight, whenEmpty, seen } = port();
    const [first, second] = [arrive("a", [["x-request-id", "own"]]), arrive("b")];
    let empty = 0;
    whenEmpty(() => empty++);
    expect(inFlight()).toBe(2);
    first.end("whole");
    first.end("left");
    expect([inFlight(), empty]).toEqual([1, 0]);
    second.end("left");
    expect([inFlight(), empty]).toEqual([0, 1]);
    expect(seen).toMatchObject([
      { requestId: "own", aborted: false },
      { requestId: "made", aborted: true, status: 499 },
    ]);
  });

  it("T-RPC-37: refuses requests beyond limits.inFlight of all ports, and faulty ones with their own problem", () => {
    const { arrive, crowd } = port();
    arrive("a").end("whole");
    port(crowd).arrive("b");
    expect(arrive("c").problem).toBeUndefined();
    expect(arrive("d").problem?.reason).toBe("OVERLOADED");
    expect(arrive("e", [], { target: "no path" }).problem?.reason).toBe("INVALID_REQUEST");
  });

  it("refuses a request whose client leaves it no time", () => {
    const { arrive } = port();
    const problem = (timeout: string) => arrive("a", [["grpc-timeout", timeout]]).problem;
    expect([problem("0S"), problem("1n")]).toMatchObject(
      Array(2).fill({ reason: "UPSTREAM_TIMEOUT", fault: "client" }),
    );
    expect(port().arrive("b", [["grpc-timeout", "1S"]]).problem).toBeUndefined();
  });

  it("T-RPC-22: believes X-Forwarded-For of trusted proxies only", () => {
    const { arrive } = port();
    const fields: HeaderList = [["x-forwarded-for", "1.2.3.4"]];
    const chain = (peer: string) =>
      arrive("a", fields, { peer }).headers.find(([name]) => name === "x-forwarded-for")?.[1];
    expect([chain("10.1.1.1"), chain("11.1.1.1")]).toEqual(["1.2.3.4, 10.1.1.1", "11.1.1.1"]);
  });

  it("counts a request against its sender until it is received", () => {
    const { arrive, crowd } = port();
    const [first, second] = [arrive("a", [["authorization", "t"]]), arrive("b", [["authorization", "t"]])];
    const watch = first.waitFor(SLOW, () => {});
    second.waitFor(SLOW, () => {});
    expect(crowd.receivedFrom("t")).toBe(2);
    watch.over();
    watch.over();
    expect(crowd.receivedFrom("t")).toBe(1);
    first.end("whole");
    second.end("left");
    expect(crowd.receivedFrom("t")).toBe(0);
  });

  it("ends open requests when it stops: a stream with UNAVAILABLE, a write with an unknown state", () => {
    const { arrive, cut, givenUp } = port();
    arrive("gone").end("whole");
    arrive("read", [], { method: "GET" });
    arrive("write");
    const stream = arrive("stream");
    stream.stream(Number.POSITIVE_INFINITY, "grpc.streamIdleSeconds");
    stream.exchange.responseBytes = 1;
    expect(cut()).toBe(3);
    const told = givenUp.map(([name, { reason, metadata }]) => [name, reason, metadata["state"]]);
    expect(told.toSorted()).toEqual([
      ["read", "UPSTREAM_TIMEOUT", undefined],
      ["stream", "OVERLOADED", undefined],
      ["write", "UPSTREAM_TIMEOUT", "unknown"],
    ]);
  });
});
