/** How do other writers show themselves between the pages of a list? (Design section 9: concurrent writers.) */

import { type Context, now } from "../context.ts";
import type { ApiRequest, ApiResponse } from "../http.ts";
import { makeRecord } from "../store/collection.ts";

/** Most groups of the writers' own that exist at a time. */
const ALIVE = 5;

/** Told of every answer, it writes after each n-th page of a v2 list; groups it did not make are left alone. */
export function createChurn(context: Context, root: string): (request: ApiRequest, response: ApiResponse) => void {
  const { churnEveryPages, version } = context.settings;
  const alive: string[] = [];
  let pages = 0;
  let made = 0;
  return (request, response) => {
    const [path = ""] = request.target.split("?");
    const [, , face, , ...rest] = path.split("/");
    const isPage = request.method === "GET" && response.status === 200 && face === version && rest.length === 0;
    if (churnEveryPages === 0 || !isPage) return;
    pages++;
    if (pages % churnEveryPages !== 0) return;
    const groups = context.store.collection("groups");
    const uid = context.store.nextUid(root);
    const time = now(context);
    made++;
    groups.put(makeRecord({ uid, name: `churn-${made}`, createTime: time, updateTime: time }));
    alive.push(uid);
    if (alive.length > ALIVE) groups.remove(alive.shift() ?? "");
  };
}
