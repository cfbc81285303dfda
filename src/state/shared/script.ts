/**
 * The tick as a script that runs inside Valkey or Redis, so that it happens as a whole or not at all. Its hash is its identity: two versions of
 * carryover can use one store with different scripts. The script derives all keys from the first one, and all have one hash tag, so that they are in one
 * slot of a cluster.
 */
import { createHash } from "node:crypto";
import {
  type Decision,
  type NumberedDecision,
  StoreError,
  type SumQuestion,
  type TickReply,
  type TickRequest,
} from "./protocol.ts";

/** Version of the keys. A version that stores something else uses other keys. */
const SCHEMA = "1";
/** Separates the two names of a count. */
const SEPARATOR = "\u001f";
/** Counts of a replica that is gone are kept for this long. */
const COUNTS_SECONDS = 30 * 86_400;
/** A replica that is gone is listed for a day. Then its counts join those of all that are gone, so that sums stay cheap. */
const LISTED_MS = 86_400_000;
/** Versions whose token is kept, to notice that the store went backwards. */
const KEPT_VERSIONS = 1_000;

/**
 * Keys: `main` (schema, id, version, token, `force`, and a row `rule:KEY` for each rule), `log` (version → token), `rep` (replica → heard, last decision, about),
 * `all` (replica → when it counted last), and `c:REPLICA` with the counts of one replica and the number of its last batch. A server may evict any key: what
 * shows that something is missing is in the same key as that something. `c:gone` has the counts of replicas that are gone: they are moved there as a whole, and
 * the number of the last batch stays, so that a replica which comes back goes on from zero.
 */
const BODY = `
local base = string.sub(KEYS[1], 1, -5)
local main, rep, log, counting = KEYS[1], base .. 'rep', base .. 'log', base .. 'all'
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
local wantsReplicas, isLast, mode, sequence = arg(), arg(), arg(), tonumber(arg())
local own = base .. 'c:' .. replica
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function better(operation, old, value)
  return not old or operation == 'put' or (operation == 'min' and value < old) or (operation == 'max' and value > old)
end
local function take(target, operation, name, value)
  if operation == 'add' then redis.call('HINCRBY', target, name, value)
  elseif better(operation, tonumber(redis.call('HGET', target, name) or ''), tonumber(value)) then
    redis.call('HSET', target, name, value)
  end
end
local function fold(gone)
  local from, to = base .. 'c:' .. gone, base .. 'c:gone'
  local values = redis.call('HGETALL', from)
  for i = 1, #values, 2 do
    local operation = string.match(values[i], '^(%a+):')
    if operation and operation ~= 'put' then take(to, operation, values[i], values[i + 1]) end
    if operation then redis.call('HDEL', from, values[i]) end
  end
  redis.call('HDEL', counting, gone)
  redis.call('EXPIRE', to, ${COUNTS_SECONDS})
end

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

local last = tonumber(redis.call('HGET', own, 'seq') or '0')
local status = 'ok'
if foreign then status = 'foreign'
elseif mode == 'none' then
  if last < sequence then status = 'gap' end
elseif sequence <= last then status = 'dup'
elseif mode == 'add' and sequence ~= last + 1 then status = 'gap'
elseif mode == 'reset' then redis.call('DEL', own) end
for _ = 1, tonumber(arg()) do
  local operation, name, value = arg(), arg(), arg()
  if status == 'ok' then take(own, operation, name, value) end
end
if mode ~= 'none' and status == 'ok' then
  last = sequence
  redis.call('HSET', own, 'seq', text(last))
  redis.call('EXPIRE', own, ${COUNTS_SECONDS})
  redis.call('HSET', counting, replica, text(now))
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
    keepForce(generation + 1, stamp)
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
    keep(key, generation + 1, kind .. ' ' .. stamp)
    outcome = 'applied'
  end
  if not foreign and number > decided then decided = number end
  outcomes[#outcomes + 1] = outcome
end

if not mine then
  local function old(name, forget)
    local all = redis.call('HGETALL', name)
    for i = 1, #all, 2 do
      if (tonumber(field(all[i + 1], 1)) or 0) < now - ${LISTED_MS} then forget(all[i]) end
    end
  end
  old(rep, function(one) redis.call('HDEL', rep, one) end)
  old(counting, fold)
end
redis.call('HSET', rep, replica, text(now) .. ' ' .. text(decided) .. ' ' .. about)

if isLast == '1' and status == 'ok' then fold(replica) end

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
local sums, ids = {}, nil
for _ = 1, tonumber(arg()) do
  local operation, name = arg(), arg()
  if not ids then
    ids = redis.call('HGETALL', counting)
    ids[#ids + 1] = 'gone'
  end
  local sum
  for i = 1, #ids, 2 do
    local value = tonumber(redis.call('HGET', base .. 'c:' .. ids[i], name) or '')
    if value then
      if not sum then sum = value
      elseif operation == 'min' then sum = math.min(sum, value)
      elseif operation == 'max' then sum = math.max(sum, value)
      else sum = sum + value end
    end
  end
  sums[#sums + 1] = sum and text(sum) or ''
end
return { status, text(last), id, text(version), token, text(now), diverged and '1' or '0', rows, forced, outcomes, replicas, sums }
`;

