/** What a check looks at before the lists: certificates, addresses, the clock, the version and the credential. */
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { Config } from "../../config/config.ts";
import { DAY_MS } from "../../ledger/days.ts";
import { header, pathOf } from "../../model/http.ts";
import { member, parsedJson } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import { counted, shownName } from "../../rules/words.ts";
import { dial } from "../../upstream/dial.ts";
import { fail, HOW_TO_GIVE, type Judgement, listed, note, ok, skipped, warn } from "./finding.ts";
import { type PlatformApi, type PlatformResponse, shownStatus, type UpstreamSettings } from "./platform.ts";

/** The outcome of the first call to an upstream. */
interface ReachResult {
  readonly judgement: Judgement;
  /** Only when the API itself responded. */
  readonly response: PlatformResponse | undefined;
  /** What responded does not know the path: under another version it may be the API after all. */
  readonly notFound?: PlatformResponse;
}

/** `path`: the option that holds the address (`upstream.v2.url`). `call` asks for something cheap. */
export async function reach(path: string, url: string, call: () => Promise<PlatformResponse>): Promise<ReachResult> {
  try {
    const response = await call();
    const wrong = notTheApi(path, url, response);
    if (wrong === undefined) return { judgement: ok(`${path} answers (${shownStatus(response)})`), response };
    return {
      judgement: wrong,
      response: undefined,
      ...(response.status === 404 ? { notFound: response } : {}),
    };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { judgement: unreachable(path, error), response: undefined };
  }
}

/** Native v1 or token exchange: `target` is one cheap read that each has. */
export async function reachOther(path: string, url: string, api: PlatformApi, target: string): Promise<Judgement> {
  const { judgement, response } = await reach(path, url, () => api.get(target));
  if (response?.status !== 404) return judgement;
  const plain = pathOf(target);
  return fail(
    `${path}: there is no ${plain} (${shownStatus(response)})`,
    `correct ${path}: the path in it stands before ${plain}`,
  );
}

const REMEDIES: readonly (readonly [code: RegExp, what: string, remedy: string])[] = [
  [/^ECONNREFUSED$/, "nothing listens there", "correct host and port of the url, or start what should listen"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "the name is not known", "correct the host of the url, or the DNS of this machine"],
  [
    /^(EHOSTUNREACH|ENETUNREACH|EACCES)$/,
    "there is no way to that address",
    "look at routes, firewalls and network policies",
  ],
  [/TIMEOUT|^ETIMEDOUT$/, "no answer in time", "look at firewalls, or raise the timeouts of the upstream"],
  [
    /ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE|BAD_CERTIFICATE|UNKNOWN_CA/,
    "it asks for a certificate of the client",
    "set tls.certFile and tls.keyFile of the upstream",
  ],
  [/CERT|SELF_SIGNED|ISSUER|LEAF_SIGNATURE|ALTNAME/, "the certificate is refused", "see certificate"],
  [
    /^HPE_|HEADERS_OVERFLOW/,
    "what listens there does not speak HTTP/1.1",
    "correct the port, or the scheme of the url",
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/,
    "the connection is cut",
    "look at what stands in between; a TLS port called by http does this, and one that wants tls.certFile and tls.keyFile",
  ],
];

function unreachable(path: string, problem: Problem): Judgement {
  const code = deepestCode(problem);
  const [, what, remedy] = REMEDIES.find(([pattern]) => pattern.test(code)) ?? [
    undefined,
    "there is no usable answer",
    "look at what stands between this machine and the platform",
  ];
  return fail(`${path}: ${what} (${code === "" ? problem.reason : code})`, remedy);
}

/** The innermost error is the most precise. A connection tried at several addresses holds one error for each. */
function deepestCode(error: unknown): string {
  let code = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth++) {
    if ("code" in at && typeof at.code === "string" && at.code !== "NOT_SENT") code = at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return shownName(code).replaceAll('"', "");
}

function notTheApi(path: string, url: string, response: PlatformResponse): Judgement | undefined {
  const { status, json } = response;
  if (status >= 300 && status < 400) return redirected(path, url, header(response.response.headers, "location"));
  if (json === undefined) {
    return fail(
      `${path} answers ${shownStatus(response)}: a front page, a login or another proxy, not the API`,
      `correct ${path} (host, and the path that stands before the API's own), or let what stands in front pass API calls`,
    );
  }
  if (status !== 429 && status < 500) return undefined;
  const what = `${path} answers ${shownStatus(response)}, twice in a row`;
  return fail(what, "ask the platform's operators, and check again later");
}

/** No redirect is followed with a credential. Only one to https on the same host is certain enough to be set. */
function redirected(path: string, url: string, location: string | undefined): Judgement {
  const from = new URL(url);
  const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const what = `${path} redirects${to === undefined ? "" : ` to ${to.origin}`}; carryover follows no redirect`;
  if (to?.hostname === from.hostname && to.protocol === "https:" && from.protocol === "http:") {
    return fail(what, "use the https address", { path, value: to.origin + from.pathname.replace(/\/+$/, "") });
  }
  return fail(what, `write the address that serves the API itself into ${path}`);
}

