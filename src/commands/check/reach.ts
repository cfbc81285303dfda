/** Does something answer at an upstream's address, and is it the API? */

import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import type { Config } from "../../config/config.ts";
import { header } from "../../model/http.ts";
import { member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import type { Signal } from "../../model/signal.ts";
import { type Finding, type FindingMaker, findingsFor, HOW_TO_GIVE, listed, shownName } from "./finding.ts";
import {
  createConnection,
  type PlatformAnswer,
  type PlatformApi,
  shownStatus,
  type UpstreamSettings,
} from "./platform.ts";

/** What came of the first call. */
export interface ReachResult {
  readonly finding: Finding;
  /** Only there when the API itself answered. */
  readonly answer: PlatformAnswer | undefined;
  /** Whatever answered does not know the path: under another one it may be the API after all. */
  readonly lost?: PlatformAnswer;
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

/** `path`: the option that holds the address (`upstream.v2.url`). `ask` makes the call. */
export async function reach(path: string, url: string, ask: () => Promise<PlatformAnswer>): Promise<ReachResult> {
  const say = findingsFor("reach");
  try {
    const answer = await ask();
    const wrong = notTheApi(say, path, url, answer);
    if (wrong !== undefined) {
      return { finding: wrong, answer: undefined, ...(answer.status === 404 ? { lost: answer } : {}) };
    }
    return { finding: say.ok(`${path} answers (${shownStatus(answer)})`), answer };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { finding: unreachable(say, path, error), answer: undefined };
  }
}

function unreachable(say: FindingMaker, path: string, problem: Problem): Finding {
  const code = deepestCode(problem);
  const [, what, remedy] = REMEDIES.find(([pattern]) => pattern.test(code)) ?? [
    undefined,
    "there is no usable answer",
    "look at what stands between this machine and the platform",
  ];
  return say.fail(`${path}: ${what} (${code === "" ? problem.reason : code})`, remedy);
}

/** The innermost error says it best; a connection tried at several addresses holds one error for each. */
function deepestCode(error: unknown): string {
  let code = "";
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth++) {
    if ("code" in at && typeof at.code === "string" && at.code !== "NOT_SENT") code = at.code;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return shownName(code).replaceAll('"', "");
}

function notTheApi(say: FindingMaker, path: string, url: string, answer: PlatformAnswer): Finding | undefined {
  const { status, json, response } = answer;
  if (status >= 300 && status < 400) return redirected(say, path, url, header(response.headers, "location"));
  if (json === undefined) {
    return say.fail(
      `${path} answers ${shownStatus(answer)}: a front page, a login or another proxy, not the API`,
      `correct ${path} (host, and the path that stands before the API's own), or let what stands in front pass API calls`,
    );
  }
  if (status === 429 || status >= 500) {
    return say.fail(
      `${path} answers ${shownStatus(answer)}, twice in a row`,
      "ask the platform's operators, and check again later",
    );
  }
  return undefined;
}

/** Redirects are never followed with a credential; only one to https on the same host is sure enough to be set. */
function redirected(say: FindingMaker, path: string, url: string, location: string | undefined): Finding {
  const from = new URL(url);
  const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const what = `${path} redirects${to === undefined ? "" : ` to ${to.origin}`}; carryover follows no redirect`;
  if (to?.hostname === from.hostname && to.protocol === "https:" && from.protocol === "http:") {
    return say.fail(what, "use the https address", { path, value: to.origin + from.pathname.replace(/\/+$/, "") });
  }
  return say.fail(what, `write the address that serves the API itself into ${path}`);
}

/** Are the platform's own v1 and its token exchange where the configuration says? */

const othersFinding = findingsFor("reach");

interface ReachMeans {
  readonly token: string | undefined;
  readonly signal: Signal;
  readonly random: () => number;
  readonly hex: (digits: number) => string;
}

/** One cheap read each. The exchange is called without a credential: what it says to none is enough. */
export async function reachOthers({ upstream: { v1, sts } }: Config, means: ReachMeans): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  if (v1 !== undefined) {
    const target = `/iam/v1/groups?id=${means.hex(40)}`;
    findings.push(await reachOne("upstream.v1.url", v1, target, means.token, means, (answer) => answer.status !== 404));
  }
  if (sts !== undefined) {
    findings.push(
      await reachOne("upstream.sts.url", sts, "/sts/exchange", undefined, means, (answer) => answer.status !== 404),
    );
  }
  return findings;
}

async function reachOne(
  path: string,
  settings: UpstreamSettings,
  target: string,
  token: string | undefined,
  { signal, random }: ReachMeans,
  isThere: (answer: PlatformAnswer) => boolean,
): Promise<Finding> {
  const connection = createConnection(settings, token, signal, random);
  try {
    const { finding, answer } = await reach(path, settings.url, () => connection.api.get(target));
    if (answer === undefined || isThere(answer)) return finding;
    const [plain] = target.split("?");
    return othersFinding.fail(
      `${path}: there is no ${plain} (${shownStatus(answer)})`,
      `correct ${path}: the path in it stands before ${plain}`,
    );
  } finally {
    await connection.close();
  }
}

/** Will this machine accept the certificate of an upstream, and for how long? */

const certificateFinding = findingsFor("certificate");
const DAY_MS = 86_400_000;
/** Below this many days it is worth a warning. */
const SOON_DAYS = 14;

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** `name`: v2, v1 or sts, as in `upstream.v2`. `now`: milliseconds since 1970. */
export async function checkCertificate(name: string, settings: UpstreamSettings, now: number): Promise<Finding> {
  const where = `upstream.${name}`;
  const { protocol, hostname } = new URL(settings.url);
  if (protocol === "http:")
    return certificateFinding.note(
      `${where} is http: there is no certificate`,
      "use https unless the network encrypts by itself",
    );
  try {
    return judgeCertificate(where, hostname, await tlsHandshake(settings), now);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (/wrong version number|packet length too long|unsupported protocol|EPROTO/i.test(text)) {
      return certificateFinding.fail(
        `${where}: what listens there does not speak TLS`,
        `write ${where}.url with http://, or name the port that speaks TLS`,
      );
    }
    return certificateFinding.skipped(`${where}: no handshake (${codeOf(error)})`, "see reach");
  }
}

function judgeCertificate(where: string, host: string, { fault, validTo, names }: TlsHandshake, now: number): Finding {
  const days = Math.floor((validTo - now) / DAY_MS);
  if (fault === undefined) {
    const until = `valid for ${days} more days`;
    if (days >= SOON_DAYS) return certificateFinding.ok(`${where}: accepted, ${until}`);
    return certificateFinding.warn(
      `${where}: accepted, but ${until}`,
      "have it renewed: calls fail from the day on that it ends",
    );
  }
  if (UNKNOWN_AUTHORITY.has(fault)) {
    return certificateFinding.fail(
      `${where}: signed by an authority that this machine does not know (${fault})`,
      `put the certificate of the authority, with any between, into a PEM file and name it in ${where}.tls.caFile`,
    );
  }
  if (fault === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return certificateFinding.fail(
      `${where}: the certificate is for ${listed(names)}, not for ${host}`,
      `write one of its names into ${where}.url`,
    );
  }
  if (fault === "CERT_HAS_EXPIRED") {
    return certificateFinding.fail(
      `${where}: the certificate ended ${-days} days ago`,
      "have it renewed, and see clock",
    );
  }
  if (fault === "CERT_NOT_YET_VALID") {
    return certificateFinding.fail(
      `${where}: the certificate is not valid yet`,
      "set the clock of this machine, or wait",
    );
  }
  return certificateFinding.fail(
    `${where}: the certificate is refused (${fault})`,
    "have the platform's operators look at it",
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "no answer";
}

/** Which certificate does an upstream show? (A handshake only: nothing is sent.) */

export interface TlsHandshake {
  /** Undefined when the certificate is accepted as `serve` would accept it; else OpenSSL's or Node's name of the fault. */
  readonly fault: string | undefined;
  /** Milliseconds since 1970 at which it ends. */
  readonly validTo: number;
  /** Names that it is for. */
  readonly names: readonly string[];
}

/** Rejects when there is no TLS to be had there at all. `https` URLs only. */
export function tlsHandshake({ url, tls, timeouts }: UpstreamSettings): Promise<TlsHandshake> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port === "" ? 443 : port),
      // The fault is wanted as a fact, and no byte of a request ever travels on this connection.
      rejectUnauthorized: false,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(tls.caFile === undefined ? {} : { ca: Buffer.from(tls.caFile) }),
      ...(tls.certFile === undefined ? {} : { cert: Buffer.from(tls.certFile) }),
      ...(tls.keyFile === undefined ? {} : { key: Buffer.from(tls.keyFile) }),
    });
    socket.setTimeout(timeouts.connectSeconds * 1000, () => socket.destroy(new Error("no answer in time")));
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      resolve(handshakeOf(socket));
      socket.destroy();
    });
  });
}

