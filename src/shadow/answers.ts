/** The two responses of one comparison. */
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
import { decode } from "../upstream/client.ts";
import { type ByteReservation, createBoundedCopy } from "./capture.ts";
import { ComparisonError, failureOfProblem } from "./outcome.ts";
import type { ComparisonRequest, ShadowOptions } from "./request.ts";

/** Every promise rejects with ComparisonError for what leaves nothing to compare, or with the signal's reason. */
export interface AnswerSource {
  /** `answer` without its Content-Encoding. */
  readable(answer: ApiResponse): Promise<ApiResponse>;
  /** Native's response to a GET of `target` by the same caller; without `target`, to the same read once more. */
  native(target?: string): Promise<ApiResponse>;
  /** The translated response, also when carryover refuses the request. */
  translated(body: Uint8Array, layer: SendLayer): Promise<TranslatedAnswer>;
}

export interface TranslatedAnswer {
  readonly answer: ApiResponse;
  /** v1 names of the fields that v2 does not hold as requested. */
  readonly mismatches: readonly string[];
  /** The response is an error for those mismatches alone: there is none of v2's to compare. */
  readonly incomplete: boolean;
  /** carryover itself refused the request. */
  readonly own: boolean;
  /** v2 let the caller in, as the status of one of its responses or of the translated one shows. */
  readonly letIn: boolean;
}

/** Statuses that an upstream would have given to any request at that time. */
const TROUBLES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** True for a status that says nothing about the request. */
export function isTrouble(status: number): boolean {
  return TROUBLES.has(status);
}

export interface AnswerSourceOptions {
  readonly asked: ComparisonRequest;
  readonly options: Pick<ShadowOptions, "limits" | "native" | "translate">;
  readonly reservation: ByteReservation;
  readonly signal: Signal;
  /** Counts calls as they leave. */
  readonly calls: { v1: number; v2: number };
  /** Takes the response to each of them. */
  observe(answer: ApiResponse): void;
}

export function createAnswerSource(source: AnswerSourceOptions): AnswerSource {
  const { asked, options, reservation, signal, calls, observe } = source;
  const { answerBytes } = options.limits;
  const { match, head } = asked;
  const readable = async (answer: ApiResponse): Promise<ApiResponse> => {
    const encoding = header(answer.headers, "content-encoding")?.trim().toLowerCase();
    if (encoding === undefined || encoding === "identity" || answer.body.length === 0) return answer;
    const body = await decode(encoding, answer.body, answerBytes).catch(() => {
      throw new ComparisonError("unreadable");
    });
    return { ...answer, body: reserved(body, answerBytes, reservation) };
  };
  return {
    readable,
    async native(target = head.target) {
      calls.v1 += 1;
      const request = { method: "GET", target, headers: repeatedHeaders(head) };
      const answer = await options.native(request, { signal }).catch((thrown: unknown) => {
        signal.throwIfAborted();
        throw new ComparisonError((thrown instanceof Problem ? failureOfProblem(thrown) : undefined) ?? "native");
      });
      observe(answer);
      reserved(answer.body, answerBytes, reservation);
      return readable(answer);
    },
    async translated(body, layer) {
      let letIn = false;
      // Outside of `layer`, and so it counts only calls that leave for v2.
      const counting: SendLayer = (next) =>
        layer(async (request, sending) => {
          calls.v2 += 1;
          const response = await next(request, sending);
          observe(response);
          const call = { upstream: "v2", method: request.method, path: "", status: response.status, ms: 0 } as const;
          letIn ||= wasLetIn({ calls: [call] });
          return response;
        });
      try {
        const { answer, exchange } = await options.translate({ match, head, body }, counting, signal);
        const whole = await gather(answer, answerBytes, reservation);
        if (isTrouble(whole.status)) throw new ComparisonError("platform", String(whole.status));
        letIn ||= whole.status < 400;
        return { answer: whole, mismatches: [...exchange.mismatches], incomplete: false, own: false, letIn };
      } catch (thrown) {
        // The comparison's time is over, or what was thrown says itself why the comparison ends.
        signal.throwIfAborted();
        if (thrown instanceof ComparisonError) throw thrown;
        return { ...refusal(Problem.from(thrown)), letIn };
      }
    },
  };
}

/** carryover's own error, as the server would send it. */
function refusal(problem: Problem): Omit<TranslatedAnswer, "letIn"> {
  const failure = failureOfProblem(problem);
  if (failure !== undefined) throw new ComparisonError(failure, `${problem.http} ${problem.reason}`);
  const incomplete = problem.reason === "UPDATE_INCOMPLETE";
  const headers: HeaderList = [["content-type", "application/json"]];
  return {
    answer: { status: problem.http, headers, body: Buffer.from(problemBody(problem)) },
    mismatches: incomplete ? problem.fieldViolations.map(({ field }) => field) : [],
    incomplete,
    own: true,
  };
}

/** `answer` with its whole body, counted by `reservation`. A body that is too long is not read to its end. */
async function gather(answer: ClientResponse, limit: number, reservation: ByteReservation): Promise<ApiResponse> {
  const { body } = answer;
  if (body instanceof Uint8Array) return { ...answer, body: reserved(body, limit, reservation) };
  const copy = createBoundedCopy(reservation, limit);
  for await (const piece of body) {
    const refused = copy.add(piece);
    if (refused !== undefined) throw new ComparisonError(refused);
  }
  return { ...answer, body: copy.bytes() };
}

/** Counts bytes that are in memory already. */
function reserved(bytes: Uint8Array, limit: number, reservation: ByteReservation): Uint8Array {
  if (bytes.length > limit) throw new ComparisonError("too-large");
  if (!reservation.take(bytes.length)) throw new ComparisonError("memory");
  return bytes;
}

const NOT_REPEATED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...CONDITIONS,
  "accept-encoding",
  "content-length",
  "content-type",
  "host",
  "range",
]);

/** Asks for the whole, unencoded response, whatever the client has of it. */
function repeatedHeaders({ headers }: RequestHead): HeaderList {
  return [...withoutHeaders(headers, NOT_REPEATED), ["accept-encoding", "identity"]];
}