/** A certificate that ends within fewer days is worth a warning. */
const SOON_DAYS = 14;

/** `name`: v2, v1 or sts, as in `upstream.v2`. `now`: milliseconds since 1970. */
export async function checkCertificate(name: string, settings: UpstreamSettings, now: number): Promise<Judgement> {
  const where = `upstream.${name}`;
  const { protocol, hostname } = new URL(settings.url);
  if (protocol === "http:")
    return note(`${where} is http: there is no certificate`, "use https unless the network encrypts by itself");
  try {
    return judgeCertificate(where, hostname, await tlsHandshake(settings), now);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (/wrong version number|packet length too long|unsupported protocol|EPROTO/i.test(text)) {
      return fail(
        `${where}: what listens there does not speak TLS`,
        `write ${where}.url with http://, or name the port that speaks TLS`,
      );
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "no answer";
    return skipped(`${where}: no handshake (${code})`, "see reach");
  }
}

function judgeCertificate(
  where: string,
  host: string,
  { fault, validTo, names }: TlsHandshake,
  now: number,
): Judgement {
  const days = Math.floor((validTo - now) / DAY_MS);
  switch (fault) {
    case undefined: {
      const until = `valid for ${days} more days`;
      if (days >= SOON_DAYS) return ok(`${where}: accepted, ${until}`);
      return warn(`${where}: accepted, but ${until}`, "have it renewed: calls fail from the day on that it ends");
    }
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return fail(
        `${where}: signed by an authority that this machine does not know (${fault})`,
        `put the certificate of the authority, with any between, into a PEM file and name it in ${where}.tls.caFile`,
      );
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return fail(
        `${where}: the certificate is for ${listed(names)}, not for ${host}`,
        `write one of its names into ${where}.url`,
      );
    case "CERT_HAS_EXPIRED":
      return fail(`${where}: the certificate ended ${counted(-days, "day")} ago`, "have it renewed, and see clock");
    case "CERT_NOT_YET_VALID":
      return fail(`${where}: the certificate is not valid yet`, "set the clock of this machine, or wait");
    default:
      return fail(`${where}: the certificate is refused (${fault})`, "have the platform's operators look at it");
  }
}

interface TlsHandshake {
  /** Undefined when `serve` would accept the certificate; else the name of the fault in OpenSSL or Node. */
  readonly fault: string | undefined;
  /** Milliseconds since 1970 at which the certificate ends. */
  readonly validTo: number;
  /** Names that it is for. */
  readonly names: readonly string[];
}

/** Only a handshake: nothing is sent. Rejects when the address does not speak TLS. `https` URLs only. */
function tlsHandshake({ url, tls, timeouts }: UpstreamSettings): Promise<TlsHandshake> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const timeoutMs = timeouts.connectSeconds * 1000;
    dial(
      { protocol: "http:", host, port: Number(port === "" ? 443 : port), timeoutMs, protocols: [] },
      (error, tcp) => {
        if (tcp === undefined) return reject(error);
        const socket = connect({
          socket: tcp,
          host,
          // The fault is to be described, and no byte of a request is ever sent on this connection.
          rejectUnauthorized: false,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ...(tls.caFile === undefined ? {} : { ca: Buffer.from(tls.caFile) }),
          ...(tls.certFile === undefined ? {} : { cert: Buffer.from(tls.certFile) }),
          ...(tls.keyFile === undefined ? {} : { key: Buffer.from(tls.keyFile) }),
        });
        socket.setTimeout(timeoutMs, () => socket.destroy(new Error("no answer in time")));
        socket.once("error", reject);
        socket.once("secureConnect", () => {
          resolve(handshakeOf(socket));
          socket.destroy();
        });
      },
    );
  });
}

function handshakeOf(socket: TLSSocket): TlsHandshake {
  const { valid_to, subject, subjectaltname } = socket.getPeerCertificate();
  const alternatives = [...(subjectaltname ?? "").matchAll(/(?:DNS|IP Address):([^\s,]+)/g)].map(([, name]) => name);
  const names = alternatives.length > 0 ? alternatives : [subject?.CN];
  return {
    fault: socket.authorized ? undefined : faultOf(socket.authorizationError),
    validTo: Date.parse(valid_to),
    names: names.flat().filter((name) => name !== undefined),
  };
}

/** Node's types call it an Error; at run time it is a code. */
function faultOf(error: unknown): string {
  if (typeof error === "string") return error;
  return error instanceof Error ? ("code" in error ? String(error.code) : error.message) : "unknown";
}

