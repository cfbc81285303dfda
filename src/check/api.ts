/** How does a probe ask the platform, and what does it get? */
import { type Json, member } from "../model/json.ts";
import type { ApiResponse } from "../model/message.ts";

/** One answer, whatever its status. */
export interface Answer {
  readonly response: ApiResponse;
  readonly status: number;
  /** The body; undefined when it is no JSON. */
  readonly json: Json | undefined;
}

/** The platform for one credential. Both throw `Problem` when there is no answer, and the signal's reason when stopped. */
export interface Api {
  /** A read; repeated once when the platform is briefly unavailable. */
  get(target: string): Promise<Answer>;
  /** A write (only probes that were allowed to write call it); never repeated once it left. */
  write(method: "POST" | "PATCH" | "DELETE", target: string, body?: Json): Promise<Answer>;
}

/** `response` with its body read. */
export function answerOf(response: ApiResponse): Answer {
  return { response, status: response.status, json: parse(response.body) };
}

function parse(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Json;
  } catch {
    return undefined;
  }
}

/** `404, code 5` of a refusal as the API words it, else `404, text/html`: never the platform's own text. */
export function shownStatus({ status, json, response }: Answer): string {
  const code = member(json, "code");
  if (typeof code === "number") return `${status}, code ${code}`;
  const [, type] = response.headers.find(([name]) => name === "content-type") ?? [];
  const media = /^[\w.+-]+\/[\w.+-]+/.exec(type ?? "")?.[0];
  return json === undefined ? `${status}, ${media ?? "no JSON"}` : String(status);
}
