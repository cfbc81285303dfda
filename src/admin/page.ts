/** The operator's page over HTTP: who may see it, the login, the one change that it can make, and its policy for browsers. */
import { setImmediate } from "node:timers/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { TIME } from "../model/clock.ts";
import { Problem } from "../model/problem.ts";
import type { AdminPage } from "../page/views.ts";
import type { ForceCommand, ForceNote } from "../rules/status.ts";
import { accessRefusal, sameText } from "./access.ts";
import { forceOf } from "./change-body.ts";
import { cookieName, formToken, isFormToken, newSession, sessionOf } from "./session.ts";
import { createViewers } from "./viewers.ts";

export interface PageOptions {
  readonly page: AdminPage;
  /** The token for views. Without one, only browsers on this machine may read. */
  readonly token: () => string | undefined;
  /** The token for changes. */
  readonly changeToken: () => string | undefined;
  readonly force: ((command: ForceCommand, note: ForceNote) => unknown) | undefined;
  /** Takes a connection out of the limit of the others. */
  readonly exempt: (request: FastifyRequest) => void;
  readonly log: (message: string, cause: unknown) => void;
}

const LOGIN = "/page/login";
const LOGOUT = "/page/logout";
const FORCE = "/page/force";
export const PAGE_CHANGES: readonly string[] = [LOGIN, LOGOUT, FORCE];
const MOST_BODY_BYTES = 8 * 1024;