/** A `Date` field has whole seconds and takes time to arrive; a minute is a real difference. */
const TOLERATED_SECONDS = 60;

/** `now`: milliseconds since 1970, taken when `response` had arrived. */
export function judgeClock({ response }: PlatformResponse, now: number): Judgement {
  const date = Date.parse(header(response.headers, "date") ?? "");
  if (Number.isNaN(date)) return skipped("the platform's answers carry no date");
  const ahead = Math.round((now - date) / 1000);
  if (Math.abs(ahead) <= TOLERATED_SECONDS) return ok("this machine and the platform agree");
  return warn(
    `this machine is ${counted(Math.abs(ahead), "second")} ${ahead > 0 ? "ahead of" : "behind"} the platform`,
    "set its clock (NTP): tokens live for an hour and certificates have an end, both judged by a clock",
  );
}

/** `version`: the one that answers; undefined when none does. */
interface VersionResult {
  readonly judgement: Judgement;
  readonly version: string | undefined;
}

/**
 * `first`: the response to `target(configured)`. `known`: versions that have a catalogue. The platform routes before it
 * checks the credential, so a refused credential still shows that the path exists.
 */
export async function findVersion(
  api: PlatformApi,
  configured: string,
  known: readonly string[],
  target: (version: string) => string,
  first: PlatformResponse,
): Promise<VersionResult> {
  const isKnown = known.includes(configured);
  if (exists(first) && isKnown) {
    const answersAnything = first.status === 401 && exists(await api.get(target("v2none")));
    const judgement = answersAnything
      ? skipped("a version that there is not is answered 401 too", "check with a token that the platform accepts")
      : ok(`${configured} answers`);
    return { judgement, version: configured };
  }
  for (const version of known) {
    if (version === configured || !exists(await api.get(target(version)))) continue;
    const why = isKnown ? `is answered ${shownStatus(first)}` : "has no catalogue";
    const set = { path: "upstream.v2.version", value: version };
    const what = `${configured} ${why}, and ${version} answers`;
    return { judgement: fail(what, "until then every translated call fails", set), version };
  }
  const judgement = fail(
    `neither ${[...new Set([configured, ...known])].join(" nor ")} answers (${shownStatus(first)})`,
    "correct upstream.v2.url: the path in it stands before /iam/, /registry/ and /vulnerabilities/",
  );
  return { judgement, version: undefined };
}

function exists({ status, json }: PlatformResponse): boolean {
  return json !== undefined && (status === 200 || status === 401 || status === 403);
}

/** With less time left, a finding may come from the end of the token and not from the platform. */
const SHORT_SECONDS = 300;

/** `response`: to a list. `now`: milliseconds since 1970. With any level but `skipped` and `fail`, reading can go on. */
export function judgeCredential(token: string | undefined, response: PlatformResponse, now: number): Judgement {
  if (token === undefined)
    return skipped("none was given: what needs one is not judged", `give a token of the platform, ${HOW_TO_GIVE}`);
  const expires = member(claimsOf(token), "exp");
  const left = typeof expires === "number" ? expires - now / 1000 : Number.POSITIVE_INFINITY;
  if (response.status === 401) {
    const why = left <= 0 ? `; it ended ${counted(Math.ceil(-left / 60), "minute")} ago` : "";
    return fail(
      `the platform refuses it (${shownStatus(response)})${why}`,
      "get a new token (they live for an hour), for the audience of this platform",
    );
  }
  if (response.status === 403)
    return note("the platform takes it, but it may not list groups", "check with a token that may read more");
  if (left >= SHORT_SECONDS) return ok("accepted");
  return note(`accepted, for ${Math.max(0, Math.floor(left))} more seconds`, "get a fresh token before the next check");
}

/**
 * Whether tokens exchanged through carryover will be for the audience of this accepted one. Empty without an exchange, and
 * when the token does not say.
 */
export function judgeAudience(
  token: string | undefined,
  { status }: PlatformResponse,
  { upstream }: Config,
): readonly Judgement[] {
  const audience = member(claimsOf(token ?? ""), "aud");
  if (upstream.sts === undefined || status !== 200 || audience === undefined) return [];
  const { audience: configured } = upstream.v2;
  const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (all.includes(configured)) return [ok("the token is for the audience that exchanged tokens will have")];
  const remedy = "a v1 client that asks for an audience of carryover's own gets one that the platform may refuse";
  const [only] = all;
  if (all.length !== 1 || typeof only !== "string" || !/^[\x21-\x7e]{1,200}$/.test(only))
    return [warn("the token is for other audiences than upstream.v2.audience", remedy)];
  const set = { path: "upstream.v2.audience", value: only };
  return [warn(`the token is for ${only}, upstream.v2.audience is ${configured}`, remedy, set)];
}

/** What the token says of itself, read without trusting it. */
function claimsOf(token: string): unknown {
  return parsedJson(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
}
