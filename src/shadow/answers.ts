/** What are the two answers that are compared? */
import { wasLetIn } from "../model/exchange.ts";
import {
  type ApiResponse,
  type ClientResponse,
  CONDITIONS,
  type HeaderList,
  HOP_BY_HOP,
  header,
  type SendLayer,
  withoutHeaders,
} from "../model/http.ts";
import { Problem, problemBody } from "../model/problem.ts";
import type { RequestHead } from "../model/request.ts";
import type { Signal } from "../model/signal.ts";
import { type ByteReservation, createBoundedCopy } from "./capture.ts";
import { comparisonError, failureIn, troubleOf } from "./outcome.ts";
import type { ComparisonRequest, ShadowOptions } from "./request.ts";

/** Makes the answers of one comparison. */
export interface AnswerSource {
  /** What native answered, decoded. */
  readable(answer: ApiResponse): Promise<ApiResponse>;
  /** Native's answer to a GET of `target` as the caller; without one, to the same read, asked once more. */
  native(target?: string): Promise<ApiResponse>;
  /** The translated answer, and what the translation noted; carryover's own refusals are answers too. */
  translated(body: Uint8Array, layer: SendLayer): Promise<TranslatedAnswer>;
}

export interface TranslatedAnswer {
  readonly answer: ApiResponse;
  /** v1 names of what v2 does not hold as the request asked (design: updates). */
  readonly mismatches: readonly string[];
  /** The answer is a refusal for that alone: v2 gave none that could be compared. */
  readonly incomplete: boolean;
  /** carryover refused by itself. */
  readonly own: boolean;
  /** v2 let the caller in: one of its answers is of a kind that strangers are not given, or the translated one is a success. */
  readonly letIn: boolean;
}

/** Their own troubles: such an answer says nothing about the translation. */
const TROUBLES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** True for an answer that its sender would have given to any request at that time. */
export function isTrouble(status: number): boolean {
  return TROUBLES.has(status);
}

export interface AnswerSourceOptions {
  readonly asked: ComparisonRequest;
  readonly options: Pick<ShadowOptions<never>, "limits" | "native" | "translate" | "decode">;
  readonly held: ByteReservation;
  readonly signal: Signal;
  /** Counts calls as they leave. */
  readonly calls: { v1: number; v2: number };
  /** Hears of each answer to such a call. */
  saw(answer: ApiResponse): void;
}

/** Every promise rejects with `failing` for what leaves nothing to compare, or with the signal's reason. */
export function createAnswerSource({ asked, options, held, signal, calls, saw }: AnswerSourceOptions): AnswerSource {
  const { answerBytes } = options.limits;
  /** Counts every call that leaves for v2, and sees its answer; the comparison's own layer is inside, nearer to v2 than anything. */
  const counting =
    (layer: SendLayer, door: { open: boolean }): SendLayer =>
    (next) =>
      layer(async (request, sending) => {
        calls.v2 += 1;
        const response = await next(request, sending);
        saw(response);
        const call = { upstream: "v2", method: request.method, path: "", status: response.status, ms: 0 } as const;
        if (wasLetIn({ calls: [call] })) door.open = true;
        return response;
      });
  const readable = async (answer: ApiResponse): Promise<ApiResponse> => {
    const encoding = header(answer.headers, "content-encoding")?.trim().toLowerCase();
    if (encoding === undefined || encoding === "identity" || answer.body.length === 0) return answer;
    const body = await options.decode(encoding, answer.body, answerBytes).catch(() => {
      throw comparisonError("unreadable");
    });
    return { ...answer, body: reserved(body, answerBytes, held) };
  };
  return {
    readable,
    async native(target) {
      calls.v1 += 1;
      const { head } = asked;
      const request = { method: "GET", target: target ?? head.target, headers: onceMore(head) };
      const answer = await options.native(request, { signal }).catch((thrown: unknown) => {
        signal.throwIfAborted();
        throw comparisonError((thrown instanceof Problem ? troubleOf(thrown) : undefined) ?? "native");
      });
      saw(answer);
      reserved(answer.body, answerBytes, held);
      return readable(answer);
    },
    async translated(body, layer) {
      const { match, head } = asked;
      const door = { open: false };
      try {
        const { answer, exchange } = await options.translate({ match, head, body }, counting(layer, door), signal);
        const whole = await gather(answer, answerBytes, held);
        if (isTrouble(whole.status)) throw comparisonError("platform");
        const letIn = door.open || whole.status < 400;
        return { answer: whole, mismatches: [...exchange.mismatches], incomplete: false, own: false, letIn };
      } catch (thrown) {
        // Whatever was thrown: the comparison's time is over, or it said itself why it ends.
        signal.throwIfAborted();
        if (failureIn(thrown) !== undefined) throw thrown;
        return { ...refusal(Problem.from(thrown)), letIn: door.open };
      }
    },
  };
}

/** carryover's own answer, as the listener would have given it. */
function refusal(problem: Problem): Omit<TranslatedAnswer, "letIn"> {
  const trouble = troubleOf(problem);
  if (trouble !== undefined) throw comparisonError(trouble);
  const incomplete = problem.reason === "UPDATE_INCOMPLETE";
  return {
    answer: { status: problem.http, headers: JSON_TYPE, body: Buffer.from(problemBody(problem)) },
    mismatches: incomplete ? problem.fieldViolations.map(({ field }) => field) : [],
    incomplete,
    own: true,
  };
}
const JSON_TYPE: HeaderList = [["content-type", "application/json"]];

/** All of `answer`, which is then paid for; ends the making of one that is too long. */
async function gather(answer: ClientResponse, limit: number, held: ByteReservation): Promise<ApiResponse> {
  const { body } = answer;
  if (body instanceof Uint8Array) return { ...answer, body: reserved(body, limit, held) };
  const copy = createBoundedCopy(held, limit);
  for await (const piece of body) {
    const refused = copy.add(piece);
    if (refused !== undefined) throw comparisonError(refused);
  }
  return { ...answer, body: copy.bytes() };
}

/** Bytes that are there already. */
function reserved(bytes: Uint8Array, limit: number, held: ByteReservation): Uint8Array {
  if (bytes.length > limit) throw comparisonError("too-large");
  if (!held.take(bytes.length)) throw comparisonError("memory");
  return bytes;
}

/** Asks for the whole answer whatever the client has, and as it is. */
const NOT_REPEATED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...CONDITIONS,
  "accept-encoding",
  "content-length",
  "content-type",
  "host",
  "range",
]);

function onceMore({ headers }: RequestHead): HeaderList {
  return [...withoutHeaders(headers, NOT_REPEATED), ["accept-encoding", "identity"]];
}
