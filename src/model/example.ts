/** How does a catalogue file show by example what its rows mean? */
import type { Json, JsonObject } from "./json.ts";

/** Evidence from the specification and the field map, never from running this code. */
export type Example =
  /** One record (for a list: one of its items). `joined`: the other v2 records that joins can read; any other is missing. */
  | {
      readonly of: "answer";
      /** Its name. */
      readonly operation: string;
      readonly v2: JsonObject;
      readonly v1: JsonObject;
      readonly joined?: readonly { readonly resource: string; readonly v2: JsonObject }[];
    }
  | { readonly of: "body"; readonly operation: string; readonly v1: JsonObject; readonly v2: JsonObject }
  | {
      readonly of: "update";
      readonly v1: JsonObject;
      /** Stored v2 record, for rows that are named only when they differ from it. */
      readonly stored?: JsonObject;
      /** camelCase, in the order of the rows. */
      readonly mask: readonly string[];
      readonly v2: JsonObject;
    }
  /** Queries without `?`, in no order that matters; `v2` without the paging that a drain adds. */
  | { readonly of: "filters"; readonly v1: string; readonly v2: string }
  /**
   * A whole exchange: what several calls, or a verb, make of one request. `path` below `/{domain}/v1/`, query included;
   * `calls`: the v2 calls in their order, `METHOD path` below `/{domain}/{version}/`, with what v2 answers.
   */
  | {
      readonly of: "exchange";
      readonly operation: string;
      readonly path: string;
      readonly body?: Json;
      readonly calls: readonly {
        readonly call: string;
        readonly body?: Json;
        /** Default 200. */
        readonly status?: number;
        readonly answer: Json;
      }[];
      /** Default 200. */
      readonly status?: number;
      readonly answer: Json;
    };
