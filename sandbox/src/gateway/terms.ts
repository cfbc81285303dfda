/** Which calls wait until the caller's organisation has accepted the terms? (Field map section 6, trap T51.) */

import { VENDOR_TYPES } from "../data/vendor.ts";
import type { JsonObject } from "../json.ts";
import type { SandboxSettings } from "../options.ts";
import { type Refusal, RpcCode, refuse } from "../refusal.ts";
import type { Route } from "./route.ts";

/** Their `id` keeps its name in both versions. */
const MISSING: readonly JsonObject[] = [
  { id: "terms-2026-01", label: "Terms of service", url: "https://legal.platform.example/terms" },
  { id: "privacy-2025-06", label: "Privacy notice", url: "https://legal.platform.example/privacy" },
];

/** Throws 400, code 9, when the settings gate this call; the type of the detail names the version of the face. */
export function needTerms(settings: SandboxSettings, route: Route, method: string, path: string): void {
  if (settings.gated?.(method, path) === true) throw termsRefusal(route.version);
}

function termsRefusal(version: string): Refusal {
  const segment = version === "v1" ? "" : `${version}.`;
  const detail: JsonObject = {
    "@type": `type.googleapis.com/${VENDOR_TYPES}.iam.${segment}TermsNotAcceptedDetail`,
    missing: [...MISSING],
  };
  const message = "Precondition failed: the terms have not been accepted";
  return refuse(RpcCode.FAILED_PRECONDITION, message, { details: [detail] });
}
