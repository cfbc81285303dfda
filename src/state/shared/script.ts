/**
 * The tick as a script that runs inside Valkey or Redis, so that it happens as a whole or not at all. Its hash is its identity: two versions of
 * carryover can use one store with different scripts. The script derives all keys from the first one, and all have one hash tag, so that they are in one
 * slot of a cluster.
 */
import { createHash } from "node:crypto";
import {
  type Decision,
  type NumberedDecision,
  type OwnerRow,
  StoreError,
  type TickReply,
  type TickRequest,
} from "./protocol.ts";

/** Version of the keys. A version that stores something else uses other keys. */
const SCHEMA = "1";
/** Rows of a replica that is gone are kept for this long. */
const KEPT_SECONDS = 200 * 86_400;
/** Rows of a replica that is gone are returned to readers for this long. */
const COUNTED_MS = 30 * 86_400_000;
/** A replica that is gone is listed for a day. */
const LISTED_MS = 86_400_000;
/** Begins the names of rows in the key of their owner. */
const ROW = "row:";
/** An alert lasts this long after a replica repeated it. */
const ALERT_MS = 60_000;
/** Versions whose token is kept, to notice that the store went backwards. */
const KEPT_VERSIONS = 1_000;

/**
 * Keys: `main` (schema, id, version, token, `force`, and a row `rule:KEY` for each rule), `log` (version → token), `rep` (replica → heard, last decision, about),
 * `alert` (key → when a replica named it last), `all` (owner of rows → when it was heard last, about), and `c:OWNER` with the rows of one owner and their revision. A server may evict any key: what shows that something is
 * missing is in the same key as that something.
 */
