/** The messages and enums of v2. `wire/schema.ts` reads them and explains the notation. */
import { VENDOR_KEY } from "./vendor.ts";

export const V2_MESSAGES = `
message Group
  uid string readonly
  name string
  description string
  resource_limits map<string,int32> readonly
  verified bool
  create_time timestamp readonly
  update_time timestamp readonly
  kind enum OrgKind
  status enum OrgStatus readonly
message ListGroupsRequest
  uidp UIDPFilter
  name string
  page_size int32
  page_token string
  order_by string
  skip int32
message Identity
  uid string readonly
  name string
  description string
  email string readonly
  email_unverified string readonly
  company string
  last_seen_time timestamp readonly
  create_time timestamp readonly
  update_time timestamp readonly
  claim_match Identity.ClaimMatch in relationship
  static_keys Identity.StaticKeys in relationship
  aws_identity Identity.AWSIdentity in relationship
  service_principal enum ServicePrincipal in relationship
message ListIdentitiesRequest
  uidp UIDPFilter
  name string
  relationship_type enum RelationshipType
  page_size int32
  page_token string
  order_by string
  skip int32
message LookupIdentityRequest
  issuer string
  subject string
message LookupIdentityResponse
  uid string readonly
message IdentityMetadata
  uid string readonly
  name string readonly
  given_name string readonly
  family_name string readonly
  company string
  updates_opt_in bool
  product string
  job_title string
  utm_campaign string
  utm_content string
  utm_medium string
  utm_source string
  utm_term string
  latest_form_submit_url string
  latest_internal_referring_url string
  hubspot_utk string
  self_serve bool
message UpdateIdentityMetadataRequest
  identity_metadata IdentityMetadata
  update_mask string
message RequestGroupAccessRequest
  group_uid string
message RequestGroupAccessResponse
message Role
  uid string readonly
  name string
  description string
  capabilities []enum Capability
  create_time timestamp readonly
  update_time timestamp readonly
message ListRolesRequest
  uidp UIDPFilter
  name string
  page_size int32
  page_token string
  order_by string
  skip int32
message RoleBinding
  uid string readonly
  identity RoleBindingIdentity readonly
  group RoleBindingGroup readonly
  role RoleBindingRole readonly
  create_time timestamp readonly
  identity_uid string
  role_uid string
message ListRoleBindingsRequest
  uidp UIDPFilter
  identity string
  group string
  role string
  page_size int32
  page_token string
  order_by string
  skip int32
message BatchCreateRoleBindingsRequest
  parent string
  requests []CreateRoleBindingRequest
  role_uid string
message BatchCreateRoleBindingsResponse
  role_bindings []RoleBinding
message IdentityProvider
  uid string readonly
  name string
  description string
  create_time timestamp readonly
  update_time timestamp readonly
  default_role string
  oidc IdentityProvider.OIDC in configuration
  scim IdentityProvider.SCIM readonly
message ListIdentityProvidersRequest
  uidp UIDPFilter
  name string
  page_size int32
  page_token string
  order_by string
  skip int32
message AccountAssociation
  uid string readonly
  name string
  description string
  amazon AccountAssociation.Amazon
  google AccountAssociation.Google
  ${VENDOR_KEY} AccountAssociation.Vendor
  azure AccountAssociation.Azure
  create_time timestamp readonly
  update_time timestamp readonly
  github AccountAssociation.GitHub
message ListAccountAssociationsRequest
  uidp UIDPFilter
  name string
  page_size int32
  page_token string
  order_by string
  skip int32
message CheckAccountAssociationRequest
  uid string
  provider_type enum AccountProviderType
message CheckAccountAssociationResponse
  status enum CheckStatus
  reason string
  message string
message GroupInvite
  uid string readonly
  role_uid string
  role GroupInviteRole readonly
  email string
  ttl duration
  expiration_time timestamp readonly
  single_use bool
  code string readonly
  key_id string readonly
  create_time timestamp readonly
message ListGroupInvitesRequest
  uidp UIDPFilter
  key_id string
  page_size int32
  page_token string
  order_by string
  skip int32
message Repo
  uid string readonly
  name string
  description string
  catalog_tier enum CatalogTier
  bundles []string
  aliases []string
  active_tags []string
  sync_config=sync_config SyncConfig
  custom_overlay CustomOverlay
  create_time timestamp readonly
  update_time timestamp readonly
message RepoReadme
  uid string readonly
  content string
message ListReposRequest
  uidp UIDPFilter
  name string optional
  page_size int32
  page_token string
  order_by string
  skip int32
message Tag
  uid string readonly
  name string
  digest string
  update_time timestamp readonly
  deprecated bool
  bundles []string
message ListTagsRequest
  uidp UIDPFilter
  name string
  updated_since timestamp
  include_referrers bool
  include_dates bool
  include_epochs bool
  digest string
  page_size int32
  page_token string
  order_by string
  skip int32
message Advisory
  uid string readonly
  advisory_id string readonly
  create_time timestamp readonly
  update_time timestamp readonly
  delete_time timestamp optional readonly
  author string
  artifact_name string
  artifact_type string
  artifact_architecture string
  component_name string
  component_location string
  component_type string
  aliases []string
  events []AdvisoryEvent
  legacy_advisory_id string optional readonly
  severities []Severity readonly
message ListAdvisoriesRequest
  uidp UIDPFilter
  advisory_ids []string
  legacy_advisory_ids []string
  artifact_names []string
  artifact_types []string
  artifact_architectures []string
  component_names []string
  component_types []string
  component_locations []string
  aliases []string
  origin string optional
  event_review_states []enum ReviewState
  event_authors []string
  exclude_event_authors []string
  event_reviewers []string
  event_types []enum EventTypeFilter
  latest_event_type enum EventTypeFilter optional
  page_size int32
  page_token string
  order_by string
  skip int32
  query string
message LookupGroupRequest
message LookupGroupResponse
  group Group
message CheckEligibilityResponse
  eligible bool
message GenerateScimTokenRequest
  identity_provider_uid string
  expire_time timestamp
  never_expires bool
message GenerateScimTokenResponse
  token string
  endpoint_url string
  expire_time timestamp
  identity_provider_uid string
  etag string
message RegenerateScimTokenRequest
  identity_provider_uid string
  overlap duration
  expire_time timestamp
  etag string
  never_expires bool
message RegenerateScimTokenResponse
  token string
  endpoint_url string
  expire_time timestamp
  identity_provider_uid string
  etag string
  previous_token_expire_time timestamp
  requested_overlap duration
message RevokeScimTokenRequest
  identity_provider_uid string
message RevokeScimTokenResponse
  identity_provider_uid string
  etag string
  enabled bool
  revoke_time timestamp
message SetScimEnabledRequest
  identity_provider_uid string
  enabled bool
  etag string
message SetScimEnabledResponse
  identity_provider_uid string
  enabled bool
  etag string
message Size
  size int64
  architecture string
message GetSizeRequest
  repo_uid string
  digest string
  architecture string
message Architectures
  architectures []string
message GetArchitecturesRequest
  repo_uid string
  digest string
message UIDPFilter
  ancestors_of string
  descendants_of string
  children_of string
  in_root bool
  ids []string
message Identity.ClaimMatch
  issuer string in iss
  issuer_pattern string in iss
  subject string in sub
  subject_pattern string in sub
  audience string in aud
  audience_pattern string in aud
  claims map<string,string>
  claim_patterns map<string,string>
message Identity.StaticKeys
  issuer string
  subject string
  issuer_keys string
  expiration_time timestamp
  audiences []string
message Identity.AWSIdentity
  aws_account string
  arn string in aws_arn
  arn_pattern string in aws_arn
  user_id string in aws_user_id
  user_id_pattern string in aws_user_id
message RoleBindingIdentity
  uid string readonly
  name string readonly
  description string readonly
  subject string readonly
  issuer string readonly
  email string readonly
message RoleBindingGroup
  uid string readonly
  name string readonly
  description string readonly
message RoleBindingRole
  uid string readonly
  name string readonly
  description string readonly
message CreateRoleBindingRequest
  parent string
  role_binding RoleBinding
message IdentityProvider.OIDC
  issuer string
  client_id string
  client_secret string
  additional_scopes []string
  groups_claim string
  correlation_rule enum IdentityProvider.OIDC.CorrelationRule fixed
  pkce_enabled bool
message IdentityProvider.SCIM
  enabled bool readonly
  endpoint_url string readonly
  token_expire_time timestamp readonly
  previous_token_expire_time timestamp readonly
  credential_state enum IdentityProvider.SCIM.CredentialState readonly
  etag string readonly
message AccountAssociation.Amazon
  account string
message AccountAssociation.Google
  project_id string
  project_number string
message AccountAssociation.Vendor
  service_bindings map<string,string>
message AccountAssociation.Azure
  tenant_id string
  client_ids map<string,string>
message AccountAssociation.GitHub
  app_installations map<int64,AccountAssociation.GitHubAppInstallations>
message GroupInviteRole
  uid string readonly
  name string readonly
  description string readonly
  capabilities []enum Capability readonly
message SyncConfig
  source string
  unique_tags bool readonly
  expiration_time timestamp readonly
  google string
  amazon string
  azure string
  apko_overlay string readonly
  grace_period bool readonly
message CustomOverlay
  contents CustomOverlay.ImageContents
  environment map<string,string>
  annotations map<string,string>
  accounts CustomOverlay.Accounts
  certificates CustomOverlay.Certificates
message AdvisoryEvent
  uid string readonly
  create_time timestamp readonly
  findings bytes
  author string
  reviewer string
  review_state enum ReviewState
  issue string optional
  detection AdvisoryEvent.Detection in type
  fixed AdvisoryEvent.Fixed in type
  false_positive_determination AdvisoryEvent.FalsePositiveDetermination in type
  analysis_not_planned AdvisoryEvent.AnalysisNotPlanned in type
  fix_not_planned AdvisoryEvent.FixNotPlanned in type
  pending_upstream_fix AdvisoryEvent.PendingUpstreamFix in type
  true_positive_determination AdvisoryEvent.TruePositiveDetermination in type
  patched AdvisoryEvent.Patched in type
message Severity
  type enum Severity.Type
  score string
message AccountAssociation.GitHubAppInstallations
  installations []AccountAssociation.GitHubInstallation
message CustomOverlay.ImageContents
  packages []string
  runtime_repositories []string
  runtime_keyring []CustomOverlay.ImageContents.RuntimeKeyringEntry
message CustomOverlay.Accounts
  run_as string
  users []CustomOverlay.Accounts.User
  groups []CustomOverlay.Accounts.Group
message CustomOverlay.Certificates
  additional []CustomOverlay.Certificates.AdditionalEntry
  providers []string
message AdvisoryEvent.Detection
  nvdapi AdvisoryEvent.Detection.NVDAPI in type
  manual AdvisoryEvent.Detection.Manual in type
  scanv1 AdvisoryEvent.Detection.ScanV1 in type
message AdvisoryEvent.Fixed
  fixed_version string
  note string
  scanner_version string
  grype_db_built string
  grype_db_checksum string
message AdvisoryEvent.FalsePositiveDetermination
  type enum AdvisoryEvent.FalsePositiveDetermination.Type
  note string
message AdvisoryEvent.AnalysisNotPlanned
  note string
message AdvisoryEvent.FixNotPlanned
  note string
message AdvisoryEvent.PendingUpstreamFix
  note string
message AdvisoryEvent.TruePositiveDetermination
  note string
message AdvisoryEvent.Patched
  patched_versions []string
  note string
message AccountAssociation.GitHubInstallation
  installation_id int64
  name string
message CustomOverlay.ImageContents.RuntimeKeyringEntry
  name string
  content string
message CustomOverlay.Accounts.User
  username string
  uid int32
  gid int32
  group_name string
  shell string
  home_dir string
message CustomOverlay.Accounts.Group
  groupname string
  gid int32
  members []string
message CustomOverlay.Certificates.AdditionalEntry
  name string
  content string
message AdvisoryEvent.Detection.NVDAPI
  cpe_searched string
  cpe_found string
message AdvisoryEvent.Detection.Manual
message AdvisoryEvent.Detection.ScanV1
  scanner string
  subpackage string
  component_id string
  component string
  component_version string
  component_type string
  component_location string
  artifact_version string
  scanner_version string
  grype_db_built string
  grype_db_checksum string
enum OrgKind
  ORG_KIND_UNSPECIFIED 0
  ORG_KIND_STARTER 1
  ORG_KIND_CUSTOMER 2
  ORG_KIND_DEV 3
  ORG_KIND_INFRA 4
  ORG_KIND_AWS_MARKETPLACE 5
enum OrgStatus
  ORG_STATUS_UNSPECIFIED 0
  ORG_STATUS_INITIALIZING 1
  ORG_STATUS_READY 2
  ORG_STATUS_SUSPENDED 3
enum ServicePrincipal
  SERVICE_PRINCIPAL_UNSPECIFIED 0
  SERVICE_PRINCIPAL_COSIGNED 1
  SERVICE_PRINCIPAL_INGESTER 2
  SERVICE_PRINCIPAL_CATALOG_SYNCER 3
  SERVICE_PRINCIPAL_APKO_BUILDER 4
  SERVICE_PRINCIPAL_ENTITLEMENT_SYNCER 5
  SERVICE_PRINCIPAL_TENANT_SCANNER 6
  SERVICE_PRINCIPAL_SEDIMENTOLOGY 7
  SERVICE_PRINCIPAL_SKILLUP 8
  SERVICE_PRINCIPAL_MATERIALIZER 9
  SERVICE_PRINCIPAL_MICROFLOW 10
  SERVICE_PRINCIPAL_GUARDENER 11
  SERVICE_PRINCIPAL_MICROVM 12
  SERVICE_PRINCIPAL_SKILLS 13
enum RelationshipType
  RELATIONSHIP_TYPE_UNSPECIFIED 0
  RELATIONSHIP_TYPE_CLAIM_MATCH 1
  RELATIONSHIP_TYPE_STATIC 2
  RELATIONSHIP_TYPE_AWS_IDENTITY 3
  RELATIONSHIP_TYPE_SERVICE_PRINCIPAL 4
enum AccountProviderType
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED 0
  ACCOUNT_PROVIDER_TYPE_GOOGLE 1
  ACCOUNT_PROVIDER_TYPE_AMAZON 2
  ACCOUNT_PROVIDER_TYPE_AZURE 3
enum CheckStatus
  CHECK_STATUS_UNSPECIFIED 0
  CHECK_STATUS_READY 1
  CHECK_STATUS_NOT_READY 2
enum CatalogTier
  CATALOG_TIER_UNSPECIFIED 0
  CATALOG_TIER_APPLICATION 1
  CATALOG_TIER_BASE 2
  CATALOG_TIER_FIPS 3
  CATALOG_TIER_AI 4
  CATALOG_TIER_DEVTOOLS 5
  CATALOG_TIER_COMMERCIAL 6
enum ReviewState
  REVIEW_STATE_UNSPECIFIED 0
  REVIEW_STATE_PENDING 1
  REVIEW_STATE_APPROVED 2
  REVIEW_STATE_REQUEST_CHANGES 3
  REVIEW_STATE_REJECTED 4
enum EventTypeFilter
  EVENT_TYPE_FILTER_UNSPECIFIED 0
  EVENT_TYPE_FILTER_DETECTION 1
  EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION 2
  EVENT_TYPE_FILTER_FIXED 3
  EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION 4
  EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED 5
  EVENT_TYPE_FILTER_FIX_NOT_PLANNED 6
  EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX 7
  EVENT_TYPE_FILTER_PATCHED 8
enum IdentityProvider.OIDC.CorrelationRule
  CORRELATION_RULE_UNSPECIFIED 0
  CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID 1
  CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID 2
enum IdentityProvider.SCIM.CredentialState
  CREDENTIAL_STATE_UNSPECIFIED 0
  CREDENTIAL_STATE_NOT_ISSUED 1
  CREDENTIAL_STATE_LIVE 2
  CREDENTIAL_STATE_EXPIRED 3
  CREDENTIAL_STATE_REVOKED 4
  CREDENTIAL_STATE_ROTATING 5
enum Severity.Type
  TYPE_UNSPECIFIED 0
  TYPE_CVSS_V2 1
  TYPE_CVSS_V3 2
  TYPE_CVSS_V4 3
enum AdvisoryEvent.FalsePositiveDetermination.Type
  TYPE_UNSPECIFIED 0
  TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED 1
  TYPE_COMPONENT_VULNERABILITY_MISMATCH 2
  TYPE_VULNERABLE_CODE_VERSION_NOT_USED 3
  TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE 4
  TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH 5
  TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY 6
  TYPE_INLINE_MITIGATIONS_EXIST 7
`;