/** A script, and its digest, under which servers keep it. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

function scriptOf(head: string): Script {
  const text = `${head}${BODY}`;
  return { text, sha1: createHash("sha1").update(text).digest("hex") };
}

const WITH_COUNTS = scriptOf("#!lua");
/** A decision adds some hundred bytes and protects clients, so it passes at `maxmemory`, too. Counts wait until there is room. */
const WITHOUT_COUNTS = scriptOf("#!lua flags=allow-oom");

/** The script for the request, and what it is called with: the key, then the arguments. `fresh`: random. */
export function scriptCall(request: TickRequest, prefix: string, fresh: string) {
  const { replica, seen, about, acknowledged, batch, decisions, wantsReplicas, isLast, sums } = request;
  const increments = batch?.increments ?? [];
  const words: string[] = [replica, fresh, seen?.id ?? "", String(seen?.version ?? 0), seen?.token ?? "", about];
  words.push(wantsReplicas ? "1" : "0", isLast ? "1" : "0");
  words.push(batch === undefined ? "none" : batch.isReset ? "reset" : "add", String(batch?.sequence ?? acknowledged));
  words.push(String(increments.length));
  for (const { key, field, operation, value } of increments) {
    words.push(operation, nameOf({ key, field, operation }), String(value));
  }
  words.push(String(decisions.length), ...decisions.flatMap(decisionWords));
  words.push(String(sums.length));
  for (const { key, field, operation } of sums) {
    words.push(operation, nameOf({ key, field, operation }));
  }
  return { script: batch === undefined ? WITHOUT_COUNTS : WITH_COUNTS, key: `{${prefix}}:${SCHEMA}:main`, words };
}

/** With the operation, so that counts can be put together without knowing more of them. */
function nameOf({ key, field, operation }: SumQuestion): string {
  return `${operation}:${key}${SEPARATOR}${field}`;
}

function decisionWords(decision: NumberedDecision): readonly string[] {
  return [String(decision.number), ...contentOf(decision)];
}

function contentOf(decision: Decision): readonly string[] {
  switch (decision.kind) {
    case "rule":
      return [decision.what, decision.key, String(decision.generation), decision.detail];
    case "force":
      return ["force", "", "0", decision.detail];
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
const STATUSES = ["ok", "dup", "gap", "foreign"] as const;
const KINDS = ["back", "promote", "forward"] as const;
/** Longest row that is read: a store that another program writes to cannot fill the memory of this process. */
const LONGEST_ROW = 8_192;

/** Reads what the script returned. Throws `StoreError` for anything else: rows that cannot be read are left out. */
export function readReply(reply: unknown, asksReplicas: boolean): TickReply {
  if (!Array.isArray(reply)) throw unreadable();
  const [status, last, id, version, token, at, diverged, rows, force, outcomes, replicas, sums] = reply.map(textsOf);
  const found = {
    status: STATUSES.find((one) => one === status),
    last: wholeOf(last),
    version: wholeOf(version),
    at: wholeOf(at),
  };
  if (found.status === undefined || found.last === undefined || found.version === undefined || found.at === undefined)
    throw unreadable();
  if (typeof id !== "string" || typeof token !== "string") throw unreadable();
  return {
    status: found.status,
    last: found.last,
    store: { id, version: found.version, token },
    at: found.at,
    isDiverged: diverged === "1",
    rules: pairsOf(rows).flatMap(([key, row]) => ruleRow(key, row) ?? []),
    force: typeof force === "string" ? forceRow(force) : undefined,
    outcomes: listOf(outcomes).map((word) => OUTCOMES.find((one) => one === word) ?? "stale"),
    replicas: asksReplicas ? pairsOf(replicas).flatMap(([key, row]) => replicaRow(key, row) ?? []) : undefined,
    sums: listOf(sums).map((word) => (word === "" ? undefined : Number(word))),
  };
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
