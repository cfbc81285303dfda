/** The platform behind carryover in the walkthrough, and its moods. */

/** Starts it. `moods` is for the walkthrough to change. */
export async function startPlatform(createSandbox) {
  const moods = {
    /** v2 shows other descriptions than are stored: a platform's fault that only a comparison finds. */
    v2Wrong: false,
    /** v2 responds to every call with 503. */
    v2Sick: false,
    /** Native v1 has been switched off. */
    v1Gone: false,
  };
  /** Each call that arrived. */
  const sent = [];
  const sandbox = createSandbox({
    faults: (next) => {
      const mood = faulty(next, moods);
      return (request, options) => {
        const [, authorization = ""] = request.headers.find(([name]) => name === "authorization") ?? [];
        sent.push({ method: request.method, target: request.target, token: authorization.replace(/^bearer /i, "") });
        return mood(request, options);
      };
    },
  });
  const { url } = await sandbox.listen();
  return { sandbox, url, moods, sent };
}

const text = new TextDecoder();
const bytes = new TextEncoder();
const HISTORY = bytes.encode('{"items":[]}');
const JSON_TYPE = [["content-type", "application/json"]];
const SICK = bytes.encode('{"code":14,"message":"v2 is sick","details":[]}');
const GONE = bytes.encode('{"code":12,"message":"v1 is gone","details":[]}');

function faulty(next, moods) {
  return async (request, options) => {
    const [, , version = ""] = request.target.split("/");
    if (moods.v1Gone && version.startsWith("v1") && !request.target.startsWith("/sts/")) {
      return { status: 501, headers: JSON_TYPE, body: GONE };
    }
    // An operation that v2 lacks: the sandbox has none of those.
    if (/^\/registry\/v1\/tags\/[^?]+\/history$/.test(request.target))
      return { status: 200, headers: JSON_TYPE, body: HISTORY };
    if (moods.v2Sick && version.startsWith("v2")) return { status: 503, headers: JSON_TYPE, body: SICK };
    const answer = await next(request, options);
    const wrong = moods.v2Wrong && version.startsWith("v2") && request.method === "GET";
    if (!wrong) return answer;
    const body = bytes.encode(text.decode(answer.body).replaceAll('"description":"', '"description":"?'));
    const headers = answer.headers.filter(([name]) => name !== "content-length");
    return { ...answer, headers, body };
  };
}
