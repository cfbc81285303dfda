/** The interface of a condition. Each condition is a file in this folder and an entry in the list of ../rule.ts. */
import type * as z from "zod";
import { type HeaderList, header } from "../../model/http.ts";
import type { RequestHead } from "../../model/request.ts";

export interface RequestedOperation {
  readonly resource: string;
  readonly operation: string;
  readonly write: boolean;
  /** v1's response is a guess, and there is a native v1: only rules that name the operation match. */
  readonly guessed?: boolean | undefined;
}

/** What rules look at in a request. */
export interface RuleInput extends RequestedOperation {
  /** The ledger's name for it. */
  readonly client: string;
  readonly head: Pick<RequestHead, "method" | "target" | "headers">;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A rule, as far as one condition knows it. */
export interface Asking<Match> {
  readonly match: Match;
  readonly expires?: number | undefined;
}

/** `match` of a rules file, as far as one condition knows it. */
export type TextOf<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

/** One condition. `Match`: its values in the `match` of a rule. `Shape`: its keys in the `match` of a rules file. */
export interface Condition<Match extends object, Shape extends z.ZodRawShape> {
  readonly schema: Shape;
  /** `resources`: the rule's resources by their catalogue names. Undefined without a resource in the rule: all. */
  build(text: TextOf<Shape>, resources: ReadonlySet<string> | undefined): Match;
  /** The test of a request: true takes it, false refuses it. Undefined: the rule does not ask, and the condition is silent. */
  holds(rule: Asking<Match>): Test | undefined;
  /** Whether `outer` takes every request for `operation` that `inner` takes, as far as this condition decides. */
  covers(outer: Asking<Match>, inner: Asking<Match>, operation: RequestedOperation): boolean;
  /** `covers` depends on the operation. Others are asked once for all operations. */
  readonly coversByOperation?: true;
  /** In the order of a sentence; empty when the rule does not ask. */
  words(match: Match): readonly string[];
  /** Why it refuses the request, or what made it take the request where that is worth a word. */
  why(rule: Asking<Match>, request: RuleRequest, taken: boolean): string | undefined;
  /** Faults and doubts that the schema cannot express. */
  remarks?(text: Asking<TextOf<Shape>>, given: RuleCircumstances): readonly RuleRemark[];
  /** Its values as JSON. */
  view(match: Match): object;
  /** The values that only say how many requests the rule takes, or when. A rule keeps its evidence when they change. */
  readonly amounts?: readonly (keyof Match)[];
  /** It may take longer than others, and is tested last. */
  readonly last?: true;
}

export type Test = (request: RuleRequest) => boolean;

/**
 * A remark on the value at `path` of a rule. It makes the rule unusable, unless it is `doubtful`: valid, but probably a mistake.
 * `aged`: it was valid when written, and has expired.
 */
export interface RuleRemark {
  readonly path: readonly PropertyKey[];
  readonly what: string;
  readonly remedy: string;
  readonly kind?: "aged" | "doubtful";
}

/** What else the checks of a rule depend on. */
export interface RuleCircumstances {
  /** The rule as the file has it. */
  readonly given: unknown;
  readonly native: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** As in `build`. */
  readonly resources: ReadonlySet<string> | undefined;
  /** The rule matches reads; undefined when its names are unknown. */
  readonly reads: boolean | undefined;
  /** Whether the file itself says how much is compared. */
  readonly saysSample: boolean;
  /** The names of `clients.names`. */
  readonly clients: ReadonlySet<string>;
  /** Replicas share a store (`state.url`). Undefined where that is not known. */
  readonly shared: boolean | undefined;
}

/** A request as conditions look at it. What takes time is computed at most once, and only when a rule needs it. */
export class RuleRequest {
  readonly input: RuleInput;
  readonly #bucketOf: (client: string) => number;
  #bucket: number | undefined;

  /** `bucketOf`: 0 to 100, by client alone. */
  constructor(input: RuleInput, bucketOf: (client: string) => number) {
    this.input = input;
    this.#bucketOf = bucketOf;
  }

  /** The first header field of this lower-case name. */
  header(name: string): string | undefined {
    return header(this.input.head.headers, name);
  }

  /** The first cookie of this name. */
  cookie(name: string): string | undefined {
    return cookieOf(this.input.head.headers, name);
  }

  /** The client's, 0 to 100. */
  bucket(): number {
    this.#bucket ??= this.#bucketOf(this.input.client);
    return this.#bucket;
  }
}

/** The value of the first cookie `name` in all Cookie fields (RFC 6265 section 4.2.1), without quotes around it. */
function cookieOf(headers: HeaderList, name: string): string | undefined {
  for (const [field, value] of headers) {
    if (field !== "cookie") continue;
    for (const pair of value.split(";")) {
      const equals = pair.indexOf("=");
      if (equals >= 0 && pair.slice(0, equals).trim() === name) return unquoted(pair.slice(equals + 1).trim());
    }
  }
  return undefined;
}

function unquoted(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}
