/** Every form in which a request may hold a secret: one table, for the recogniser and for all outputs. */

/** Part of each secret, and of nothing else. */
export const MARK = "hush7Zq";

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** An opaque credential. */
export const opaque = (name: string): string => `${MARK}-${name.replaceAll(/[^A-Za-z0-9]/g, "")}-0123456789`;
/** A JWT whose signature, or whole text when it is cut, tells it. */
export const JWT = `${part({ alg: "RS256", kid: MARK })}.${part({ iss: "https://issuer.example", sub: "ci" })}.${MARK}0123456789sig`;
/** Pieces of secrets that no output may hold. */
export const PIECES: readonly string[] = [MARK, JWT.slice(0, 24), JWT.split(".")[1] ?? ""];

/** Names of query parameters, form fields and JSON members. */
export const NAMES: readonly string[] = [
  "api_key",
  "apiKey",
  "api-key",
  "API_KEY",
  "access_key",
  "assertion",
  "client_assertion",
  "token",
  "access_token",
  "id_token",
  "refresh_token",
  "subject_token",
  "scimToken",
  "client_secret",
  "clientSecret",
  "password",
  "passwd",
  "passphrase",
  "private_key",
  "credential",
  "signature",
  "X-Amz-Signature",
  "sig",
  "code",
  "key",
  "jwt",
  "session",
  "oidc.client_secret",
  "token.value",
  "a[token]",
];

/** Header fields whose whole value is a secret. */
export const FIELDS: readonly (readonly [name: string, value: string])[] = [
  ["authorization", `Bearer ${opaque("bearer")}`],
  ["authorization", opaque("bare")],
  ["authorization", JWT],
  ["authorization", `Basic ${Buffer.from(`user:${MARK}`).toString("base64")}${MARK}`],
  ["proxy-authorization", `Bearer ${opaque("proxy")}`],
  ["cookie", `sid=${opaque("cookie")}; theme=dark`],
  ["x-api-key", opaque("field")],
  ["x-auth-request", opaque("auth")],
  ["x-session-id", opaque("session")],
  ["x-amz-security-token", opaque("amz")],
];

/** Free text that holds a secret: in header fields, JSON values, messages of the platform. */
export const TEXTS: readonly string[] = [
  JWT,
  `refused: ${JWT} has expired`,
  `use Bearer ${opaque("text")} here`,
  `bearer ${JWT}`,
  `Basic ${opaque("basic")}`,
  `https://user:${opaque("url")}@host.example/x`,
  `https://host.example/callback?state=1&access_token=${opaque("callback")}`,
  `grant_type=client_credentials&client_secret=${opaque("form")}&scope=a`,
  `api_key=${opaque("pair")}`,
];