function handshakeOf(socket: TLSSocket): TlsHandshake {
  const { valid_to, subject, subjectaltname } = socket.getPeerCertificate();
  const alternatives = [...(subjectaltname ?? "").matchAll(/(?:DNS|IP Address):([^\s,]+)/g)].map(([, name]) => name);
  const names = alternatives.length > 0 ? alternatives : [subject?.CN];
  const { authorizationError: error } = socket;
  return {
    fault: socket.authorized ? undefined : faultOf(error),
    validTo: Date.parse(valid_to),
    names: names.flat().filter((name) => name !== undefined),
  };
}

/** Node's types call it an Error; it is a code, for the name check as for OpenSSL's. */
function faultOf(error: unknown): string {
  if (typeof error === "string") return error;
  return error instanceof Error ? ("code" in error ? String(error.code) : error.message) : "unknown";
}

/** Do this machine and the platform agree on the time? */

const clockFinding = findingsFor("clock");
/** A `Date` field has whole seconds and travels; a minute is no accident. */
const TOLERATED_SECONDS = 60;

/** `now`: milliseconds since 1970, taken when `answer` had come. */
export function judgeClock(answer: PlatformAnswer, now: number): Finding {
  const date = Date.parse(header(answer.response.headers, "date") ?? "");
  if (Number.isNaN(date)) return clockFinding.skipped("the platform's answers carry no date");
  const ahead = Math.round((now - date) / 1000);
  if (Math.abs(ahead) <= TOLERATED_SECONDS) return clockFinding.ok("this machine and the platform agree");
  const where = ahead > 0 ? "ahead of" : "behind";
  return clockFinding.warn(
    `this machine is ${Math.abs(ahead)} seconds ${where} the platform`,
    "set its clock (NTP): tokens live for an hour and certificates have an end, both judged by a clock",
  );
}