/** No inline script or style, no other origin, no frame. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // Without an Origin a browser's own form would be refused.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
} as const;

/** Returns what ends the open pages. */
export function addPage(server: FastifyInstance, options: PageOptions): () => void {
  const { page, token, force, log } = options;
  const secret = (): string | undefined => token() ?? options.changeToken();
  const sessionIn = ({ headers }: FastifyRequest): string | undefined => {
    const key = secret();
    return key === undefined ? undefined : sessionOf(headers.cookie, key, TIME.wall());
  };
  const mayRead = (request: FastifyRequest): boolean =>
    accessRefusal(request.raw, token()) === undefined || (token() !== undefined && sessionIn(request) !== undefined);
  const viewers = createViewers({
    news: page.news,
    later: TIME.later,
    now: TIME.now,
    pause: () => setImmediate(),
    failed: (error) => log("the page cannot be rendered for those that follow it", error),
  });

  const toLogin = (reply: FastifyReply, to: string): FastifyReply =>
    reply
      .code(303)
      .headers(HEADERS)
      .header("location", `${LOGIN}?${new URLSearchParams({ to })}`)
      .send();
  const send = (reply: FastifyReply, html: string | Uint8Array, status = 200): FastifyReply =>
    reply.code(status).headers(HEADERS).header("content-type", "text/html; charset=utf-8").send(html);
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (token() !== undefined) return toLogin(reply, request.url);
    const text =
      "Without admin.tokenFile the page is shown to browsers on the same machine only, under the name localhost. Forward the port (ssh -L, kubectl port-forward), or set admin.tokenFile.";
    return send(reply, await page.fault("Not shown here", text), 401);
  };
  const formTokenIn = (request: FastifyRequest): string | undefined => {
    const [key, session] = [secret(), sessionIn(request)];
    return key === undefined || session === undefined ? undefined : formToken(key, session);
  };
  const show = (
    path: string,
    render: (query: URLSearchParams, request: FastifyRequest) => Promise<Uint8Array | undefined>,
  ): void => {
    server.get(path, async (request, reply) => {
      if (path === "/" && !/\btext\/html\b/.test(request.headers.accept ?? "")) return reply.callNotFound();
      if (!mayRead(request)) return refuse(request, reply);
      const html = await render(queryOf(request), request);
      if (html !== undefined) return send(reply, html);
      return send(
        reply,
        await page.fault("Not found", "There is no client of that name. It may have been forgotten."),
        404,
      );
    });
  };
  show("/", (query, request) => page.home(query, formTokenIn(request)));
  show("/page/client", async (query) => page.client(query.get("client") ?? ""));

  server.get("/page/live", { exposeHeadRoute: false }, (request, reply) => {
    if (!mayRead(request)) {
      reply.code(401).headers(HEADERS).send();
      return;
    }
    const query = queryOf(request).toString().slice(0, 1_000);
    reply.hijack();
    if (!viewers.join(reply.raw, query, () => mayRead(request))) {
      reply.raw.writeHead(503, { "retry-after": "30", "cache-control": "no-store", connection: "close" });
      reply.raw.end("too many pages follow this instance\n");
      return;
    }
    options.exempt(request);
  });

  server.get("/page/assets/:name", async (request, reply) => {
    const found = await page.asset(request.url.split("?")[0] ?? "", request.headers["accept-encoding"]);
    if (found === undefined) return reply.callNotFound();
    const { type, encoding, body } = found;
    if (encoding !== undefined) reply.header("content-encoding", encoding);
    return reply
      .header("content-type", type)
      .header("vary", "accept-encoding")
      .header("x-content-type-options", "nosniff")
      .header("cache-control", "public, max-age=31536000, immutable")
      .send(body);
  });

  const which = (): string => (token() === undefined ? "the file change-token in state.dir" : "admin.tokenFile");
  server.get(LOGIN, async (request, reply) => {
    if (secret() === undefined) {
      const text = "There is no token to log in with: set admin.tokenFile, or state.dir.";
      return send(reply, await page.fault("No login", text), 404);
    }
    const to = safePath(queryOf(request).get("to"));
    return send(reply, await page.login({ to, isWrong: false, which: which() }));
  });
  server.get(FORCE, async (request, reply) => {
    if (!mayRead(request)) return refuse(request, reply);
    const [key, session] = [secret(), sessionIn(request)];
    if (key === undefined || force === undefined) {
      const text = "A change needs a token: set admin.tokenFile, or state.dir. Or change force in the rules file.";
      return send(reply, await page.fault("Nothing can be changed here", text), 404);
    }
    if (session === undefined) return toLogin(reply, request.url);
    const query = queryOf(request);
    const command = (["native", "none"] as const).find((one) => one === query.get("force"));
    const [reason, by] = [query.get("reason") ?? "", query.get("by") ?? ""];
    return send(reply, await page.force({ command, reason, by, formToken: formToken(key, session), fault: undefined }));
  });

  server.register(async (forms) => {
    const parser = { parseAs: "string", bodyLimit: MOST_BODY_BYTES } as const;
    forms.removeAllContentTypeParsers();
    forms.addContentTypeParser("application/x-www-form-urlencoded", parser, (_, body, done) => done(null, body));
    forms.addHook("onRequest", (request, reply, done) => {
      if (isSameOrigin(request)) done();
      else
        reply
          .code(403)
          .headers(HEADERS)
          .header("connection", "close")
          .type("text/plain")
          .send("the form is of another site\n");
    });
    forms.post(LOGIN, async (request, reply) => {
      const sent = new URLSearchParams(String(request.body));
      const key = secret();
      const to = safePath(sent.get("to"));
      if (key === undefined || !sameText((sent.get("token") ?? "").trim(), key)) {
        return send(reply, await page.login({ to, isWrong: true, which: which() }), 401);
      }
      const { value, seconds } = newSession(key, TIME.wall());
      return withCookie(reply, request, cookieOf(key, value, seconds))
        .header("location", to)
        .send();
    });
    // Only this browser forgets the cookie: nothing is kept here that could end it elsewhere.
    forms.post(LOGOUT, async (request, reply) => {
      const [key, session] = [secret(), sessionIn(request)];
      if (key === undefined || session === undefined) return toLogin(reply, "/");
      const sent = new URLSearchParams(String(request.body));
      if (!isOfLogin(sent, key, session)) {
        return send(reply, await page.fault("Still logged in", "The form is of another login. Open it again."), 403);
      }
      return withCookie(reply, request, cookieOf(key, "", 0))
        .header("location", LOGIN)
        .send();
    });
    forms.post(FORCE, async (request, reply) => {
      const sent = new URLSearchParams(String(request.body));
      const [key, session] = [secret(), sessionIn(request)];
      if (key === undefined || session === undefined || force === undefined) return toLogin(reply, FORCE);
      if (!isOfLogin(sent, key, session)) {
        return send(
          reply,
          await page.fault("Nothing was changed", "The form is of another login. Open it again."),
          403,
        );
      }
      const note = (name: string) => (sent.get(name)?.trim() ? { [name]: sent.get(name)?.trim() } : {});
      try {
        const asked = forceOf(JSON.stringify({ force: sent.get("force"), ...note("reason"), ...note("by") }));
        if (asked.note.reason === undefined) throw new Problem("INVALID_BODY", "a reason is needed", { options: [] });
        await force(asked.command, asked.note);
      } catch (error) {
        const problem = Problem.from(error);
        if (problem.reason === "INTERNAL") log("a force from the page failed", error);
        const command = (["native", "none"] as const).find((one) => one === sent.get("force"));
        const [reason, by] = [sent.get("reason") ?? "", sent.get("by") ?? ""];
        const view = { command, reason, by, formToken: formToken(key, session), fault: problem.message };
        return send(reply, await page.force(view), problem.http);
      }
      return reply.code(303).headers(HEADERS).header("location", "/#events").send();
    });
  });
  return () => {
    viewers.close();
    page.close();
  };
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
}

function isOfLogin(form: URLSearchParams, key: string, session: string): boolean {
  return isFormToken(form.get("form") ?? "", key, session);
}

/** A path of this port, never an address elsewhere. */
function safePath(to: string | null): string {
  return to !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(to) ? to : "/";
}

/** Browsers send `Origin` with every form that is posted. */
function isSameOrigin({ headers }: FastifyRequest): boolean {
  const { origin, host } = headers;
  if (origin === undefined || host === undefined) return false;
  return origin === `http://${host}` || origin === `https://${host}`;
}

function cookieOf(key: string, value: string, seconds: number): string {
  return `${cookieName(key)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
}

function withCookie(reply: FastifyReply, request: FastifyRequest, cookie: string): FastifyReply {
  return reply
    .code(303)
    .headers(HEADERS)
    .header("set-cookie", isTls(request) ? `${cookie}; Secure` : cookie);
}

/** Behind a proxy that ends TLS, its header or the page's own address says so. */
function isTls({ headers }: FastifyRequest): boolean {
  return headers["x-forwarded-proto"] === "https" || headers.origin?.startsWith("https:") === true;
}
