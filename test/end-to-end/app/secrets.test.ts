import { describe, expect, it } from "vitest";
import { type Ask, type Rig, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const NONCE = "Zq7SecretValue";

interface Request {
  readonly method: string;
  readonly target: string;
  readonly ask?: Ask;
}

const post = (target: string, body: string | object, as = "admin"): Request => ({
  method: "POST",
  target,
  ask: { body, as },
});
const get = (target: string, ask: Ask = {}): Request => ({ method: "GET", target, ask });

/** Every resource, read and written, well and badly; every value that a client could mean as a secret holds `NONCE`. */
function mix({ sandbox }: Rig): readonly Request[] {
  const { rootGroup: root, identityProvider, identity, emptyGroup, groupInvite } = sandbox.wellKnown;
  const oidc = sandbox.oidcToken(sandbox.wellKnown.assumable.issuer, sandbox.wellKnown.assumable.subject);
  const exchange = `/sts/exchange?aud=sandbox&identity=${encodeURIComponent(identity)}`;
  const provider = {
    name: "p",
    description: "d",
    oidc: { issuer: "https://login.example", clientId: "c", clientSecret: `${NONCE}-client`, additionalScopes: [] },
  };
  const collections = [
    "iam/v1/groups",
    "iam/v1/identities",
    "iam/v1/roles",
    "iam/v1/rolebindings",
    "iam/v1/identityProviders",
    "iam/v1/account_associations",
    "iam/v1/group_invites",
    "registry/v1/repos",
    "registry/v1/tags",
    "vulnerabilities/v1/advisories",
    "iam/v2beta1/groups",
  ];
  return [
    ...collections.flatMap((path) => [
      get(`/${path}`),
      get(`/${path}?name=${NONCE}`),
      get(`/${path}?id=${NONCE}`),
      get(`/${path}?id=${root}`),
      get(`/${path}?unheard_of=${NONCE}&page_token=${NONCE}`),
      get(`/${path}/odd%zz?x=${NONCE}`),
      get(`/${path}?name=%zz${NONCE}`),
      get(`/${path}`, { as: "nobody" }),
      get(`/${path}`, { as: null, headers: { authorization: `Bearer ${NONCE}-forged` } }),
      get(`/${path}`, { as: null, headers: { authorization: `Bearer ${NONCE} ${NONCE}` } }),
      get(`/${path}?name=a&name=${NONCE}`),
      post(`/${path}/${root}`, `{"name":"${NONCE}`),
      post(`/${path}/${root}`, { name: { [NONCE]: 1 }, secret: NONCE }),
    ]),
    post(`/iam/v1/identityProviders/${root}`, provider),
    { method: "PUT", target: `/iam/v1/identityProviders/${identityProvider}`, ask: { body: provider } },
    { method: "PUT", target: `/iam/v1/identityProviders/${identityProvider}`, ask: { body: { ...provider, oidc: 7 } } },
    post(`/iam/v1/group_invites/${root}`, { role: sandbox.wellKnown.viewerRole, ttl: "60s" }),
    get(`/iam/v1/group_invites?id=${groupInvite}`),
    { method: "PUT", target: `/iam/v1/groups/${root}`, ask: { body: { name: NONCE, description: NONCE } } },
    { method: "DELETE", target: `/iam/v1/groups/${emptyGroup}?force=${NONCE}` },
    { method: "DELETE", target: `/iam/v1/groups/${root}` },
    get(exchange, { as: null, headers: { authorization: `Bearer ${oidc}` } }),
    get(`${exchange}&assertion=${oidc}`, { as: null, headers: { authorization: `Bearer ${oidc}x` } }),
    {
      method: "POST",
      target: "/sts/exchange_refresh_token",
      ask: {
        as: null,
        headers: { authorization: `Bearer ${oidc}`, "content-type": "application/x-www-form-urlencoded" },
        body: `aud=${NONCE}&scope=${NONCE}`,
      },
    },
    {
      method: "POST",
      target: "/sts/exchange",
      ask: { as: null, headers: { authorization: `Bearer ${oidc}` }, body: `aud=${NONCE}` },
    },
    get("/registry/v1/charts:find?name=a"),
    get(`/nowhere?token=${NONCE}`),
    get("/iam/v2beta1/groups?page_size=1"),
    { method: "OPTIONS", target: `/iam/v1/groups?x=${NONCE}` },
  ];
}

/** Everything that was sent as a credential or came back as one, in pieces long enough to be told apart. */
function secretsOf(rig: Rig, answers: readonly string[]): Set<string> {
  const secrets = new Set<string>();
  const add = (text: string) => {
    for (const piece of text.split(/[\s,;&=."']+/)) if (piece.length > 12) secrets.add(piece);
  };
  for (const { headers, target } of rig.arrived) {
    for (const [name, value] of headers) if (name === "authorization") add(value);
    const token = new URL(target, "http://a").searchParams.get("page_token");
    if (token !== null) add(token);
  }
  for (const answer of answers) {
    for (const [, value = ""] of answer.matchAll(/"(?:token|nextPageToken|key|secret|clientSecret)":"([^"]*)"/g))
      add(value);
  }
  return secrets;
}

describe("T-ISO-09: after requests of every kind, good and bad,", () => {
  it("no line of the log, no metric and no view holds a credential, a page token or a value of a query", async () => {
    const rig = await rigForTest({ sandbox: { size: 250, ignoreSkip: true } });
    const answers: string[] = [];
    const requests = mix(rig);
    for (const { method, target, ask } of requests) answers.push((await rig.ask(method, target, ask)).text);

    const views = ["metrics", "unknown-fields", "healthz", "readyz", "nothing"].map(async (name) => {
      const response = await fetch(`${rig.adminUrl}/${name}`);
      return response.text();
    });
    const shown = [...rig.lines, ...(await Promise.all(views))];
    const secrets = secretsOf(rig, answers);
    // The mix has done what it is for: tokens, exchanged tokens and page tokens were on the way.
    expect(secrets.size).toBeGreaterThan(20);
    expect(answers.some((answer) => /"token":"/.test(answer))).toBe(true);
    expect(rig.arrived.some(({ target }) => target.includes("page_token="))).toBe(true);
    const found = [...secrets].filter((secret) => shown.some((text) => text.includes(secret)));
    expect(found).toEqual([]);
    expect(shown.filter((text) => text.includes(NONCE))).toEqual([]);
    expect(shown.filter((text) => /\?\w+=/.test(text))).toEqual([]);

    // One line per request, and what metrics say is what happened.
    const lines = rig.lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
    expect(lines).toHaveLength(requests.length);
    expect(rig.exchanges).toHaveLength(requests.length);
    expect(lines.map(({ requestId }) => requestId).toSorted()).toEqual(
      rig.exchanges.map(({ requestId }) => requestId).toSorted(),
    );
    const counted = shown.join("\n").matchAll(/^carryover_requests_total\{.*\} (\d+)$/gm);
    expect([...counted].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(requests.length);
    expect(rig.lines.filter((line) => line.includes('"reason":"INTERNAL"'))).toEqual([]);
  });

  it("nor when the platform itself fails and repeats what it was sent", async () => {
    const rig = await rigForTest({
      sandbox: {
        faults: () => async (request) => {
          const echo = `${request.method} ${request.target} ${JSON.stringify(request.headers)}`;
          const text = `{"code":13,"message":${JSON.stringify(echo)},"details":[${JSON.stringify(echo)}`;
          return { status: 200, headers: [["content-type", "application/json"]], body: new TextEncoder().encode(text) };
        },
      },
    });
    for (const { method, target, ask } of mix(rig)) await rig.ask(method, target, ask);
    const shown = [...rig.lines, await (await fetch(`${rig.adminUrl}/unknown-fields`)).text()];
    const secrets = secretsOf(rig, []);
    expect(secrets.size).toBeGreaterThan(5);
    expect([...secrets].filter((secret) => shown.some((text) => text.includes(secret)))).toEqual([]);
    expect(shown.filter((text) => text.includes(NONCE))).toEqual([]);
  });
});
