/** Messages between the process and the thread that renders its page. */
import type { MadeUpPast, PageCost, PageData, PageLoad } from "../page/data.ts";
import type { AskedNews, News } from "../page/views.ts";
import type { Rules } from "../rules/rule.ts";
import type { SharedStateProgress } from "../telemetry/progress.ts";

/** The document of this process among those of others. */
export const OWN = "";

/** Settings that the thread gets at its start. */
export interface PageSettings {
  readonly catalogue: string;
  readonly recordTimes: "all" | "published";
  readonly salt: string;
  readonly hasNative: boolean;
  readonly values: "redact" | "show";
}

/** New rows of a document. The own document has JSON as text. Undefined removes a row. */
export interface PageRows {
  readonly do: "rows";
  readonly of: string;
  readonly rows: readonly (readonly [name: string, text: string | undefined])[];
}

/** All that is in no row. With it an update is complete. */
export interface PageFacts {
  readonly do: "facts";
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly instance: string;
  readonly shared: SharedStateProgress | undefined;
  readonly guardsTogether: PageData["guardsTogether"];
  readonly load: PageLoad;
  readonly cost: PageCost;
  /** Undefined without a store. */
  readonly peers:
    | readonly { readonly contributor: string; readonly name: string; readonly goneSince: number | undefined }[]
    | undefined;
  readonly unread: readonly { readonly name: string; readonly fault: string }[];
  /** Facts that change seldom. Undefined if none changed. */
  readonly rare:
    | {
        readonly rules: Rules | undefined;
        readonly owners: readonly (readonly [
          client: string,
          owner: { readonly owner?: string | undefined; readonly contact?: string | undefined },
        ])[];
        readonly past: MadeUpPast | undefined;
      }
    | undefined;
}

/** `turn`: a number that is greater each time. */
export interface PageQuestion {
  readonly home: { readonly query: string; readonly formToken: string | undefined };
  readonly news: {
    readonly turn: number;
    readonly asked: readonly AskedNews[];
  };
  readonly client: { readonly name: string };
}

export interface PageAnswer {
  readonly home: Uint8Array;
  readonly news: readonly News[];
  /** Undefined for a client that is not known. */
  readonly client: Uint8Array | undefined;
}

export type PageAsk = {
  [Name in keyof PageQuestion]: { readonly do: Name; readonly id: number } & PageQuestion[Name];
}[keyof PageQuestion];

/** `busyMs`: what the thread has worked since the last answer. */
export type PageReply = { readonly id: number; readonly busyMs: number } & (
  | { readonly found: PageAnswer[keyof PageAnswer] }
  | { readonly fault: string }
);
