/** How does v2 take what a caller says about themselves? The mask lies in the body. (Field map 2.3 and 4.A, trap T59.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { gatewayRefusal, invalid, RpcCode } from "../refusal.ts";
import { profileOf, putProfile } from "../resources/identity-metadata.ts";
import { encodeMessage, isZero } from "../wire/encode.ts";
import { applyMask, type MaskPath, type MaskSpelling, parseMask } from "../wire/mask.ts";
import { V2 } from "../wire/schemas.ts";
import { decodeBody } from "./face.ts";

/** A field mask as protobuf JSON writes it: neither `_` nor `*` can be said. */
const JSON_MASK = /^(?:[a-zA-Z][a-zA-Z0-9]*(?:\.[a-zA-Z][a-zA-Z0-9]*)*(?:,(?!$)|$))*$/;

/** The paths of the mask; without one those of every value that is not zero: keys of the body say nothing here. */
function pathsOf(given: JsonObject, mask: string, spelling: MaskSpelling): readonly MaskPath[] {
  const message = V2.message("IdentityMetadata");
  if (mask === "") {
    const said = message.fields.filter((field) => !field.readonly && !isZero(field, member(given, field.json) ?? ""));
    return said.map((field) => [field]);
  }
  const paths = parseMask(V2, message, mask, spelling);
  const fixed = paths.find((path) => path.some((field) => field.readonly));
  if (fixed !== undefined) throw invalid("update_mask", `${fixed[0]?.proto} is set by the server`);
  return paths;
}

/** `PATCH identities:updateIdentityMetadata`: `{identityMetadata, updateMask}`, for the caller alone. */
export function identityMetadataV2(context: Context): Route {
  return {
    method: "PATCH",
    domain: "iam",
    version: context.settings.version,
    collection: "identities",
    shape: "collectionVerb",
    word: "updateIdentityMetadata",
    prepare(call) {
      const spelling = context.settings.bodyMaskSpelling;
      const { given } = decodeBody(V2.message("UpdateIdentityMetadataRequest"), call.body);
      const mask = String(member(given, "updateMask") ?? "");
      if (spelling === "camelCase" && !JSON_MASK.test(mask)) {
        throw gatewayRefusal(RpcCode.INVALID_ARGUMENT, `updateMask: ${JSON.stringify(mask)} is no field mask`);
      }
      return (caller) => {
        const said = member(given, "identityMetadata") as JsonObject | undefined;
        if (said === undefined) throw invalid("identity_metadata", "the metadata is required");
        const message = V2.message("IdentityMetadata");
        const before = profileOf(context, caller);
        const value = applyMask(V2, message, before.value, said, pathsOf(said, mask, spelling));
        const after = putProfile(context, caller, { value, extra: before.extra });
        return encodeMessage(V2, message, after.value, { omitZeros: context.settings.omitZeros });
      };
    },
  };
}
