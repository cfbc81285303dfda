/** A client for the tests of the sandbox. */
import { type HeaderList, header } from "../src/http.ts";
import type { Sandbox } from "../src/sandbox.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely
  readonly json: any;
  readonly headers: HeaderList;
  header(name: string): string | undefined;
}

export interface Asked {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly raw?: string | Uint8Array;
  readonly headers?: HeaderList;
}

/** Sends one call as `admin` unless told otherwise (`token: undefined` sends none). */
export async function ask(sandbox: Sandbox, method: string, target: string, asked: Asked = {}): Promise<Answer> {
  const token = "token" in asked ? asked.token : sandbox.token("admin");
  const raw = asked.raw ?? (asked.body === undefined ? "" : JSON.stringify(asked.body));
  const response = await sandbox.send(
    {
      method,
      target,
      headers: [
        ...(token === undefined ? [] : [["authorization", `Bearer ${token}`] as const]),
        ...(asked.headers ?? []),
      ],
      body: typeof raw === "string" ? new TextEncoder().encode(raw) : raw,
    },
    { signal: new AbortController().signal },
  );
  const text = new TextDecoder().decode(response.body);
  return {
    status: response.status,
    text,
    json: text === "" ? undefined : JSON.parse(text),
    headers: response.headers,
    header: (name) => header(response.headers, name),
  };
}
