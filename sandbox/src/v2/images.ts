/** How does v2 tell of images: architectures and sizes? (Field map 2.13.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { architecturesOf, sizeOf } from "../resources/images.ts";
import { encodeMessage } from "../wire/encode.ts";
import { decodeQuery } from "../wire/query.ts";
import { V2 } from "../wire/schemas.ts";

/** `GET repos/{uid}/digests/{digest}/architectures` and `…/size`. */
export function imagesV2(context: Context): readonly Route[] {
  const { omitZeros, version } = context.settings;
  const at = { method: "GET", domain: "registry", version, collection: "repos", shape: "image" as const };
  const write = (message: string, value: JsonObject) => encodeMessage(V2, V2.message(message), value, { omitZeros });
  return [
    {
      ...at,
      word: "architectures",
      prepare: (call) => (caller) =>
        write("Architectures", { architectures: [...architecturesOf(context, caller, call.tail)] }),
    },
    {
      ...at,
      word: "size",
      prepare(call) {
        const asked = String(member(decodeQuery(V2, V2.message("GetSizeRequest"), call.query), "architecture") ?? "");
        return (caller) => write("Size", sizeOf(context, caller, call.tail, asked));
      },
    },
  ];
}