const BODY = `
local base = string.sub(KEYS[1], 1, -5)
local main, rep, log, owners = KEYS[1], base .. 'rep', base .. 'log', base .. 'all'
local next = 0
local function arg() next = next + 1 return ARGV[next] end
local function text(number) return string.format('%.0f', number) end
local function field(row, at)
  for word in string.gmatch(row or '', '%S+') do
    at = at - 1
    if at == 0 then return word end
  end
  return nil
end
local replica, fresh, known = arg(), arg(), arg()
local seen, seenToken, about = tonumber(arg()), arg(), arg()
local wantsReplicas = arg()
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local id = redis.call('HGET', main, 'id')
local version = tonumber(redis.call('HGET', main, 'version') or '')
local token = redis.call('HGET', main, 'token')
if not (id and version and token) then
  id, version, token = fresh, 0, fresh
  local rows = redis.call('HGETALL', main)
  for i = 1, #rows, 2 do
    if rows[i] == 'force' or string.match(rows[i], '^rule:') then
      version = math.max(version, tonumber(field(rows[i + 1], 2)) or 0)
    end
  end
  version = version + 1
  redis.call('HSET', main, 'schema', '${SCHEMA}', 'id', id, 'version', text(version), 'token', token)
end

local foreign = known ~= '' and known ~= id
local diverged = false
if known ~= '' and not foreign then
  local there = token
  if seen < version then there = redis.call('HGET', log, text(seen)) or seenToken end
  diverged = seen > version or there ~= seenToken
end

local had = {}
for _ = 1, tonumber(arg()) do
  local owner, revision = arg(), arg()
  local own = base .. 'c:' .. owner
  local before = redis.call('HGET', own, 'revision') or '0'
  had[#had + 1] = before
  local count = tonumber(arg())
  -- A tick that comes late must not replace what a later one brought.
  local isNew = not foreign and count > 0 and tonumber(revision) > (tonumber(before) or 0)
  for _ = 1, count do
    local name, value = arg(), arg()
    if isNew and value == '' then redis.call('HDEL', own, '${ROW}' .. name)
    elseif isNew then redis.call('HSET', own, '${ROW}' .. name, value) end
  end
  if isNew then
    redis.call('HSET', own, 'revision', revision)
    redis.call('EXPIRE', own, ${KEPT_SECONDS})
  end
  -- The list may have been evicted without the rows.
  local isUnlisted = not foreign and before ~= '0' and not redis.call('HGET', owners, owner)
  if isNew or isUnlisted then redis.call('HSET', owners, owner, text(now) .. ' ' .. about) end
end

local mine = redis.call('HGET', rep, replica)
local decided = tonumber(field(mine, 2) or '0')
local outcomes = {}
local function renew()
  version = version + 1
  redis.call('HSET', log, text(version - 1), token)
  redis.call('HDEL', log, text(version - 1 - ${KEPT_VERSIONS}))
  token = fresh .. '.' .. text(version)
  redis.call('HSET', main, 'version', text(version), 'token', token)
end
local function keep(key, generation, rest)
  renew()
  redis.call('HSET', main, 'rule:' .. key, text(generation) .. ' ' .. text(version) .. ' ' .. rest)
end
local function keepForce(number, rest)
  renew()
  redis.call('HSET', main, 'force', text(number) .. ' ' .. text(version) .. ' ' .. rest)
end
for _ = 1, tonumber(arg()) do
  local number, kind, key, given, detail = tonumber(arg()), arg(), arg(), tonumber(arg()), arg()
  local outcome = 'stale'
  local isForce = kind == 'force' or kind == 'restore-force'
  local row = redis.call('HGET', main, isForce and 'force' or 'rule:' .. key)
  local generation = tonumber(field(row, 1) or '0')
  local stamp = text(now) .. ' ' .. replica .. ' ' .. detail
  if foreign then outcome = 'stale'
  elseif number <= decided then outcome = 'dup'
  elseif kind == 'force' then
    keepForce(math.max(generation, given) + 1, stamp)
    outcome = 'applied'
  elseif kind == 'restore-force' then
    if generation < given then keepForce(given, detail) outcome = 'applied' end
  elseif kind == 'restore-rule' then
    local what = field(detail, 1)
    if generation < given then
      keep(key, given, detail)
      outcome = 'applied'
    elseif generation == given and what == 'back' and field(row, 3) ~= 'back' then
      keep(key, given + 1, detail)
      outcome = 'applied'
    end
  elseif kind == 'back' or given == generation then
    keep(key, math.max(generation, given) + 1, kind .. ' ' .. stamp)
    outcome = 'applied'
  end
  if not foreign and number > decided then decided = number end
  outcomes[#outcomes + 1] = outcome
end

if not mine then
  local function old(name, ms, forget)
    local all = redis.call('HGETALL', name)
    for i = 1, #all, 2 do
      if (tonumber(field(all[i + 1], 1)) or 0) < now - ms then forget(all[i]) end
    end
  end
  old(rep, ${LISTED_MS}, function(one) redis.call('HDEL', rep, one) end)
  old(owners, ${KEPT_SECONDS * 1_000}, function(one) redis.call('HDEL', owners, one) end)
end
redis.call('HSET', rep, replica, text(now) .. ' ' .. text(decided) .. ' ' .. about)

local all = known == '' or foreign or diverged
local rows, forced = {}, ''
if all or seen ~= version then
  local found = redis.call('HGETALL', main)
  for i = 1, #found, 2 do
    local key = string.match(found[i], '^rule:(.*)$')
    if key and (all or (tonumber(field(found[i + 1], 2)) or 0) > seen) then
      rows[#rows + 1] = key
      rows[#rows + 1] = found[i + 1]
    end
  end
  forced = redis.call('HGET', main, 'force') or ''
end
local replicas = {}
if wantsReplicas == '1' then
  local found = redis.call('HGETALL', rep)
  for i = 1, #found, 2 do
    if (tonumber(field(found[i + 1], 1)) or 0) > now - ${LISTED_MS} then
      replicas[#replicas + 1] = found[i]
      replicas[#replicas + 1] = found[i + 1]
    end
  end
end
local answers, ids = {}, nil
for _ = 1, tonumber(arg()) do
  local name, answer = arg(), {}
  if not ids then ids = redis.call('HGETALL', owners) end
  for i = 1, #ids, 2 do
    if (tonumber(field(ids[i + 1], 1)) or 0) > now - ${COUNTED_MS} then
      local value = redis.call('HGET', base .. 'c:' .. ids[i], '${ROW}' .. name)
      if value then
        answer[#answer + 1] = ids[i]
        answer[#answer + 1] = value
      end
    end
  end
  answers[#answers + 1] = answer
end
local alerting, alerts = base .. 'alert', {}
for _ = 1, tonumber(arg()) do
  local key = arg()
  if not foreign then
    redis.call('HSET', alerting, key, text(now))
    redis.call('EXPIRE', alerting, ${ALERT_MS / 1_000})
  end
end
local named = redis.call('HGETALL', alerting)
for i = 1, #named, 2 do
  if now - (tonumber(named[i + 1]) or 0) > ${ALERT_MS} then redis.call('HDEL', alerting, named[i])
  else alerts[#alerts + 1] = named[i] end
end
return { foreign and 'foreign' or 'ok', had, id, text(version), token, text(now), diverged and '1' or '0', rows, forced, outcomes, replicas, answers, alerts }
`;

