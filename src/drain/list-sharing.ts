/** Requests for a list get what was made for an equal one; off by default. */
import type { Exchange } from "../model/exchange.ts";
import { type ClientResponse, isSafe } from "../model/http.ts";
import type { Plan, RequestContext } from "../model/request.ts";
import type { Signal } from "../model/signal.ts";
import { type Credential, credentialOf } from "../upstream/credentials.ts";
import {
  type ListKeyOptions,
  listKeyOf,
  responseOf,
  type SharedResponse,
  sharedResponseOf,
  wantsOwn,
} from "./cache-policy.ts";
import {
  type CredentialLists,
  createListCache,
  type ListCache,
  type ListCacheUsage,
  type ReadForMany,
  type SharedRead,
  type SharedReadResult,
  startSharedRead,
} from "./list-cache.ts";

export interface ListSharingOptions extends ListKeyOptions {
  /** Equal requests that come while one is being answered wait for its answer. */
  readonly collapse: boolean;
  /** How long a finished list may be given again, counted from when its reading began; 0: never. */
  readonly seconds: number;
  /** For all finished lists; one credential gets a tenth of it. */
  readonly bytes: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970: only to know when a token has ended. */
  readonly wall: () => number;
}

export interface ListSharing {
  /**
   * `plan`, with its list shared between equal requests of one credential, and only if that credential does not write
   * meanwhile. A response that was made for another request says its `age`, and its exchange `list-shared` or `list-collapsed`.
   */
  share(request: RequestContext, plan: Plan): Plan;
  /** To be told of every exchange when it is over: until then a write counts as under way. */
  over(exchange: Exchange): void;
  /** What is held in memory. */
  usage(): ListCacheUsage;
}

/** A revoked token must not be of use for longer: nothing that is shared is older, whatever is configured. */
export const MOST_SECONDS = 5;
/** Requests that wait for one work; others make their own. */
const MOST_FOLLOWERS = 100;
/** Works that one request waits for in turn, when they fail; then it makes its own. */
const MOST_WAITS = 2;

/** What the requests of one process share. */
interface SharingContext {
  readonly options: ListSharingOptions;
  readonly tenants: ListCache;
}

/** One request for a list. */
interface ListRequest {
  readonly key: string;
  readonly credential: Credential;
  readonly notes: string[];
  readonly read: ReadForMany;
  readonly signal: Signal;
}

/**
 * Sharing as `options` ask for it: nothing by default, and then nothing is done for any request. Throws `Error` for more
 * than `MOST_SECONDS`.
 */
export function createListSharing(options: ListSharingOptions): ListSharing {
  const { collapse, seconds, bytes, now, secret } = options;
  if (!(seconds >= 0 && seconds <= MOST_SECONDS)) throw new Error(`lists are shared for 0 to ${MOST_SECONDS} s`);
  const keeps = seconds > 0 && bytes > 0;
  const tenants = createListCache(keeps ? { bytes, now } : undefined);
  if (!collapse && !keeps) return { share: (_request, plan) => plan, over: () => {}, usage: tenants.size };
  const context = { options, tenants };
  const writing = new Map<Exchange, string>();

  return {
    share(request, plan) {
      const { exchange, headers } = request;
      if (!isSafe(request.method)) {
        const credential = credentialOf(headers, secret);
        if (credential !== undefined) {
          writing.set(exchange, credential.digest);
          tenants.beginWrite(credential.digest);
        }
        return plan;
      }
      if (plan.kind !== "answer" || !isList(request)) return plan;
      return {
        ...plan,
        respond: async (body, signal) => {
          const read: ReadForMany = async (until) => plan.respond(body, until);
          // A GET has no body: what the plan says of it is for its sender alone.
          const credential = body.length > 0 || wantsOwn(headers) ? undefined : credentialOf(headers, secret);
          if (credential === undefined) return read(signal);
          const key = listKeyOf(request, credential, options);
          return respondToList({ key, credential, notes: exchange.notes, read, signal }, context);
        },
      };
    },
    over(exchange) {
      const digest = writing.get(exchange);
      if (digest === undefined) return;
      writing.delete(exchange);
      tenants.endWrite(digest);
    },
    usage: tenants.size,
  };
}

function isList({ method, exchange: { mode, operation } }: RequestContext): boolean {
  return method === "GET" && mode === "translate" && operation === "list";
}

/** A list that was kept, that is being read for another request, or that is read now. */
async function respondToList(asked: ListRequest, context: SharingContext): Promise<ClientResponse> {
  const { key, credential, notes, read, signal } = asked;
  const { tenants } = context;
  const { now, wall } = context.options;
  for (let waits = 0; ; waits += 1) {
    signal.throwIfAborted();
    // To a token that has ended the platform would say no.
    if (wall() >= credential.ends * 1000) return read(signal);
    const kept = tenants.store?.find(key);
    if (kept !== undefined) {
      notes.push("list-shared");
      return responseOf(kept, now());
    }
    // Behind the look into the store, which may forget a tenant.
    const tenant = tenants.enter(credential.digest);
    if (tenant === undefined) return read(signal);
    const flight = tenant.sharedReads.get(key);
    if (flight === undefined || !isYoung(flight, now())) return lead(asked, tenant, context);
    if (waits === MOST_WAITS || flight.waiting() > MOST_FOLLOWERS) return read(signal);
    const landing = await flight.follow(signal);
    if (landing.kind === "shared") {
      notes.push("list-collapsed");
      return responseOf(landing.copy, now());
    }
    if (landing.kind === "single") return read(signal);
  }
}

/** Not cancelled, and begun so shortly ago that its answer will show nothing older than a kept one may. */
function isYoung(flight: SharedRead, now: number): boolean {
  return flight.isOpen() && now - flight.began < MOST_SECONDS * 1000;
}

/** Makes the answer, for this request and for those that come meanwhile. */
function lead(asked: ListRequest, tenant: CredentialLists, context: SharingContext): Promise<ClientResponse> {
  const { key, read, signal } = asked;
  const { options } = context;
  const flight = startSharedRead(read, options.now(), (made) => {
    if (tenant.sharedReads.get(key) === flight) tenant.sharedReads.delete(key);
    const landing = resultOf(made, flight.began, options.now());
    if (landing.kind === "shared") keep(landing.copy, key, tenant, context);
    // Last: a tenant with a work under way is not forgotten while its lists make room.
    tenant.working -= 1;
    context.tenants.settle(tenant);
    return landing;
  });
  tenant.working += 1;
  if (options.collapse) tenant.sharedReads.set(key, flight);
  return flight.lead(signal);
}

/** Failures are not copied; what may not be given to others is not. */
function resultOf(made: ClientResponse | undefined, began: number, now: number): SharedReadResult {
  if (made?.status !== 200) return { kind: "failed" };
  const copy = sharedResponseOf(made, began);
  return copy === undefined || now - began >= copy.freshMs ? { kind: "single" } : { kind: "shared", copy };
}

/** Keeps a list, unless its credential has written since it was begun. */
function keep(copy: SharedResponse, key: string, tenant: CredentialLists, context: SharingContext): void {
  const { tenants, options } = context;
  if (!tenants.isCurrent(tenant)) return;
  const freshMs = Math.min(options.seconds * 1000, copy.freshMs);
  tenants.store?.keep(tenant, key, copy, copy.began + freshMs);
}
