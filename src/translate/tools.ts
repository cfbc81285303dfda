/** What may an operation do, and where does it note what it learns? */
import type { Exchange } from "../model/exchange.ts";
import type { Drain, LongDrain } from "../model/list.ts";
import type { Match } from "../model/match.ts";
import type { Answer, ApiRequest, ApiResponse, HeaderList } from "../model/message.ts";
import type { RecordTimes } from "../model/published.ts";
import type { UnknownPolicy } from "./body.ts";
import type { InTurns } from "./pages.ts";
import type { MaskSpelling } from "./update.ts";

/** A v1 request recognised, with its body. */
export interface V1Request {
  readonly match: Match;
  /** The client's end-to-end fields. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** How one upstream wants masks spelled. */
export interface MaskMemory {
  readonly known: MaskSpelling | undefined;
  /** True when the configuration says so: then nothing else is tried or learned. */
  readonly fixed: boolean;
  learn(spelling: MaskSpelling): void;
}

/** Everything an operation may do is handed in: it does no I/O of its own. */
export interface Tools {
  readonly send: (request: ApiRequest) => Promise<ApiResponse>;
  /** The same for the further reads that one list needs: they wait for their turn among all readers of the upstream. */
  readonly reads: (request: ApiRequest) => Promise<ApiResponse>;
  /** The whole list, however long. */
  readonly drain: Drain;
  /** The same, but a list that grows longer than a buffer comes page by page. */
  readonly longDrain: LongDrain;
  readonly mask: MaskMemory;
  /** The same for masks that stand in a body: in JSON a gateway may want another spelling than in a query. */
  readonly bodyMask: MaskMemory;
  readonly exchange: Pick<Exchange, "unknownFields" | "defaultedFields" | "mismatches" | "notes">;
  /** To be called when the operation has its response: what its calls brought is held by the response from then on. */
  readonly done?: (() => void) | undefined;
  /** For work that would hold up the event loop. */
  readonly inTurns?: InTurns | undefined;
}

/** Settings of every operation. */
export interface TranslateOptions {
  /** v2's version segment, e.g. `v2beta1`. */
  readonly version: string;
  readonly unknownRequest: UnknownPolicy;
  readonly unknownResponse: "pass" | "drop";
  readonly insertZeros: boolean;
  /** Option `v1.recordTimes`; default: all. */
  readonly recordTimes?: RecordTimes | undefined;
  /** Does the platform leave zeros out, and empty lists with them? (Option `upstream.v2.omitsZeros`; default `auto`.) */
  readonly omitsZeros?: "auto" | "yes" | "no" | undefined;
  /** Sent as `order_by` with every page of a list (option `lists.orderBy`); undefined: the platform's own order. */
  readonly orderBy?: string | undefined;
  /** Which differences after an update are errors: those that were to become zero, all, or none. */
  readonly mismatch: "zeros" | "report" | "fail";
}

/** One operation: both halves on one screen. Throws `Problem`. */
export type Translation = (request: V1Request, tools: Tools) => Promise<Answer>;