/** A script, and its digest, under which servers keep it. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

export function scriptOf(text: string): Script {
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

const WITH_ROWS = scriptOf(`#!lua${BODY}`);
/** A decision adds some hundred bytes and protects clients, so it passes at `maxmemory`, too. Rows wait until there is room. */
const WITHOUT_ROWS = scriptOf(`#!lua flags=allow-oom${BODY}`);

/** First part of all keys of a deployment: one slot of a cluster. */
function baseOf(prefix: string): string {
  return `{${prefix}}:${SCHEMA}:`;
}

/** The key of those that have rows, and of the rows of one of them. */
export function ownersKey(prefix: string): string {
  return `${baseOf(prefix)}all`;
}
export function rowsKey(prefix: string, owner: string): string {
  return `${baseOf(prefix)}c:${owner}`;
}

/** The script for the request, and what it is called with: the key, then the arguments. `fresh`: random. */
export function scriptCall(request: TickRequest, prefix: string, fresh: string) {
  const { replica, seen, about, contributions, decisions, wantsReplicas, asks, alerts } = request;
  const words: string[] = [replica, fresh, seen?.id ?? "", String(seen?.version ?? 0), seen?.token ?? "", about];
  words.push(wantsReplicas ? "1" : "0", String(contributions.length));
  for (const { owner, revision, rows } of contributions) {
    words.push(owner, String(revision), String(rows.length), ...rows.flatMap(({ name, text = "" }) => [name, text]));
  }
  words.push(String(decisions.length), ...decisions.flatMap(decisionWords));
  words.push(String(asks.length), ...asks, String(alerts.length), ...alerts);
  const isWithout = contributions.every(({ rows }) => rows.length === 0);
  return { script: isWithout ? WITHOUT_ROWS : WITH_ROWS, key: `${baseOf(prefix)}main`, words };
}

function decisionWords(decision: NumberedDecision): readonly string[] {
  return [String(decision.number), ...contentOf(decision)];
}

function contentOf(decision: Decision): readonly string[] {
  switch (decision.kind) {
    case "rule":
      return [decision.what, decision.key, String(decision.generation), decision.detail];
    case "force":
      return ["force", "", String(decision.after ?? 0), decision.detail];
    case "restore-rule": {
      const { key, generation, what, at, replica, detail } = decision.row;
      return ["restore-rule", key, String(generation), `${what} ${at} ${replica} ${detail}`];
    }
    case "restore-force": {
      const { number, at, replica, detail } = decision.row;
      return ["restore-force", "", String(number), `${at} ${replica} ${detail}`];
    }
    default:
      return decision satisfies never;
  }
}

const OUTCOMES = ["applied", "stale", "dup"] as const;
const KINDS = ["back", "promote", "forward"] as const;
/** Longest row that is read: a store that another program writes to cannot fill the memory of this process. */
const LONGEST_ROW = 8_192;

