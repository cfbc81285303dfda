/** Under which version does the platform serve v2? */
import type { Answer, Api } from "../api.ts";
import { shownStatus } from "../api.ts";
import { type Finding, sayFor } from "../finding.ts";

const say = sayFor("version");

/** `version`: the one that answers; undefined when none does. */
export interface Versioned {
  readonly finding: Finding;
  readonly version: string | undefined;
}

/**
 * `first`: what the platform said to `target(configured)`. `known`: versions that have a catalogue. The platform routes
 * before it looks at the credential, so that a refusal of the credential still tells that the path exists.
 */
export async function findVersion(
  api: Api,
  configured: string,
  known: readonly string[],
  target: (version: string) => string,
  first: Answer,
): Promise<Versioned> {
  const translated = known.includes(configured);
  if (exists(first) && translated) return judged(api, configured, target, first);
  for (const version of known) {
    if (version === configured || !exists(await api.get(target(version)))) continue;
    const why = translated ? `is answered ${shownStatus(first)}` : "has no catalogue";
    const set = { path: "upstream.v2.version", value: version };
    const finding = say.fail(
      `${configured} ${why}, and ${version} answers`,
      "until then every translated call fails",
      set,
    );
    return { finding, version };
  }
  const finding = say.fail(
    `neither ${[...new Set([configured, ...known])].join(" nor ")} answers (${shownStatus(first)})`,
    "correct upstream.v2.url: the path in it stands before /iam/, /registry/ and /vulnerabilities/",
  );
  return { finding, version: undefined };
}

async function judged(
  api: Api,
  version: string,
  target: (version: string) => string,
  first: Answer,
): Promise<Versioned> {
  if (first.status === 401 && exists(await api.get(target("v2none")))) {
    return {
      finding: say.skipped(
        `a version that there is not is answered 401 too`,
        "check with a token that the platform accepts",
      ),
      version,
    };
  }
  return { finding: say.ok(`${version} answers`), version };
}

function exists({ status, json }: Answer): boolean {
  return json !== undefined && (status === 200 || status === 401 || status === 403);
}
