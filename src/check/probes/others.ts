/** Are the platform's own v1 and its token exchange where the configuration says? */
import type { Config } from "../../config.ts";
import type { Signal } from "../../model/signal.ts";
import { type Answer, shownStatus } from "../api.ts";
import { createConnection, type Settings } from "../connection.ts";
import { type Finding, sayFor } from "../finding.ts";
import { reach } from "./reach.ts";

const say = sayFor("reach");

interface Means {
  readonly token: string | undefined;
  readonly signal: Signal;
  readonly random: () => number;
  readonly hex: (digits: number) => string;
}

/** One cheap read each. The exchange is called without a credential: what it says to none is enough. */
export async function reachOthers({ upstream: { v1, sts } }: Config, means: Means): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  if (v1 !== undefined) {
    const target = `/iam/v1/groups?id=${means.hex(40)}`;
    findings.push(await one("upstream.v1.url", v1, target, means.token, means, (answer) => answer.status !== 404));
  }
  if (sts !== undefined) {
    findings.push(
      await one("upstream.sts.url", sts, "/sts/exchange", undefined, means, (answer) => answer.status !== 404),
    );
  }
  return findings;
}

async function one(
  path: string,
  settings: Settings,
  target: string,
  token: string | undefined,
  { signal, random }: Means,
  isThere: (answer: Answer) => boolean,
): Promise<Finding> {
  const connection = createConnection(settings, token, signal, random);
  try {
    const { finding, answer } = await reach(path, settings.url, () => connection.api.get(target));
    if (answer === undefined || isThere(answer)) return finding;
    const [plain] = target.split("?");
    return say.fail(
      `${path}: there is no ${plain} (${shownStatus(answer)})`,
      `correct ${path}: the path in it stands before ${plain}`,
    );
  } finally {
    await connection.close();
  }
}