/** Under which version does the platform serve v2? */

const versionFinding = findingsFor("version");

/** `version`: the one that answers; undefined when none does. */
export interface VersionResult {
  readonly finding: Finding;
  readonly version: string | undefined;
}

/**
 * `first`: what the platform said to `target(configured)`. `known`: versions that have a catalogue. The platform routes
 * before it looks at the credential, so that a refusal of the credential still tells that the path exists.
 */
export async function findVersion(
  api: PlatformApi,
  configured: string,
  known: readonly string[],
  target: (version: string) => string,
  first: PlatformAnswer,
): Promise<VersionResult> {
  const translated = known.includes(configured);
  if (exists(first) && translated) return judgeVersion(api, configured, target, first);
  for (const version of known) {
    if (version === configured || !exists(await api.get(target(version)))) continue;
    const why = translated ? `is answered ${shownStatus(first)}` : "has no catalogue";
    const set = { path: "upstream.v2.version", value: version };
    const finding = versionFinding.fail(
      `${configured} ${why}, and ${version} answers`,
      "until then every translated call fails",
      set,
    );
    return { finding, version };
  }
  const finding = versionFinding.fail(
    `neither ${[...new Set([configured, ...known])].join(" nor ")} answers (${shownStatus(first)})`,
    "correct upstream.v2.url: the path in it stands before /iam/, /registry/ and /vulnerabilities/",
  );
  return { finding, version: undefined };
}

