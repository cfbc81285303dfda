/** Requests that choose a route in an odd way. (docs/ingress.md shows where each program sends them.) */

export interface Choice {
  readonly what: string;
  readonly target: string;
  /** Flat, beside Host and Authorization. */
  readonly headers?: readonly string[];
  readonly method?: string;
  /** Where every program has to send it; without it each may do as it does. */
  readonly must?: "carryover" | "platform";
}

const V1 = "/iam/v1/groups";
const V2 = "/iam/v2beta1/groups";
const path = (target: string): Choice => ({ what: `\`${target}\``, target });
const canary = (...values: readonly string[]): Choice => ({
  what: values.map((value) => `\`x-canary: ${value}\``).join(", then "),
  target: V1,
  headers: values.flatMap((value) => ["x-canary", value]),
});

export const CHOICES: readonly Choice[] = [
  { ...path(V1), must: "carryover" },
  { ...path(V2), must: "platform" },
  { ...path(`${V2}?next=/iam/v1/groups`), must: "platform" },
  { ...path(`/iam/v1/groups?next=${V2}`), must: "carryover" },
  path("/IAM/v1/groups"),
  path("/iam/V1/groups"),
  path("/%69am/v1/groups"),
  path("/iam/%76%31/groups"),
  path("/iam/v1%2Fgroups"),
  path("/iam//v1/groups"),
  path("/./iam/v1/groups"),
  path("/x/../iam/v1/groups"),
  path("/iam/v2beta1/../v1/groups"),
  path("/iam/v2beta1/%2e%2e/v1/groups"),
  path("/iam/v1/..%2fv2beta1/groups"),
  path("/iam/v1/..;/v2beta1/groups"),
  path("/iam;x/v1/groups"),
  path("/iam/v1;x/groups"),
  path("/iam\\v1\\groups"),
  path("/iam/v1%00/groups"),
  path("/iam/v1"),
  path("/sts//exchange"),
  path("/sts/%65xchange"),
  path("/sts/exchange/"),
  path("/STS/exchange"),
  path(`http://v1.example.com${V1}`),
  path(`http://other.example.com${V1}`),
  path(`http://v1.example.com${V2}`),
  {
    what: "`content-type: application/grpc` and v1",
    target: V1,
    method: "POST",
    headers: ["content-type", "application/grpc"],
  },
  {
    what: "`content-type: Application/GRPC-x` and v1",
    target: V1,
    method: "POST",
    headers: ["content-type", "Application/GRPC-x"],
  },
  { ...canary("always"), must: "carryover" },
  { ...canary("never"), must: "platform" },
  { what: "`x-canary: always` and v2", target: V2, headers: ["x-canary", "always"], must: "platform" },
  canary("NEVER"),
  canary("never", "never"),
  canary("always", "never"),
  canary("never", "always"),
  canary("never, always"),
  canary('"never"'),
  { what: "`X_Canary: never`", target: V1, headers: ["X_Canary", "never"] },
  {
    what: "`x-canary: never`, named by `Connection`",
    target: V1,
    headers: ["Connection", "x-canary", "x-canary", "never"],
  },
];
