/** Does something answer at an upstream's address, and is it the API? */

import { header } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { type Answer, shownStatus } from "../api.ts";
import { type Finding, type Say, sayFor, shownName } from "../finding.ts";

/** What came of the first call. */
export interface Reached {
  readonly finding: Finding;
  /** Only there when the API itself answered. */
  readonly answer: Answer | undefined;
  /** Whatever answered does not know the path: under another one it may be the API after all. */
  readonly lost?: Answer;
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
export async function reach(path: string, url: string, ask: () => Promise<Answer>): Promise<Reached> {
  const say = sayFor("reach");
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

function unreachable(say: Say, path: string, problem: Problem): Finding {
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

function notTheApi(say: Say, path: string, url: string, answer: Answer): Finding | undefined {
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
function redirected(say: Say, path: string, url: string, location: string | undefined): Finding {
  const from = new URL(url);
  const to = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const what = `${path} redirects${to === undefined ? "" : ` to ${to.origin}`}; carryover follows no redirect`;
  if (to?.hostname === from.hostname && to.protocol === "https:" && from.protocol === "http:") {
    return say.fail(what, "use the https address", { path, value: to.origin + from.pathname.replace(/\/+$/, "") });
  }
  return say.fail(what, `write the address that serves the API itself into ${path}`);
}