async function judgeVersion(
  api: PlatformApi,
  version: string,
  target: (version: string) => string,
  first: PlatformAnswer,
): Promise<VersionResult> {
  if (first.status === 401 && exists(await api.get(target("v2none")))) {
    return {
      finding: versionFinding.skipped(
        `a version that there is not is answered 401 too`,
        "check with a token that the platform accepts",
      ),
      version,
    };
  }
  return { finding: versionFinding.ok(`${version} answers`), version };
}

function exists({ status, json }: PlatformAnswer): boolean {
  return json !== undefined && (status === 200 || status === 401 || status === 403);
}

/** Does the platform take the credential that the check was given? */

const credentialFinding = findingsFor("credential");
/** With less time left a finding may come from the token's end rather than from the platform. */
const SHORT_SECONDS = 300;

/** `answer`: what a list said. `now`: milliseconds since 1970. A finding of level ok or note means that reading can go on. */
export function judgeCredential(token: string | undefined, answer: PlatformAnswer, now: number): Finding {
  if (token === undefined) {
    return credentialFinding.skipped(
      "none was given: what needs one is not judged",
      `give a token of the platform, ${HOW_TO_GIVE}`,
    );
  }
  const left = secondsLeft(token, now);
  if (answer.status === 401) {
    const why = left !== undefined && left <= 0 ? `; it ended ${Math.ceil(-left / 60)} minutes ago` : "";
    return credentialFinding.fail(
      `the platform refuses it (${shownStatus(answer)})${why}`,
      "get a new token (they live for an hour), for the audience of this platform",
    );
  }
  if (answer.status === 403) {
    return credentialFinding.note(
      "the platform takes it, but it may not list groups",
      "check with a token that may read more",
    );
  }
  if (left !== undefined && left < SHORT_SECONDS) {
    return credentialFinding.note(
      `accepted, for ${Math.max(0, Math.floor(left))} more seconds`,
      "get a fresh token before the next check",
    );
  }
  return credentialFinding.ok("accepted");
}

/**
 * Whether tokens exchanged through carryover will be for the audience that this accepted one is for. Only where there is
 * an exchange, and only when the token says.
 */
export function judgeAudience(
  token: string | undefined,
  answer: PlatformAnswer,
  { upstream }: Config,
): readonly Finding[] {
  const audience = member(claimsOf(token ?? ""), "aud");
  if (upstream.sts === undefined || answer.status !== 200 || audience === undefined) return [];
  const { audience: configured } = upstream.v2;
  const all: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  if (all.includes(configured))
    return [credentialFinding.ok("the token is for the audience that exchanged tokens will have")];
  const remedy = "a v1 client that asks for an audience of carryover's own gets one that the platform may refuse";
  const [only] = all;
  if (all.length !== 1 || typeof only !== "string" || !/^[\x21-\x7e]{1,200}$/.test(only)) {
    return [credentialFinding.warn("the token is for other audiences than upstream.v2.audience", remedy)];
  }
  const set = { path: "upstream.v2.audience", value: only };
  return [credentialFinding.warn(`the token is for ${only}, upstream.v2.audience is ${configured}`, remedy, set)];
}

/** Seconds until the token says that it ends; undefined when it does not say. */
function secondsLeft(token: string, now: number): number | undefined {
  const end = member(claimsOf(token), "exp");
  return typeof end === "number" ? end - now / 1000 : undefined;
}

/** What the token says of itself, read without trusting it. */
function claimsOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
