import { describe, expect, it } from "vitest";
import { later, type Rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { createDouble, type Double, ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

const READ = "/iam/v1/groups/a/b";
const PASS = "/iam/v2beta1/groups/a/b";
const BUSY = '{"code":14,"message":"busy","details":[]}';
const UNAVAILABLE = `HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: ${BUSY.length}\r\n\r\n${BUSY}`;
const RECORD = ok('{"uid":"a/b","name":"a"}');
/** The platform takes so long for each answer, so that there is always something under way. */
const ANSWER_MS = 20;

async function stage(fails: () => boolean): Promise<{ rig: Rig; double: Double }> {
  const double = await createDouble((_, socket) => {
    setTimeout(() => socket.write(fails() ? UNAVAILABLE : RECORD), ANSWER_MS);
  });
  later(double.close);
  return { rig: await rigForTest({ v2Url: double.url, native: false }), double };
}

/** `clients` at a time for `targets` in turn, each with its next request as soon as it has been answered; calls for each request. */
async function load(
  { rig, double }: { rig: Rig; double: Double },
  targets: readonly string[],
  clients: number,
  total: number,
) {
  const before = double.requests.length;
  const began = performance.now();
  let asked = 0;
  let served = 0;
  const client = async (target: string): Promise<void> => {
    while (asked < total) {
      asked++;
      if ((await rig.ask("GET", target)).status === 200) served++;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, i) => client(targets[i % targets.length] ?? READ)));
  return { asked, served, calls: (double.requests.length - before) / asked, ms: performance.now() - began };
}

/** The same share of failures in every run: each hundred answers have exactly so many, evenly spread. */
function share(percent: number): () => boolean {
  let sum = 0;
  return () => {
    sum += percent;
    if (sum < 100) return false;
    sum -= 100;
    return true;
  };
}

describe("T-FLT-06: a platform that says 503 for ever", () => {
  it("is asked at most twice for one request, and hardly more often than clients ask", async () => {
    const stand = await stage(() => true);
    const alone = await Promise.all([stand.rig.ask("GET", READ), stand.rig.ask("GET", PASS)]);
    expect(alone.map(({ status }) => status)).toEqual([503, 503]);
    // Pass-through is never repeated for an answer; a translated read is, once.
    expect(stand.double.requests).toHaveLength(3);

    const { asked, served, calls, ms } = await load(stand, [READ, PASS], 50, scale(300, 6_000));
    expect(served).toBe(0);
    // A fifth of the translated half, and three at a time: on a busy machine clients ask less often meanwhile.
    const always = 3 * (ms / ANSWER_MS + 1);
    expect((calls - 1) * asked).toBeLessThanOrEqual(0.2 * (asked / 2) + always);
    figure("T-FLT-06", "amplification under 503: calls for each request, half of them translated", calls, "ratio");
    figure("T-FLT-06", "requests answered with 503 in that", asked, "requests");
  });
});

describe("T-FLT-08: a platform of whose answers some are 503", () => {
  it.each([
    ["one", 10, 1.12, 0.98],
    ["three", 30, 1.2, 0.82],
  ])(
    "(%s in ten) is healed nearly always, and asked no more than the budget lets",
    async (name, percent, most, least) => {
      const { asked, served, calls } = await load(await stage(share(percent)), [READ], 30, scale(300, 6_000));
      expect(calls).toBeLessThanOrEqual(most);
      expect(served / asked).toBeGreaterThanOrEqual(least);
      const answers = name === "one" ? "one answer" : "three answers";
      figure("T-FLT-08", `success with ${answers} in ten 503`, served / asked, "ratio");
      figure("T-FLT-08", `calls for each request, with ${answers} in ten 503`, calls, "ratio");
    },
  );
});