/** Reads what the script returned. Throws `StoreError` for anything else: rows that cannot be read are left out. */
export function readReply(reply: unknown, asksReplicas: boolean): TickReply {
  if (!Array.isArray(reply)) throw unreadable();
  const [status, had, id, version, token, at, diverged, rows, force, outcomes, replicas] = reply.map(textsOf);
  const found = { version: wholeOf(version), at: wholeOf(at) };
  if (found.version === undefined || found.at === undefined) throw unreadable();
  if (typeof id !== "string" || typeof token !== "string") throw unreadable();
  const [answers, alerts]: readonly unknown[] = reply.slice(11);
  return {
    isForeign: status === "foreign",
    revisions: listOf(had).map((word) => wholeOf(word) ?? 0),
    store: { id, version: found.version, token },
    at: found.at,
    isDiverged: diverged === "1",
    rules: pairsOf(rows).flatMap(([key, row]) => ruleRow(key, row) ?? []),
    force: typeof force === "string" ? forceRow(force) : undefined,
    outcomes: listOf(outcomes).map((word) => OUTCOMES.find((one) => one === word) ?? "stale"),
    replicas: asksReplicas ? pairsOf(replicas).flatMap(([key, row]) => replicaRow(key, row) ?? []) : undefined,
    answers: Array.isArray(answers)
      ? answers.map((answer) => pairsOf(textsOf(answer)).map(([owner, text]) => ({ owner, text })))
      : [],
    alerts: listOf(textsOf(alerts ?? [])),
  };
}

/** Reads the hash at `ownersKey`. */
export function readOwners(reply: unknown): readonly OwnerRow[] {
  return hashOf(reply).flatMap(([owner, row]) => {
    const [, heardAt, about] = /^(\d{1,15}) (.*)$/s.exec(row.slice(0, LONGEST_ROW)) ?? [];
    return about === undefined ? [] : [{ owner, heardAt: Number(heardAt), about }];
  });
}

/** Reads the hash at `rowsKey`. */
export function readRows(reply: unknown): ReadonlyMap<string, string> {
  const pairs = hashOf(reply).filter(([name]) => name.startsWith(ROW));
  return new Map(pairs.map(([name, text]) => [name.slice(ROW.length), text]));
}

function unreadable(): StoreError {
  return new StoreError("unusable", "the store returned something else than the script does");
}

/** Texts, and lists of texts. */
function textsOf(value: unknown): string | readonly string[] {
  return Array.isArray(value) ? value.map(String) : String(value);
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined || typeof value === "string" ? [] : value;
}

function pairsOf(value: string | readonly string[] | undefined): readonly (readonly [string, string])[] {
  const list = listOf(value);
  return list.flatMap((key, i) => (i % 2 === 0 ? [[key, list[i + 1] ?? ""] as const] : []));
}

/** The library reads a hash as an object, a script returns it as a list. */
function hashOf(value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return pairsOf(textsOf(value));
  return Object.entries(value).map(([name, text]) => [name, String(text)]);
}

function wholeOf(value: unknown): number | undefined {
  return typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : undefined;
}

function ruleRow(key: string, row: string) {
  const [, generation, version, word, at, replica, detail] =
    /^(\d{1,15}) (\d{1,15}) ([a-z]+) (\d{1,15}) (\S{1,64}) (.*)$/s.exec(row.slice(0, LONGEST_ROW)) ?? [];
  const what = KINDS.find((one) => one === word);
  if (what === undefined || replica === undefined || detail === undefined) return undefined;
  return { key, generation: Number(generation), version: Number(version), what, at: Number(at), replica, detail };
}

function forceRow(row: string) {
  const [, number, version, at, replica, detail] =
    /^(\d{1,15}) (\d{1,15}) (\d{1,15}) (\S{1,64}) (.*)$/s.exec(row.slice(0, LONGEST_ROW)) ?? [];
  if (replica === undefined || detail === undefined) return undefined;
  return { number: Number(number), version: Number(version), at: Number(at), replica, detail };
}

function replicaRow(id: string, row: string) {
  const [, heardAt, about] = /^(\d{1,15}) \d{1,15} (.*)$/s.exec(row.slice(0, LONGEST_ROW)) ?? [];
  return about === undefined ? undefined : { id, heardAt: Number(heardAt), about };
}
