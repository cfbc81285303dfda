/** The operator's page over HTTP: access, login, the change, the policy, and the limit of open pages. */
import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type AdminOptions, type AdminServer, createAdminServer } from "../../src/admin/server.ts";
import { cookieName, newSession } from "../../src/admin/session.ts";
import { MOST_VIEWERS } from "../../src/admin/viewers.ts";
import type { AdminPage } from "../../src/page/views.ts";

const TOKEN = "0123456789-token";
const open: AdminServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((admin) => admin.close()));
});

const NEWS = 'event: part\ndata: {"id":"rules","html":"<p>rules</p>"}\n\n';

const page: AdminPage = {
  home: async (query, formToken) =>
    Buffer.from(`<h1>home ${query.get("q") ?? ""}</h1>${formToken ? `form=${formToken};` : ""}`),
  news: async (_, asked) => ({
    found: asked.map(({ query }) => ({ query, before: undefined, changes: Buffer.from(""), whole: Buffer.from(NEWS) })),
    restMs: 0,
  }),
  client: async (name) => (name === "known" ? Buffer.from("<h1>known</h1>") : undefined),
  login: async ({ to, isWrong }) => `login to=${to} wrong=${isWrong}`,
  force: async ({ command, formToken, fault }) => `force ${command} ${fault ?? ""} form=${formToken};`,
  fault: async (title) => `fault: ${title}`,
  asset: async (path) =>
    path === "/page/assets/a.css" ? { type: "text/css", encoding: "br", body: Buffer.from("body{}") } : undefined,
  close: () => {},
};

async function start(options: Partial<AdminOptions> = {}): Promise<string> {
  const admin = createAdminServer({
    host: "127.0.0.1",
    port: 0,
    metrics: { contentType: "text/plain", text: async () => "up 1\n" },
    ready: () => true,
    views: new Map(),
    page,
    ...options,
  });
  open.push(admin);
  return (await admin.listen()).url;
}

