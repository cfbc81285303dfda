/** Which operations does the platform have? */
import type { Context } from "./context.ts";
import type { Route } from "./gateway/route.ts";
import { type V1Face, v1Routes } from "./v1/face.ts";
import { groupsV1 } from "./v1/groups.ts";
import { type V2Face, v2Routes } from "./v2/face.ts";
import { groupsV2 } from "./v2/groups.ts";

const V1_FACES: readonly V1Face[] = [groupsV1];
const V2_FACES: readonly V2Face[] = [groupsV2];

/** Every route of both faces. */
export function allRoutes(context: Context): readonly Route[] {
  return [
    ...V1_FACES.flatMap((face) => v1Routes(context, face)),
    ...V2_FACES.flatMap((face) => v2Routes(context, face)),
  ];
}
