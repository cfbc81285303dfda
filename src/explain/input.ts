/** Which request do the arguments of `carryover explain` mean? */
import { bodyOf, headerOf, requestOf } from "./assemble.ts";
import { readCurl } from "./curl.ts";
import { type AskedRequest, type ReadFile, unclear } from "./request.ts";
import { quotedUrl } from "./secrets.ts";
import { splitWords } from "./words.ts";

/** What was given, on a command line or in a query. */
export interface Given {
  /** `PUT /iam/v1/groups/UID`, only a path, or a whole curl line. */
  readonly text: string;
  /** `-d`: the body, or `@file`. */
  readonly data?: string;
  /** `-H`: `Name: value`. */
  readonly headers: readonly string[];
  /** `-X`. */
  readonly method?: string;
}

/** The request that `given` means. Throws `Problem` INVALID_REQUEST, and what `read` throws for a file. */
export function readRequest(given: Given, read: ReadFile): AskedRequest {
  const text = given.text.trim();
  if (text === "") throw unclear("there is no request; expected 'PUT /iam/v1/groups/UID' or a curl line");
  if (!/^(?:\$\s+)?curl(?:\s|$)/.test(text)) return readPlain(text, given, read);
  const { words, notes } = splitWords(text.replace(/^\$\s+/, ""));
  const request = readCurl(words, read);
  if (given.data !== undefined || given.method !== undefined || given.headers.length > 0) {
    throw unclear("a curl line holds everything: give -X, -H and -d inside of it");
  }
  return { ...request, notes: [...notes, ...request.notes] };
}

function readPlain(text: string, given: Given, read: ReadFile): AskedRequest {
  const [, named, url = text] = /^([A-Za-z]+)\s+(\S.*)$/s.exec(text) ?? [];
  // What is more may be a token.
  if (/\s/.test(url)) {
    throw unclear(`a request is a method and a path; there is more behind ${quotedUrl(url.split(/\s/, 1)[0] ?? "")}`);
  }
  const data = given.data === undefined ? [] : [{ kind: "data", value: given.data } as const];
  const method = given.method ?? named?.toUpperCase() ?? (data.length > 0 ? "POST" : "GET");
  const headers = given.headers.flatMap((field) => {
    const pair = headerOf(field);
    return pair === undefined ? [] : [pair];
  });
  return requestOf({ method, url, headers, body: bodyOf(data, read), notes: [] }, "body");
}
