/** How does v2 show account associations? (Field map 2.7 and 3.6.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { accountAssociations } from "../resources/account-associations.ts";
import { readable } from "../resources/writes.ts";
import { nameTest } from "../store/select.ts";
import { encodeMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schemas.ts";
import { decodeBody, type V2Face } from "./face.ts";

/** The members of an association by the number of their provider type. */
const PROVIDERS: ReadonlyMap<number, string> = new Map([
  [1, "google"],
  [2, "amazon"],
  [3, "azure"],
]);
const READY = 1;
const NOT_READY = 2;

function checkResult(value: unknown, provider: number) {
  const key = PROVIDERS.get(provider);
  if (key === undefined) throw invalid("providerType", "a provider is required");
  if (member(value, key) !== undefined) return { state: READY, reason: "", message: "" };
  return { state: NOT_READY, reason: "NotConfigured", message: `no ${key} account is associated` };
}

export const accountAssociationsV2: V2Face = {
  resource: accountAssociations,
  domain: "iam",
  collection: "accountAssociations",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListAccountAssociationsRequest",
  order: "group",
  tests: nameTest,
  demand: (next) => {
    if ((member(next, "name") ?? "") === "") throw invalid("name", "a name is required");
  },
};

/** `POST accountAssociations/{uid}:checkAccountAssociation`. */
export function checkAssociationV2(context: Context): Route {
  return {
    method: "POST",
    domain: "iam",
    version: context.settings.version,
    collection: "accountAssociations",
    shape: "verb",
    word: "checkAccountAssociation",
    prepare(call) {
      const { given } = decodeBody(V2.message("CheckAccountAssociationRequest"), call.body);
      return (caller) => {
        const record = readable(context, accountAssociations, caller, call.tail);
        const { state, ...rest } = checkResult(record.value, Number(member(given, "providerType") ?? 0));
        const message = V2.message("CheckAccountAssociationResponse");
        return encodeMessage(V2, message, { status: state, ...rest }, { omitZeros: context.settings.omitZeros });
      };
    },
  };
}