const HTML = { accept: "text/html,*/*" };

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers: { ...HTML, ...headers }, redirect: "manual" });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const { origin } = new URL(url);
  const response = await fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { origin, ...headers },
    redirect: "manual",
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function cookieOf(headers: Headers): string {
  return headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

describe("GET /", () => {
  test("is the page for a browser on this machine, under a policy without inline scripts and styles", async () => {
    const url = await start();
    const { status, headers, body } = await get(`${url}/?q=x`);
    expect([status, body]).toEqual([200, "<h1>home x</h1>"]);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("stays a 404 with the list of paths for other programs", async () => {
    const url = await start();
    const { status, body } = await get(`${url}/`, { accept: "*/*" });
    expect(status).toBe(404);
    expect(body).toContain("/healthz");
  });

  test("is refused to a browser that comes through a proxy, and to one under another name", async () => {
    const url = await start();
    expect((await get(url, { "x-forwarded-for": "10.0.0.1" })).status).toBe(401);
    expect((await get(`${url}/page/client?client=known`, { "x-forwarded-for": "10.0.0.1" })).status).toBe(401);
    expect((await get(`${url}/page/live`, { "x-forwarded-for": "10.0.0.1" })).status).toBe(401);
  });

  test("takes the token as the other views do", async () => {
    const url = await start({ token: TOKEN });
    expect((await get(url, { authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  });
});

describe("the login", () => {
  test("leads back to where the browser wanted to go, and the cookie opens the page", async () => {
    const url = await start({ token: TOKEN });
    const refused = await get(`${url}/page/client?client=known`);
    expect(refused.status).toBe(303);
    expect(refused.headers.get("location")).toBe("/page/login?to=%2Fpage%2Fclient%3Fclient%3Dknown");
    const { status, headers } = await post(`${url}/page/login`, { token: TOKEN, to: "/page/client?client=known" });
    expect([status, headers.get("location")]).toEqual([303, "/page/client?client=known"]);
    expect(headers.getSetCookie()[0]).toMatch(/; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/);
    expect((await get(`${url}/`, { cookie: cookieOf(headers) })).status).toBe(200);
  });

  test("sets a Secure cookie behind TLS", async () => {
    const url = await start({ token: TOKEN });
    const { host } = new URL(url);
    const { headers } = await post(`${url}/page/login`, { token: TOKEN }, { origin: `https://${host}` });
    expect(headers.getSetCookie()[0]).toContain("; Secure");
  });

  test("refuses a wrong token, and forms of other sites", async () => {
    const url = await start({ token: TOKEN });
    const wrong = await post(`${url}/page/login`, { token: "other" });
    expect([wrong.status, wrong.body, wrong.headers.getSetCookie()]).toEqual([401, "login to=/ wrong=true", []]);
    expect((await post(`${url}/page/login`, { token: TOKEN }, { origin: "https://evil.example" })).status).toBe(403);
    expect((await post(`${url}/page/login`, { token: TOKEN }, { origin: "null" })).status).toBe(403);
  });

  test.each(["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""])(
    "never leads to another site: %s",
    async (to) => {
      const url = await start({ token: TOKEN });
      expect((await post(`${url}/page/login`, { token: TOKEN, to })).headers.get("location")).toBe("/");
    },
  );

  test("is known to every replica with the same token, and ends with a new token and with its time", async () => {
    let token = TOKEN;
    const [one, other] = [await start({ token: () => token }), await start({ token: TOKEN })];
    const cookie = cookieOf((await post(`${one}/page/login`, { token: TOKEN })).headers);
    expect((await get(other, { cookie })).status).toBe(200);
    token = "another-token-123";
    expect((await get(one, { cookie })).status).toBe(303);
    const old = newSession(TOKEN, Date.now() - 13 * 3_600_000).value;
    expect((await get(other, { cookie: `${cookieName(TOKEN)}=${old}` })).status).toBe(303);
    const forged = `${Math.floor(Date.now() / 1000) + 3600}.${cookie.split(".")[1]}`;
    expect((await get(other, { cookie: `${cookieName(TOKEN)}=${forged}` })).status).toBe(303);
  });

  test("ends with the form of the page, which only the page itself can send", async () => {
    const url = await start({ token: TOKEN });
    const cookie = cookieOf((await post(`${url}/page/login`, { token: TOKEN })).headers);
    const form = /form=([^;]+);/.exec((await get(url, { cookie })).body)?.[1] ?? "";
    expect((await get(url, { authorization: `Bearer ${TOKEN}` })).body).not.toContain("form=");
    const refused = [
      await post(`${url}/page/logout`, { form: "x" }, { cookie }),
      await post(`${url}/page/logout`, { form }, { cookie, origin: "https://evil.example" }),
    ];
    expect(refused.map(({ status, headers }) => [status, headers.getSetCookie()])).toEqual([
      [403, []],
      [403, []],
    ]);
    expect((await post(`${url}/page/logout`, { form })).headers.getSetCookie()).toEqual([]);
    const { status, headers } = await post(`${url}/page/logout`, { form }, { cookie });
    expect([status, headers.get("location")]).toEqual([303, "/page/login"]);
    expect(headers.getSetCookie()[0]).toBe(`${cookieName(TOKEN)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax`);
  });

  test("has a cookie of another name for another token, since browsers share cookies between ports", () => {
    expect(cookieName(TOKEN)).not.toBe(cookieName(`${TOKEN}2`));
  });
});

describe("force", () => {
  async function loggedIn() {
    const done: unknown[] = [];
    const url = await start({ token: TOKEN, force: (...all) => done.push(all) });
    const cookie = cookieOf((await post(`${url}/page/login`, { token: TOKEN })).headers);
    const { body } = await get(`${url}/page/force?force=native&reason=v2+is+down`, { cookie });
    return { url, done, cookie, form: /form=([^;]+);/.exec(body)?.[1] ?? "" };
  }
  const FIELDS = { force: "native", reason: "v2 is down", by: "anna" };

  test("is carried out with its reason, and leads to the events", async () => {
    const { url, done, cookie, form } = await loggedIn();
    const { status, headers } = await post(`${url}/page/force`, { ...FIELDS, form }, { cookie });
    expect([status, headers.get("location")]).toEqual([303, "/#events"]);
    expect(done).toEqual([["native", { reason: "v2 is down", by: "anna" }]]);
  });

  test("needs the login, the form of this login, the page's own origin, and a reason", async () => {
    const { url, done, cookie, form } = await loggedIn();
    expect((await post(`${url}/page/force`, { ...FIELDS, form })).headers.get("location")).toContain("/page/login");
    expect((await post(`${url}/page/force`, { ...FIELDS, form: "x" }, { cookie })).status).toBe(403);
    const evil = { cookie, origin: "https://evil.example" };
    expect((await post(`${url}/page/force`, { ...FIELDS, form }, evil)).status).toBe(403);
    expect((await post(`${url}/page/force`, { ...FIELDS, reason: " ", form }, { cookie })).status).toBe(400);
    expect((await post(`${url}/page/force`, { ...FIELDS, force: "translate", form }, { cookie })).status).toBe(400);
    expect(done).toEqual([]);
  });

  test("needs the change token where there is no token for views, and is nothing without either", async () => {
    const url = await start({ changeToken: () => "change-token-1", force: () => {} });
    expect((await get(url)).status).toBe(200);
    expect((await get(`${url}/page/force`)).headers.get("location")).toContain("/page/login");
    const cookie = cookieOf((await post(`${url}/page/login`, { token: "change-token-1" })).headers);
    expect((await get(`${url}/page/force`, { cookie })).status).toBe(200);
    expect((await get(`${await start({ force: () => {} })}/page/force`)).status).toBe(404);
  });

  test("takes no JSON, and the other changes take no form", async () => {
    const { url, cookie } = await loggedIn();
    const { origin } = new URL(url);
    const sent = { method: "POST", headers: { origin, cookie, "content-type": "application/json" }, body: "{}" };
    expect((await fetch(`${url}/page/force`, sent)).status).toBe(400);
    const authorization = `Bearer ${TOKEN}`;
    expect((await post(`${url}/force`, FIELDS, { authorization })).status).toBe(400);
  });
});

test("assets are public, compressed, and kept for good", async () => {
  const url = await start({ token: TOKEN });
  const { status, headers } = await get(`${url}/page/assets/a.css`);
  expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
  expect((await get(`${url}/page/assets/b.css`)).status).toBe(404);
});

describe("open pages", () => {
  /** Resolves with the status and the first bytes. */
  function follow(url: string): Promise<{ readonly status: number; readonly text: () => string; end(): void }> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path: "/page/live", agent: false }, (response) => {
        let text = "";
        response.on("data", (part: Buffer) => {
          text += part;
        });
        response.on("error", () => {});
        resolve({ status: response.statusCode ?? 0, text: () => text, end: () => sent.destroy() });
      });
      sent.on("error", reject);
      sent.end();
    });
  }

  test("get the parts within a second or two", async () => {
    const url = await start();
    const one = await follow(url);
    await expect.poll(one.text, { timeout: 5_000 }).toContain('data: {"id":"rules","html":"<p>rules</p>"}');
    one.end();
  });

  test("are at most 32 of 500 that ask at once, and probes and scrapes are answered meanwhile", async () => {
    const url = await start();
    const asked = Array.from({ length: 500 }, () => follow(url));
    const others = ["/healthz", "/readyz", "/metrics"].map((path) => get(`${url}${path}`, { accept: "*/*" }));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200]);
    const all = await Promise.all(asked);
    const followed = all.filter(({ status }) => status === 200);
    expect([followed.length, all.filter(({ status }) => status === 503).length]).toEqual([MOST_VIEWERS, 468]);
    await Promise.all(followed.map(({ text }) => expect.poll(text, { timeout: 5_000 }).toContain("event: part")));
    expect((await get(`${url}/metrics`)).status).toBe(200);
    for (const one of all) one.end();
  });

  test("are at most 32, and neither displace other connections nor are displaced by them", async () => {
    const url = await start();
    const all = await Promise.all(Array.from({ length: MOST_VIEWERS }, () => follow(url)));
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await follow(url)).status).toBe(503);
    const { hostname, port } = new URL(url);
    // As many as the limit of other connections.
    const idle = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const socket = connect({ host: hostname, port: Number(port) });
        await once(socket, "connect");
        return socket;
      }),
    );
    expect((await get(`${url}/healthz`)).status).toBe(200);
    await Promise.all(all.map(({ text }) => expect.poll(text, { timeout: 5_000 }).toContain("event: part")));
    all[0]?.end();
    await expect.poll(async () => (await follow(url)).status, { timeout: 5_000 }).toBe(200);
    for (const one of all) one.end();
    for (const socket of idle) socket.destroy();
  });
});
