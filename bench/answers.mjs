/** Responses of the bench's upstream: their bytes and fields, recorded once from the sandbox. */
import { loadSandbox } from "../scripts/build/modules.mjs";

const GROUPS = "/iam/v2beta1/groups";
const LIST = `${GROUPS}?page_size=200`;
const RECORDS = 200;

/**
 * Gives `answers` (by request target), the same from a platform that leaves zeros out (`bare`), those of `native` v1, the `calls` to
 * make the client's `token`, and the API's
 * `descriptors`. Throws when the list is not one page of 200.
 */
export async function recordAnswers() {
  const { sandbox, list, uid } = await seeded(false);
  const { list: withoutZeros } = await seeded(true);
  const v2Get = `${GROUPS}/${uid}`;
  const v1List = "/iam/v1/groups";
  // v1's own way to get one group: its gateway has no Get.
  const v1ById = `${v1List}?id=${encodeURIComponent(uid)}`;
  return {
    answers: { [LIST]: list, [v2Get]: await ask(sandbox, "GET", v2Get) },
    bare: { [LIST]: withoutZeros },
    native: { [v1List]: await ask(sandbox, "GET", v1List), [v1ById]: await ask(sandbox, "GET", v1ById) },
    calls: { v2Get, v1Get: `${v1List}/${uid}`, v2List: LIST, v1List, v1ById },
    token: sandbox.token("admin"),
    descriptors: sandbox.descriptors(),
  };
}

async function seeded(omitZeros) {
  const { createSandbox } = await loadSandbox();
  const clock = () => new Date("2026-01-01T00:00:00Z");
  const sandbox = createSandbox({ seed: "bench", organisation: false, omitZeros, clock });
  const root = sandbox.wellKnown.rootGroup;
  for (let i = JSON.parse((await ask(sandbox, "GET", LIST)).body).groups.length; i < RECORDS; i++) {
    const description = i % 3 === 0 ? "" : `The team that looks after part ${i} of the estate`;
    await ask(sandbox, "POST", `${GROUPS}/${root}`, { name: `team-${i}`, description });
  }
  const list = await ask(sandbox, "GET", LIST);
  const { groups, nextPageToken } = JSON.parse(list.body);
  if (groups.length !== RECORDS || nextPageToken) throw new Error("the sandbox's list is not one page of 200");
  return { sandbox, list, uid: groups.at(-2).uid };
}

async function ask(sandbox, method, target, body) {
  const headers = [
    ["authorization", `Bearer ${sandbox.token("admin")}`],
    ["accept", "application/json"],
  ];
  const sent = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
  const answer = await sandbox.send({ method, target, headers, ...sent }, { signal: AbortSignal.timeout(5_000) });
  const text = Buffer.from(answer.body).toString();
  if (answer.status !== 200) throw new Error(`the sandbox answered ${answer.status} to ${method} ${target}: ${text}`);
  return { headers: answer.headers, body: text };
}
