/** An explanation: its JSON is what `--json` prints and the admin port responds with (docs/explain.md). */
import type { Mode } from "../../model/exchange.ts";
import type { ModeDecision, RuleMode } from "../../model/rules.ts";

/** Everything that is known of a request before anything is sent. Secrets are masked everywhere. */
export interface Explanation {
  readonly request: ShownRequest;
  readonly mode: Mode;
  /** Catalogue name, or `unknown`. */
  readonly resource: string;
  readonly operation: string;
  /** One sentence: what the request is, and who serves it. */
  readonly summary: string;
  /** Why carryover answers with an error of its own; null when it does not. */
  readonly refusal: ExplainedRefusal | null;
  /** What the rules say; null without rules, and for requests that no rule decides on. */
  readonly cutover: ExplainedCutover | null;
  /** In their order, as far as they are known without asking the platform. */
  readonly calls: readonly ExplainedCall[];
  /**
   * The calls of the translation, where the rules let native v1 serve the request: then `fields`, `parameters`, `answer`
   * and `risks` are about the translation as well. Otherwise empty.
   */
  readonly translated: readonly ExplainedCall[];
  /** Members of the v1 body, and omitted ones where that means something. */
  readonly fields: readonly ExplainedField[];
  /** Parameters of the v1 query. */
  readonly parameters: readonly ExplainedParameter[];
  /** Members of the v1 response (of a list: of one item, and of the envelope). */
  readonly answer: readonly AnswerMember[];
  readonly risks: readonly ExplainedRisk[];
  /** Parts of the input that were ignored or read in another way; what carryover would count. */
  readonly notes: readonly string[];
}

export interface ExplainedCutover {
  /** As the ledger names it. */
  readonly client: string;
  /** 0 to 100: a rule with a higher percentage takes the client. */
  readonly bucket: number;
  /** The instant that is explained. */
  readonly at: string;
  readonly mode: RuleMode;
  readonly why: ModeDecision["why"];
  /** The rule that decided; null for `default` and `forced`. */
  readonly rule: string | null;
  /** What that means for the request, in words. */
  readonly says: string;
  /** Of the rules file; null without one. */
  readonly digest: string | null;
  /** Up to and with the first that matched. */
  readonly rules: readonly JudgedRule[];
}

export interface JudgedRule {
  readonly name: string;
  /** In the rules file. */
  readonly line: number;
  readonly mode: RuleMode;
  readonly matched: boolean;
  readonly why: string;
}

export interface ShownRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  /** JSON text, or null without a body. */
  readonly body: string | null;
}

/** The table of reasons is in docs/errors.md. */
export interface ExplainedRefusal {
  readonly status: number;
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly fields: readonly { readonly field: string; readonly description: string }[];
}

/** One call to an upstream. */
export interface ExplainedCall {
  readonly upstream: "v1" | "v2" | "sts";
  readonly method: string;
  readonly target: string;
  /** The fields that `updateMask` names; null when there is none. */
  readonly mask: readonly string[] | null;
  /** JSON text; null without a body. */
  readonly body: string | null;
  readonly headers: readonly (readonly [string, string])[];
  /** What it is for. */
  readonly purpose: string;
  /** What was assumed of its response, for the calls after it. */
  readonly assuming: string;
  /** Further calls like this one, or instead of it, and when. */
  readonly also: readonly string[];
}

/** `same`, `renamed`, `converted` are sent; `when-different` is sent if the stored record has another value; `passed` is sent unread. */
export type FieldOutcome =
  | "same"
  | "renamed"
  | "converted"
  | "when-different"
  | "set-to-zero"
  | "kept"
  | "left-alone"
  | "dropped"
  | "passed"
  | "refused";

export interface ExplainedField {
  /** Dotted, in v1's spelling. */
  readonly v1: string;
  /** Dotted; null when v2 has no such member, or the name is unknown. */
  readonly v2: string | null;
  readonly becomes: FieldOutcome;
  readonly why: string;
  /** JSON text that the client gave; null when it left the member out. */
  readonly given: string | null;
  /** JSON text that is sent; null when nothing is. */
  readonly sent: string | null;
  /** Numbers, from 1, of the calls that carry it: of `translated`, where that is not empty. */
  readonly calls: readonly number[];
}

/** `get`: one record instead of a list; `applied`: tested by carryover; `added`: sent although the client did not. */
export type ParameterOutcome =
  | "sent"
  | "renamed"
  | "converted"
  | "inverted"
  | "added"
  | "get"
  | "applied"
  | "ignored"
  | "refused";

export interface ExplainedParameter {
  readonly v1: string;
  /** As the client gave it; null for `added`. */
  readonly given: string | null;
  /** `name=value` as sent; null when nothing is. */
  readonly sent: string | null;
  readonly becomes: ParameterOutcome;
  readonly why: string;
}

/**
 * `joined` is in another record, `moved` elsewhere in this one. `worked-out` is computed from a whole list, `inserted` is
 * nowhere in v2, `cut` is not shown.
 */
export type AnswerOutcome = "same" | "renamed" | "converted" | "joined" | "moved" | "worked-out" | "inserted" | "cut";

export interface AnswerMember {
  /** Dotted; null for what is cut. */
  readonly v1: string | null;
  /** Dotted v2 names that it is read from, in order; empty when it is inserted, worked out, or put together from several. */
  readonly v2: readonly string[];
  readonly becomes: AnswerOutcome;
  readonly why: string;
  /** JSON text that v1 shows when v2 omits it; null: then it is absent, or (of a join) as `why` says. */
  readonly absent: string | null;
}

/** Something that can go wrong, or differ from v1. */
export interface ExplainedRisk {
  /** HTTP status that the client would see; null when it sees none. */
  readonly status: number | null;
  /** Reason of carryover's own error; null for the platform's, and for what is no error. */
  readonly reason: string | null;
  readonly when: string;
}
