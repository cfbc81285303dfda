/** v1 operations outside the ten resources: known by name for metrics and refusals, served by native v1 alone. */
import type { NativeDomain } from "../model/resource.ts";

type NativeRow = readonly [resource: string, name: string, method: string, path: string, inV2?: true];

/** v2 has such an operation too; nobody has translated it. */
const IN_V2 = true;

/** Paths are templates below `/{domain}/v1/`; `=**` spans segments, `=*` is one. They are the same beside every v2 version. */
const DOMAINS: Readonly<Record<string, readonly NativeRow[]>> = {
  iam: [
    ["external-group-role-mapping", "list", "GET", "externalGroupRoleMappings", IN_V2],
    ["external-group-role-mapping", "delete", "DELETE", "externalGroupRoleMappings/{id=**}", IN_V2],
    ["external-group-role-mapping", "create", "POST", "externalGroupRoleMappings/{parent_id=**}", IN_V2],
    ["external-group-role-mapping", "get", "GET", "externalGroupRoleMappings/{uid=**}", IN_V2],
    ["external-group-role-mapping", "delete-batch", "POST", "externalGroupRoleMappings:batchDelete", IN_V2],
    ["terms-acceptance", "list", "GET", "terms/{group=**}", IN_V2],
    ["terms-acceptance", "create", "POST", "terms/{group=**}", IN_V2],
  ],
  registry: [
    ["build-report", "list", "GET", "buildreports"],
    ["build-status", "list", "GET", "buildstatus"],
    ["chart", "find", "GET", "charts:find"],
    ["digest-count", "get", "GET", "digestcount/{parent_id=**}"],
    ["registry-entitlement", "delete", "DELETE", "entitlements/{id=**}"],
    ["registry-entitlement", "list", "GET", "entitlements/{parent=**}"],
    ["registry-entitlement", "create", "POST", "entitlements/{parent=**}"],
    ["registry-entitlement", "list-catalog-images", "GET", "entitlements/{parent=**}/catalog-images"],
    ["registry-entitlement", "list-images", "GET", "entitlements/{parent=**}/images"],
    ["registry-entitlement", "add-images", "POST", "entitlements/{parent=**}:addImages"],
    ["registry-entitlement", "list-effective", "GET", "entitlements/{parent=**}:effective"],
    ["registry-entitlement", "list-features", "GET", "entitlements/{parent=**}:features"],
    ["registry-entitlement", "remove-images", "POST", "entitlements/{parent=**}:removeImages"],
    ["registry-entitlement", "summarise", "GET", "entitlements/{parent=**}:summary"],
    ["registry-entitlement", "swap-images", "POST", "entitlements/{parent=**}:swapImages"],
    ["eol-tag", "list", "GET", "eoltags"],
    ["repo-count-by-source", "get", "GET", "repocountbysource/{id=**}"],
    ["registry-settings", "get", "GET", "settings/{registry_id=**}"],
    ["registry-settings", "update", "PUT", "settings/{registry_id=**}"],
    ["sync-status", "list", "GET", "syncstatuses"],
    ["package-version", "list", "GET", "versions/{package=**}"],
    ["vuln-report", "list", "GET", "vuln_reports"],
    ["vuln-report", "count", "GET", "vuln_reports/counts"],
    ["vuln-report", "count-cumulative", "GET", "vuln_reports/counts_cumulative"],
    ["vuln-report", "get-raw", "GET", "vuln_reports/raw"],
  ],
  vulnerabilities: [["advisory-event", "update", "PUT", "advisory_events/{id=**}"]],
  events: [
    ["subscription", "list", "GET", "subscriptions", IN_V2],
    ["subscription", "delete", "DELETE", "subscriptions/{id=**}", IN_V2],
    ["subscription", "create", "POST", "subscriptions/{parent_id=**}", IN_V2],
  ],
  advisory: [
    ["advisory-document", "list", "GET", "documents", IN_V2],
    ["resolved-vulns-report", "list", "GET", "images/resolved_vulns", IN_V2],
    ["vulnerability-metadata", "list", "GET", "metadata", IN_V2],
  ],
  libraries: [
    ["library-artifact", "list", "GET", "artifacts", IN_V2],
    ["library-artifact", "list-versions", "GET", "artifacts/{id=*}/versions", IN_V2],
    ["library-artifact", "count", "GET", "artifacts/count", IN_V2],
    ["marketplace-subscription", "list", "GET", "aws-marketplace-subscriptions"],
    ["marketplace-subscription", "get", "GET", "aws-marketplace-subscriptions/{id=**}"],
    ["marketplace-subscription", "cancel", "POST", "aws-marketplace-subscriptions/{id=**}:cancel"],
    ["marketplace-subscription", "create", "POST", "aws-marketplace-subscriptions/{parent_id=**}"],
    ["marketplace-subscription", "update", "PATCH", "aws-marketplace-subscriptions/{subscription.id=**}"],
    ["blocked-package", "list", "GET", "blocked-packages"],
    ["library-entitlement", "list", "GET", "entitlements"],
    ["library-entitlement", "delete", "DELETE", "entitlements/{id=**}"],
    ["library-entitlement", "create", "POST", "entitlements/{parent_id=**}"],
    ["malware-blocklist", "get", "GET", "malware/blocklist"],
    ["npm-package", "list", "GET", "npm/packages"],
    ["npm-package", "list-versions", "GET", "npm/packages/versions"],
    ["library-policy", "list", "GET", "policies"],
    ["library-policy", "delete", "DELETE", "policies/{id=**}"],
    ["library-policy", "update", "PUT", "policies/{id=**}"],
    ["library-policy", "create", "POST", "policies/{parent_id=**}"],
    ["policy-binding", "list", "GET", "policy-bindings"],
    ["policy-binding", "delete", "DELETE", "policy-bindings/{id=**}"],
    ["policy-binding", "update", "PUT", "policy-bindings/{id=**}"],
    ["policy-binding", "create", "POST", "policy-bindings/{parent_id=**}"],
    ["resolution-cache", "list-entries", "GET", "resolutioncache/{parent_id=**}/entries"],
    ["resolution-cache", "get-status", "GET", "resolutioncache/{parent_id=**}/status"],
    ["resolution-cache", "opt-out", "POST", "resolutioncache/{parent_id=**}:optout"],
    ["resolution-cache", "zap", "POST", "resolutioncache/{parent_id=**}:zap"],
  ],
  ping: [["ping", "get", "GET", "ping", IN_V2]],
};

export default Object.entries(DOMAINS).map(
  ([domain, rows]): NativeDomain => ({
    domain,
    operations: rows.map(([resource, name, method, path, inV2]) => ({ resource, name, method, path, inV2 })),
  }),
);
