/** Which probes look at lists, and in which order? */
import type { Probe } from "./first-pages.ts";
import { fields } from "./probes/fields.ts";
import { lists } from "./probes/lists.ts";
import { missing } from "./probes/missing.ts";
import { order } from "./probes/order.ts";
import { pageSize } from "./probes/page-size.ts";
import { skip } from "./probes/skip.ts";
import { times } from "./probes/times.ts";
import { totalCount } from "./probes/total-count.ts";
import { zeros } from "./probes/zeros.ts";

/** In the order of the report. */
export const PROBES: readonly Probe[] = [lists, fields, zeros, pageSize, totalCount, order, skip, missing];

/** Those that need native v1, after all others. */
export const NATIVE_PROBES: readonly Probe[] = [times];
