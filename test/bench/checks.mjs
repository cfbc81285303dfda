/** Checks that the servers in a race do the same work, and that metrics and logs were on. */
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";

const RENAMES = { uid: "id", createTime: "createdAt", updateTime: "updatedAt" };

/** Throws when a server's answer is not what its race is about. */
export async function checkAnswers(races, answers, token) {
  for (const { key, what, against, own, peer } of races) {
    const [mine, theirs] = await Promise.all([own, peer].map((side) => ask(side, token)));
    // A peer that translates must agree with carryover; one that passes on must give the platform's bytes.
    const translates = answers[peer.target] === undefined;
    const wanted = JSON.parse(translates ? theirs : answers[peer.target].body);
    const expected = key === "get" ? renamed(wanted) : wanted;
    if (!isDeepStrictEqual(JSON.parse(mine), expected))
      throw new Error(`${what} against ${against}: carryover answers something else`);
    if (!translates && theirs !== answers[peer.target].body) throw new Error(`${what}: the peer changes bytes`);
  }
}

async function ask({ server, target }, token) {
  const response = await fetch(server.url + target, { headers: { authorization: `Bearer ${token}` } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${target} was answered ${response.status}: ${body}`);
  return body;
}

function renamed(record) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [RENAMES[name] ?? name, value]));
}

/** What is missing in carryover's metrics and log of the requests made: none may be had for nothing. */
export async function checkWatched(carryover, results) {
  const made = results.reduce((sum, { requests }) => sum + requests, 0);
  const text = await (await fetch(`${carryover.adminUrl}/metrics`)).text();
  const counts = [...text.matchAll(/^carryover_requests_total\{[^}]*\} (\d+)/gm)].map(([, count]) => Number(count));
  const counted = counts.reduce((sum, count) => sum + count, 0);
  const faults = [];
  if (counted < made) faults.push(`${made} requests were made, the metrics count ${counted}`);
  const { size } = await stat(carryover.log);
  // A line is about 300 bytes; less than 100 for each request means that lines are missing.
  if (size < made * 100) faults.push(`${made} requests were made, the log has ${size} bytes`);
  return faults;
}
