import type { Exchange, Mode, Upstream } from "./exchange.ts";
import type { ApiRequest, ClientResponse, HeaderList } from "./http.ts";
import type { Problem } from "./problem.ts";
import type { Operation, Resource } from "./resource.ts";
import type { ServingDecision } from "./rules.ts";
import type { Signal } from "./signal.ts";

/** A v1 request recognised as an operation of the catalogue. */
export interface OperationMatch {
  readonly resource: Resource;
  readonly operation: Operation;
  /** Decoded uid (or parent uid) with `/` between segments; empty when the path has none. */
  readonly uid: string;
  /** The same for the wire: canonical, `/` between segments. */
  readonly uidPath: string;
  /** What a single-segment variable of the path says (a digest), as it goes on the wire; empty when the path has none. */
  readonly segment: string;
  /** Raw query without `?`. */
  readonly query: string;
}

/** What a request target stands for. */
export type RouteResult =
  | { readonly kind: "match"; readonly match: OperationMatch }
  /**
   * A v1 operation without a translation: native v1, or 501 with these names. `otherwise`: what is said in place of that. `named`: an option
   * names its path as native v1's, and `fallback` does not matter.
   */
  | {
      readonly kind: "native";
      readonly resource: string;
      readonly operation: string;
      readonly otherwise?: Problem | undefined;
      readonly named?: boolean | undefined;
    }
  /** An OPTIONS request on a v1 path; `v2Target` is the mapped v2 target, when there is one. */
  | { readonly kind: "options"; readonly v2Target: string | undefined }
  /** `resource`: the catalogue's name of the collection that the path begins with; only for counting. */
  | { readonly kind: "v2"; readonly resource: string }
  | { readonly kind: "sts"; readonly query: string };

/** The v2 path of a resource's collection. `version`: v2's version segment. */
export function collectionPath(resource: Resource, version: string): string {
  return `/${resource.domain}/${version}/${resource.v2}`;
}

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

/** How v1 spells an operation: its method, and the template of its path below `/{domain}/v1/`. */
export function v1PathOf(resource: Resource, operation: Operation) {
  if ("path" in operation) return operation;
  const path = operation.kind === "list" ? resource.v1 : `${resource.v1}/{uid=**}`;
  return { method: METHODS[operation.kind], path };
}

/** The v2 path of what `match` is about: that of a verb, the collection of a list, else `{collection}/{uid or parent}`. */
export function v2PathOf(
  { resource, operation, uidPath, segment }: Omit<OperationMatch, "uid" | "query">,
  version: string,
): string {
  if (operation.kind === "call") {
    const path = operation.v2.path.replace("{uid}", uidPath).replace("{segment}", segment);
    return `/${resource.domain}/${version}/${path}`;
  }
  const collection = collectionPath(resource, version);
  return uidPath === "" ? collection : `${collection}/${uidPath}`;
}

/** A request before its body was read. */
export interface RequestHead {
  readonly method: string;
  /** Raw origin-form target as the client sent it (base path already taken off). */
  readonly target: string;
  readonly headers: HeaderList;
  /** `1.0`, `1.1`; undefined: as new as any. */
  readonly httpVersion?: string | undefined;
  /** Stands for the credential: a keyed digest. Undefined: not computed yet. */
  readonly credential?: string | undefined;
  /** When its time is over, on the clock of its exchange; undefined: never. */
  readonly deadline?: number | undefined;
  /** X-HTTP-Method-Override, which is not among `headers`: it never goes on. */
  readonly methodOverride?: string | undefined;
}

/** One request on its way: what its client asks for, and what becomes of it. */
export interface RequestContext extends RequestHead {
  readonly exchange: Exchange;
  /** What it asks for; set once, when it is routed. */
  route?: RouteResult | undefined;
  /** Its response is held until it is whole: calls that bring the rest do not wait for the memory that it takes. */
  holdsResponse?: boolean | undefined;
}

interface PlannedResponse {
  /** Fields of carryover's own, put after those of the response; paths in them as clients call them. */
  readonly headers?: HeaderList;
}

/** Streams through untouched to an upstream. */
export interface PassPlan extends PlannedResponse {
  readonly kind: "pass";
  readonly upstream: Upstream;
  /** The target to send; the client's own bytes unless said otherwise. */
  readonly target: string;
  /** Sees what goes by. */
  readonly watch?: PassThroughObserver;
  /** Sent in place of the client's own method, fields and body, where the body had to be read first. */
  readonly sent?: Omit<ApiRequest, "target"> & { readonly body: Uint8Array };
}

/**
 * Hears of a request and its answer as they pass: it changes and delays nothing. Chunks are the stream's own and must be
 * copied to be kept. It must not throw; if it does, the passing goes on without it.
 */
export interface PassThroughObserver {
  /** A piece of the request's body. */
  sent(chunk: Uint8Array): void;
  /** `headers` as the upstream sent them. */
  head(status: number, headers: HeaderList): void;
  data(chunk: Uint8Array): void;
  /** Called once: true when the whole answer went by. */
  over(whole: boolean): void;
}

/** Answered by carryover, usually after calls to v2. */
export interface ResponsePlan extends PlannedResponse {
  readonly kind: "answer";
  /** `body` is the whole request body (empty when there was none). Throws `Problem`. */
  respond(body: Uint8Array, signal: Signal): Promise<ClientResponse>;
}

/** Not decided before the body is here, since it says what is asked for. The decision has used the body up. */
export interface DeferredPlan {
  readonly kind: "deferred";
  readonly headers?: undefined;
  /** Longest body, in bytes. */
  readonly limit: number;
  /** The error for a longer one. */
  tooLong(): Problem;
  /** Throws `Problem` for what must be refused. */
  decide(body: Uint8Array): SettledPlan;
}

export type SettledPlan = PassPlan | ResponsePlan;
export type Plan = SettledPlan | DeferredPlan;

/** Decides on a request before its body is read, noting what it learns in its exchange. Throws `Problem` for what must be refused. */
export type Decide = (request: RequestContext) => Plan;

/** Who serves a request, as its head says. */
export interface Choice {
  /** Undefined where v1's own response to a bad request is due. */
  readonly route: RouteResult | undefined;
  readonly mode: Exclude<Mode, "refused">;
  /** Undefined where no rule decides. */
  readonly decision: ServingDecision | undefined;
}

/** The sentence in two steps, for requests whose target is not known from the start. `decide` is both at once. */
export interface RequestProxy {
  /** Decides once, and notes it in the exchange. Throws `Problem` for what must be refused. */
  choose(head: RequestContext): Choice;
  /** Carries `choice` out; the target may be another one of the same operation. `compares` false: nothing is compared. */
  plan(choice: Choice, request: RequestContext, compares?: boolean): SettledPlan;
  readonly decide: Decide;
  /** Throws `Problem` for a v1 request of an operation that is not known, if a brownout or a rehearsal keeps native v1 from serving it. */
  checkNative(request: RequestContext): void;
  /** Whether native v1 serves what v2 lacks, as the rules in force and the configuration say. */
  servesNative(): boolean;
}
