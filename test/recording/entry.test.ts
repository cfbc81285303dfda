import { describe, expect, it } from "vitest";
import { createExchange } from "../../src/model/exchange.ts";
import { createQueryRedaction, isRedacted, recordedBody, recordedLine } from "../../src/recording/entry.ts";
import { sharedCatalogue } from "../support/shared.ts";

const { resources } = await sharedCatalogue("v2beta1");
const redact = createQueryRedaction(resources, "redact");
const show = createQueryRedaction(resources, "show");
const HIDDEN = "%E2%80%A6";

describe("a recorded target", () => {
  it.each([
    [
      "/iam/v1/groups?name=payroll&uidp.descendantsOf=57f9/a1",
      "group",
      "list",
      `/iam/v1/groups?name=${HIDDEN}&uidp.descendantsOf=57f9/a1`,
    ],
    ["/iam/v1/groups?id=57f9%2Fa1", "group", "list", "/iam/v1/groups?id=57f9%2Fa1"],
    ["/iam/v1/groups?colour=red", "group", "list", `/iam/v1/groups?colour=${HIDDEN}`],
    ["/iam/v1/identities?subject=ann@example.com", "identity", "list", `/iam/v1/identities?subject=${HIDDEN}`],
    ["/iam/v1/other?q=ann", "unknown", "unknown", `/iam/v1/other?q=${HIDDEN}`],
    ["/iam/v1/groups?name=", "group", "list", "/iam/v1/groups?name="],
  ])("of %s keeps uids and hides texts that people chose", (target, resource, operation, recorded) => {
    expect(redact(target, resource, operation)).toBe(recorded);
    expect(isRedacted(redact(target, resource, operation))).toBe(recorded.includes(HIDDEN));
  });

  it("keeps all but secrets with record.values: show", () => {
    const target = "/iam/v1/groups?name=payroll&access_token=s3cr3t&page_token=abc";
    expect(show(target, "group", "list")).toBe(
      `/iam/v1/groups?name=payroll&access_token=${HIDDEN}&page_token=${HIDDEN}`,
    );
  });
});

describe("a recorded line", () => {
  it("holds no header, no response and no secret of the body", () => {
    const exchange = createExchange("r", 0, "POST", "/iam/v1/groups/a");
    Object.assign(exchange, { resource: "group", operation: "create", client: "ci", status: 200, mode: "native" });
    const body = recordedBody(Buffer.from('{"name":"docs","oidc":{"clientSecret":"s3cr3t"}}'));
    expect(JSON.parse(recordedLine(exchange, 0, redact, body))).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      method: "POST",
      target: "/iam/v1/groups/a",
      client: "ci",
      status: 200,
      mode: "native",
      body: '{"name":"docs","oidc":{"clientSecret":"…"}}',
    });
  });

  it("leaves out a body in which no secret could be found, as it is not JSON", () => {
    expect(recordedBody(Buffer.from("client_secret=s3cr3t"))).toBeUndefined();
  });
});
