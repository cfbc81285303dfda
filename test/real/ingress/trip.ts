/** Requests sent through each program to see what arrives. (docs/ingress.md shows the results.) */
import type { Arrived } from "./standin.ts";

/** One request. It arrives at carryover, at the platform, or is refused on the way. */
export interface Trip {
  readonly what: string;
  readonly target: string;
  /** Flat, after Host. */
  readonly headers?: readonly string[];
  readonly method?: string;
  readonly body?: string;
  /** Has to arrive at carryover as it went out, through every program. */
  readonly must: boolean;
  /** False for what HTTP/2 has no form for, or what Node's client does not send over it. */
  readonly h2: boolean;
  /** What of it is looked at; the target when left out. */
  readonly look?: (arrived: Arrived) => string;
}

const kept = { must: true, h2: true };
const seen = { must: false, h2: true };
const uid = "a1b2c3d4e5".repeat(50);
const long = `/iam/v1/groups/${"0123456789abcdef/".repeat(600)}`;

/** Values of the fields of each name, in their order; what the order of the names is says nothing (RFC 9110 section 5.3). */
const fields =
  (...names: string[]) =>
  ({ headers }: Pick<Arrived, "headers">): string =>
    names
      .flatMap((wanted) => headers.filter(([name]) => name === wanted))
      .map(([name, value]) => `${name}: ${value}`)
      .join("; ");

export const TARGETS: readonly Trip[] = [
  { ...kept, what: "`%2F` in a uid", target: "/iam/v1/groups/a1%2Fb2" },
  { ...kept, what: "`%2f` in a uid", target: "/iam/v1/groups/a1%2fb2" },
  { ...kept, what: "`%20` and `+`", target: "/iam/v1/groups/a%20b+c?name=a%20b+c" },
  { ...kept, what: "`%25`", target: "/iam/v1/groups/a%252Fb?name=%2525" },
  { ...kept, what: "letters and dots encoded without need", target: "/iam/v1/groups/%61%2Eb?n%61me=%2e" },
  { ...kept, what: "verbs and marks", target: "/iam/v1/groups/a:check!$&'()*,=~@-_." },
  { ...kept, what: "`;` in the path", target: "/iam/v1/groups/a;b=c/d" },
  { ...kept, what: "`//` in the path", target: "/iam/v1/groups//a///b" },
  { ...kept, what: "a slash at the end", target: "/iam/v1/groups/" },
  { ...kept, what: "odd queries", target: "/iam/v1/groups?a=%2F&a=%2f&b=&&c&d?e=/../;f=//g" },
  { ...kept, what: "an empty query", target: "/iam/v1/groups?" },
  { ...kept, what: "a uid of 500 characters", target: `/iam/v1/groups/${uid}` },
  { ...kept, what: "a target of 8 KiB", target: long.slice(0, 8192) },
  { ...seen, what: "`..` as a segment", target: "/iam/v1/groups/../roles" },
  { ...seen, what: "`%2e%2e` as a segment", target: "/iam/v1/groups/%2e%2e/roles" },
  { ...seen, what: "`/../` out of v1", target: "/iam/v1/../v2beta1/groups" },
  { ...seen, what: "`//` in front", target: "//iam/v1/groups" },
  { ...seen, what: "`%2F` in the prefix", target: "/iam%2Fv1/groups" },
  { ...seen, what: "`%zz`", target: "/iam/v1/groups/%zz" },
  { ...seen, what: '``"<>^`{|}``, not encoded', target: '/iam/v1/groups/"<>^`{|}' },
  { ...seen, what: "`\\`, not encoded", target: "/iam/v1/groups/a\\b" },
  { ...seen, what: "`#`", target: "/iam/v1/groups#a" },
];

const token = "Bearer abcdefgh";
const body = '{ "name" : "a\\u0041" , "big": 12345678901234567890.10 }\n';

export const HEADS: readonly Trip[] = [
  {
    ...kept,
    what: "a head of 16 KiB (its target 8 KiB)",
    target: long.slice(0, 8100),
    headers: ["Authorization", `Bearer ${"t".repeat(8150)}`],
    look: ({ target, headers }) => target + fields("authorization")({ headers }),
  },
  {
    ...kept,
    what: "a body's bytes",
    target: "/iam/v1/groups/a",
    method: "PUT",
    headers: ["Content-Type", "application/json", "Authorization", token],
    body,
    look: (arrived) => arrived.body + fields("content-type", "authorization")(arrived),
  },
  {
    ...kept,
    what: "a field sent twice, with commas",
    target: "/iam/v1/groups",
    headers: ["X-Many", "b, c", "X-Many", "a"],
    look: fields("x-many"),
  },
  {
    ...kept,
    what: "`x-request-id` and `traceparent` of the client",
    target: "/iam/v1/groups",
    headers: ["X-Request-Id", "mine-1", "Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    look: fields("x-request-id", "traceparent"),
  },
  {
    ...kept,
    what: "no `Accept-Encoding`",
    target: "/iam/v1/groups",
    look: fields("accept-encoding", "content-encoding"),
  },
  {
    ...seen,
    h2: false,
    what: "`Authorization` twice",
    target: "/iam/v1/groups",
    headers: ["Authorization", token, "Authorization", `${token}i`],
    look: fields("authorization"),
  },
  {
    ...seen,
    what: "`Idempotency-Key`",
    target: "/iam/v1/groups",
    headers: ["Idempotency-Key", "a"],
    look: fields("idempotency-key"),
  },
  { ...seen, what: "names with `_`", target: "/iam/v1/groups", headers: ["X_Tenant", "a"], look: fields("x_tenant") },
  { ...seen, what: "names with `.`", target: "/iam/v1/groups", headers: ["X.Tenant", "a"], look: fields("x.tenant") },
  {
    ...seen,
    h2: false,
    what: "a field that `Connection` names",
    target: "/iam/v1/groups",
    headers: ["Connection", "keep-alive, X-Hop", "X-Hop", "a"],
    look: fields("x-hop"),
  },
];
