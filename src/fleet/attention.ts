/** What needs attention, most harm first: what `carryover status` and the page say. */
import { ownerText } from "../ledger/clients-view.ts";
import { DAY_MS } from "../ledger/days.ts";
import { grouped } from "../model/group.ts";
import { counted } from "../rules/words.ts";
import { clockText, differentRules, type Fleet, type FleetRule, troublesOf } from "./fleet.ts";
import { HARMS, type Harm, type Trouble } from "./harm.ts";
import { DEFAULT_TERMS, judgeRule, placeText, stateText, troubleTexts } from "./judge.ts";
import { lostOf } from "./lost.ts";
import { latestOf, type RespondingInstance } from "./merge.ts";
import { sharedTroubles } from "./replicas.ts";

/** Lost counts are mentioned for as long as `carryover report --window 14d` could rest on them. */
const LOSS_SHOWN_MS = 14 * DAY_MS;

/** `tooOld`: addresses of instances that count nothing over time. */
export function attentionOf(fleet: Fleet, tooOld: readonly string[]): readonly string[] {
  const found = textsByHarm(fleet, tooOld);
  return HARMS.flatMap((harm) => found[harm]);
}

function textsByHarm(
  { instances, gone, silent, rules }: Fleet,
  tooOld: readonly string[],
): Readonly<Record<Harm, readonly string[]>> {
  const common = commonTroubles(instances);
  const ofAll = (harm: Harm) => common.flatMap((one) => (one.harm === harm ? [one.text] : []));
  const inState = (state: FleetRule["state"]) => rules.filter((rule) => rule.state === state);
  return {
    "clients-fail": [
      ...rules.flatMap((rule) => {
        const [first, ...more] = troubleTexts(rule);
        if (first === undefined) return [];
        return [
          `${rule.name} fails clients${endText(instances)}: ${first}`,
          ...more.map((text) => `${rule.name}: ${text}`),
        ];
      }),
      ...silent.map(({ address, fault }) => `${address} ${fault}`),
      ...ofAll("clients-fail"),
    ],
    "stepped-back": [
      ...[...inState("unknown"), ...inState("stepped-back")].map((rule) => {
        const why = rule.cause === undefined ? "" : `: ${rule.cause}`;
        return `${rule.name} ${stateText(rule)}${placeText(rule, instances.length)}${why}`;
      }),
      ...rules.flatMap(({ name, brownout }) =>
        brownout?.phase === "held" || brownout?.phase === "stopped"
          ? [`brownout ${name} refuses nothing: ${brownout.why ?? "it is held"}`]
          : [],
      ),
      ...rules.flatMap(({ name, guard }) => (guard?.slow === undefined ? [] : [`${name}: ${guard.slow.says}`])),
    ],
    forced: ofAll("forced"),
    "clients-failed": failingClients([...instances, ...gone]),
    "next-failure": [...ofAll("next-failure"), ...instances.flatMap(nextFailures)],
    apart: [...sharedTroubles(instances), ...differentRules(instances), ...differentModes(instances)],
    evidence: [
      ...rules.flatMap(differingText),
      ...lostTexts([...instances, ...gone]),
      ...tooOld.map(
        (address) => `${address} is an older version, without counts over time: requests of a window are unknown`,
      ),
      ...instances.flatMap(({ address, progress: { at, countsLostAt } }) =>
        countsLostAt === undefined || at - countsLostAt > LOSS_SHOWN_MS
          ? []
          : [
              `${address} lost what it had counted on ${new Date(countsLostAt).toISOString().slice(0, 10)}: the file cannot be read`,
            ],
      ),
    ],
    leftover: inState("expired").map((rule) => `${rule.name} has expired and matches nothing: remove it`),
  };
}

/** Faults that no client notices yet, but will at the next restart, certificate renewal or emergency. */
function nextFailures({ address, progress }: RespondingInstance): readonly string[] {
  const { ready, saved, changeable, force, forcedBy, refusedCertificates = [] } = progress;
  return [
    ...refusedCertificates.map(
      (name) =>
        `${address} cannot use the new certificate files for upstream ${name}: those before them stay in force, until they expire`,
    ),
    ...(ready === false ? [`${address} is not ready: it starts or stops`] : []),
    ...(saved === false ? [`${address} cannot write its state.dir: a restart would lose what is new`] : []),
    ...(changeable === false
      ? [`${address} takes no carryover force or confirm: their token is not in its state.dir`]
      : []),
    ...(forcedBy?.command !== "native" || force === "native"
      ? []
      : [`${address} has no native v1: carryover force native is kept for it, and has no effect until then`]),
  ];
}

