/** Gives equal requests for a list the response that was made for one of them; off by default. */
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
  type ListCacheUsage,
  type ReadForMany,
  type SharedRead,
  type SharedReadResult,
  startSharedRead,
} from "./list-cache.ts";

export interface ListSharingOptions extends ListKeyOptions {
  /** Equal requests that come while one is served wait for its response. */
  readonly collapse: boolean;
  /** How long a finished list may be reused, counted from when its reading began; 0: never. */
  readonly seconds: number;
  /** For all finished lists; one credential gets a tenth of it. */
  readonly bytes: number;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970: only to know when a token has expired. */
  readonly wall: () => number;
}

export interface ListSharing {
  /**
   * `plan`, with its list shared between equal requests of one credential while that credential does not write. A response
   * that was made for another request has its `age`, and its exchange the note `list-shared` or `list-collapsed`.
   */
  share(request: RequestContext, plan: Plan): Plan;
  /** To be called with every exchange when it is over: until then a write counts as under way. */
  over(exchange: Exchange): void;
  /** What is held in memory. */
  usage(): ListCacheUsage;
}

/** Nothing that is shared is older, whatever is configured: a revoked token must not be of use for longer. */
export const MOST_SECONDS = 5;
/** Requests that wait for one read; others read for themselves. */
const MAX_FOLLOWERS = 100;
/** Reads that one request waits for when they fail; then it reads for itself. */
const MAX_WAITS = 2;

/** One request for a list. */
interface ListRequest {
  readonly key: string;
  readonly credential: Credential;
  readonly notes: string[];
  readonly make: ReadForMany;
  readonly signal: Signal;
}

/** By default nothing is shared, and then nothing is done for any request. Throws `Error` for more than `MOST_SECONDS`. */
export function createListSharing(options: ListSharingOptions): ListSharing {
  const { collapse, seconds, bytes, now, wall, secret } = options;
  if (!(seconds >= 0 && seconds <= MOST_SECONDS)) throw new Error(`lists are shared for 0 to ${MOST_SECONDS} s`);
  const keeps = seconds > 0 && bytes > 0;
  const tenants = createListCache(keeps ? { bytes, now } : undefined);
  if (!collapse && !keeps) return { share: (_request, plan) => plan, over: () => {}, usage: tenants.size };
  const writing = new Map<Exchange, string>();

  async function share(request: ListRequest): Promise<ClientResponse> {
    const { key, credential, notes, make, signal } = request;
    for (let waits = 0; ; waits += 1) {
      signal.throwIfAborted();
      // The platform would refuse an expired token.
      if (wall() >= credential.ends * 1000) return make(signal);
      const kept = tenants.store?.find(key);
      if (kept !== undefined) {
        notes.push("list-shared");
        return responseOf(kept, now());
      }
      // After the store was searched, which may forget a tenant.
      const tenant = tenants.enter(credential.digest);
      if (tenant === undefined) return make(signal);
      const read = tenant.sharedReads.get(key);
      if (read === undefined || !isYoung(read, now())) return lead(request, tenant);
      if (waits === MAX_WAITS || read.waiting() > MAX_FOLLOWERS) return make(signal);
      const result = await read.follow(signal);
      if (result.kind === "shared") {
        notes.push("list-collapsed");
        return responseOf(result.copy, now());
      }
      if (result.kind === "single") return make(signal);
    }
  }

  /** Makes the response, for this request and for those that come meanwhile. */
  function lead({ key, make, signal }: ListRequest, tenant: CredentialLists): Promise<ClientResponse> {
    const read = startSharedRead(make, now(), (response) => {
      if (tenant.sharedReads.get(key) === read) tenant.sharedReads.delete(key);
      const result = resultOf(response, read.began, now());
      if (result.kind === "shared") keep(result.copy, key, tenant);
      // Last: a tenant with a read under way is not forgotten while its lists make room.
      tenant.working -= 1;
      tenants.settle(tenant);
      return result;
    });
    tenant.working += 1;
    if (collapse) tenant.sharedReads.set(key, read);
    return read.lead(signal);
  }

  /** Keeps a list, unless its credential has written since its reading began. */
  function keep(copy: SharedResponse, key: string, tenant: CredentialLists): void {
    if (!tenants.isCurrent(tenant)) return;
    tenants.store?.keep(tenant, key, copy, copy.began + Math.min(seconds * 1000, copy.freshMs));
  }

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
      const isList = request.method === "GET" && exchange.mode === "translate" && exchange.operation === "list";
      if (plan.kind !== "answer" || !isList) return plan;
      return {
        ...plan,
        respond: async (body, signal) => {
          const make: ReadForMany = async (until) => plan.respond(body, until);
          // A GET has no body: what the plan says about one is for its sender alone.
          if (body.length > 0 || wantsOwn(headers)) return make(signal);
          const credential = credentialOf(headers, secret);
          if (credential === undefined) return make(signal);
          const key = listKeyOf(request, credential, options);
          return share({ key, credential, notes: exchange.notes, make, signal });
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

/** Not cancelled, and begun so recently that its response shows nothing older than a kept one may. */
function isYoung(read: SharedRead, now: number): boolean {
  return read.isOpen() && now - read.began < MOST_SECONDS * 1000;
}

/** Failures, and responses that others may not have, are not shared. */
function resultOf(response: ClientResponse | undefined, began: number, now: number): SharedReadResult {
  if (response?.status !== 200) return { kind: "failed" };
  const copy = sharedResponseOf(response, began);
  return copy === undefined || now - began >= copy.freshMs ? { kind: "single" } : { kind: "shared", copy };
}