const SHOWN_LOST = 3;

function lostTexts(all: readonly RespondingInstance[]): readonly string[] {
  const at = latestOf(all);
  const lost = lostOf(all.map(({ progress }) => progress)).filter(({ until }) => at - until <= LOSS_SHOWN_MS);
  const more = lost.length - SHOWN_LOST;
  return [
    ...lost
      .slice(0, SHOWN_LOST)
      .map(({ name, seen }) => `lost with the store: what ${name} counted, last seen ${clockText(seen, at)}`),
    ...(more > 0 ? [`lost with the store: what ${counted(more, "other replica")} counted`] : []),
  ];
}

/** The same on several instances is one line: `a (and 2 more) is forced to native …`. */
function commonTroubles(instances: readonly RespondingInstance[]): readonly Trouble[] {
  const all = instances.flatMap((one) =>
    troublesOf(one).map(({ harm, text }) => ({ harm, address: one.address, what: text.slice(one.address.length) })),
  );
  return grouped(all, ({ what }) => [what]).map(([{ harm, address, what }, ...more]) => {
    return { harm, text: `${address}${more.length === 0 ? "" : ` (and ${more.length} more)`}${what}` };
  });
}

/** More comparisons would not help. */
function differingText(rule: FleetRule): readonly string[] {
  const { lacks } = judgeRule(rule, DEFAULT_TERMS);
  const found = lacks.find(({ why, isNearer }) => why === "differences" && isNearer === false);
  const { differences = 0, comparisons = 0 } = rule.evidence ?? {};
  if (found === undefined || differences === 0) return [];
  const [worst] = rule.causes ?? [];
  const where = worst === undefined ? "" : `, most often ${worst.what} at ${worst.path} of ${worst.operation}`;
  return [`${rule.name}: ${differences} of ${counted(comparisons, "comparison")} differed${where} (/samples)`];
}

function hasNative(instances: readonly RespondingInstance[]): boolean {
  return instances.some(({ progress }) => progress.native !== false);
}

/** First, since a screen cuts long lines. */
function endText(instances: readonly RespondingInstance[]): string {
  return hasNative(instances) ? " (carryover force native ends it)" : " (there is no native v1 to go back to)";
}

function differentModes(instances: readonly RespondingInstance[]): readonly string[] {
  const modes = grouped(instances, ({ progress }) => [progress.mode]);
  if (modes.length < 2) return [];
  return [
    `instances differ in cutover.mode: ${modes.map(([{ address, progress }]) => `${address} has ${progress.mode}`).join(", ")}`,
  ];
}

/** Errors are not counted by time, so those of operations that are no longer called are left out. */
const STILL_CALLED_MS = DAY_MS;

/** Most failures first. */
function failingClients(instances: readonly RespondingInstance[]): readonly string[] {
  const found = instances.flatMap(({ progress: { at, ledger } }) =>
    ledger.clients.flatMap((client) =>
      client.operations.map(({ resource, operation, errors, lastSeen }) => ({
        name: client.name,
        owner: ownerText(client),
        what: `${resource} ${operation}`,
        count: at - lastSeen < STILL_CALLED_MS ? (errors?.translation ?? 0) : 0,
      })),
    ),
  );
  const clients = grouped(
    found.filter(({ count }) => count > 0),
    ({ name }) => [name],
  ).map((group) => ({
    name: group[0].name,
    owner: group.find(({ owner }) => owner !== "")?.owner,
    count: group.reduce((all, one) => all + one.count, 0),
    operations: [...new Set(group.map(({ what }) => what))].join(", "),
  }));
  return clients
    .sort((a, b) => b.count - a.count)
    .map(({ name, owner, count, operations }) => {
      const who = owner === undefined ? name : `${name}, ${owner}`;
      return `client ${who}: ${counted(count, "request")} failed because of translation (${operations})`;
    });
}
