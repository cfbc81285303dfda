{{/* What configuration do the pods get, and where does it lie? */}}

{{/* `config` as carryover reads it: with the sandbox as platform, its mode where there is only one, and `yes` and `no`, which Helm reads as true and false, as written. */}}
{{- define "carryover.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if .Values.sandbox.enabled -}}
{{- $url := include "carryover.sandboxUrl" . -}}
{{- $config = mergeOverwrite (dict "upstream" (dict "v2" (dict "url" $url) "v1" (dict "url" $url) "sts" (dict "url" $url))) $config -}}
{{- end -}}
{{- if not (or (dig "cutover" "mode" "" $config) (include "carryover.needsMode" .) (include "carryover.configElsewhere" .)) -}}
{{- $config = mergeOverwrite $config (dict "cutover" (dict "mode" "translate")) -}}
{{- end -}}
{{- $zeros := dig "upstream" "v2" "omitsZeros" "" $config -}}
{{- if kindIs "bool" $zeros -}}
{{- $_ := set $config.upstream.v2 "omitsZeros" (ternary "yes" "no" $zeros) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end }}

{{/* What makes carryover ask for cutover.mode, or may do so, and so leaves it to the values. The chart's own empty rules file does not: without native v1 there is only translate. */}}
{{- define "carryover.needsMode" -}}
{{- if not (or .Values.sandbox.enabled (include "carryover.configElsewhere" .)) -}}
{{- if or (dig "upstream" "v1" "url" "" .Values.config) (include "carryover.saidOutside" (list . "upstream.v1.url")) -}}
config.upstream.v1.url
{{- else if or (dig "cutover" "rulesFile" "" .Values.config) (include "carryover.saidOutside" (list . "cutover.rulesFile")) -}}
config.cutover.rulesFile
{{- else if or .Values.rules (include "carryover.rulesElsewhere" .) -}}
rules
{{- else if .Values.envFrom -}}
envFrom
{{- end -}}
{{- end -}}
{{- end }}

{{- define "carryover.sandboxUrl" -}}
http://{{ include "carryover.suffixed" (list . "sandbox") }}.{{ include "carryover.namespace" . }}.svc:8090
{{- end }}

{{/* "true" when somebody else's object holds the configuration. */}}
{{- define "carryover.configElsewhere" -}}
{{- if or .Values.configFrom.existingConfigMap .Values.configFrom.existingSecret -}}true{{- end -}}
{{- end }}

{{- define "carryover.rulesElsewhere" -}}
{{- if or .Values.rulesFrom.existingConfigMap .Values.rulesFrom.existingSecret -}}true{{- end -}}
{{- end }}

{{/* "true" when carryover reads the rules of rules or rulesFrom, not those that a configuration names. An existing one holds as it is. */}}
{{- define "carryover.givesRules" -}}
{{- if include "carryover.configElsewhere" . -}}
{{- if or .Values.rules (include "carryover.rulesElsewhere" .) -}}true{{- end -}}
{{- else if not (dig "cutover" "rulesFile" "" .Values.config) -}}true{{- end -}}
{{- end }}

{{/* "true" when the state lies in a directory of the chart's. */}}
{{- define "carryover.keepsState" -}}
{{- with .Values.state -}}
{{- if kindIs "invalid" .enabled -}}
{{- if or .existingClaim .volumeClaim.size (not (include "carryover.configElsewhere" $)) -}}true{{- end -}}
{{- else if .enabled -}}true{{- end -}}
{{- end -}}
{{- end }}

{{/* "true" when each pod has a volume claim of its own, which only a StatefulSet gives it. */}}
{{- define "carryover.claimPerPod" -}}
{{- if and .Values.state.volumeClaim.size (include "carryover.keepsState" .) -}}true{{- end -}}
{{- end }}

{{- define "carryover.workloadKind" -}}
{{- ternary "StatefulSet" "Deployment" (eq (include "carryover.claimPerPod" .) "true") -}}
{{- end }}

{{/* The rules file. An empty one says what having none says, and later changes of it need no restart. `force` is always there, for a patch of the ConfigMap. */}}
{{- define "carryover.rules" -}}
{{- mergeOverwrite (dict "version" "carryover/v1" "force" "none" "rules" list) .Values.rules | toYaml }}
{{- if .Values.rules.endMark }}
...
{{- end }}
{{- end }}

{{/* (list . "listen" 8080) */}}
{{- define "carryover.port" -}}
{{- dig (index . 1) "port" (index . 2) (index . 0).Values.config | int -}}
{{- end }}
{{- define "carryover.listenPort" -}}{{ include "carryover.port" (list . "listen" 8080) }}{{- end }}
{{- define "carryover.adminPort" -}}{{ include "carryover.port" (list . "admin" 8081) }}{{- end }}

{{/* Nothing when there is none. */}}
{{- define "carryover.grpcPort" -}}
{{- with dig "listen" "grpc" "port" "" .Values.config -}}
{{- int . -}}
{{- else -}}
{{- if and .Values.service.grpcPort (include "carryover.configElsewhere" .) }}{{ int .Values.service.grpcPort }}{{ end -}}
{{- end -}}
{{- end }}
{{- define "carryover.serviceGrpcPort" -}}
{{- with include "carryover.grpcPort" . }}{{ default . $.Values.service.grpcPort | int }}{{ end -}}
{{- end }}

{{/* "true" when somebody's object holds the descriptors. */}}
{{- define "carryover.hasDescriptors" -}}
{{- with .Values.grpcDescriptors }}{{ if or .existingConfigMap .existingSecret }}true{{ end }}{{ end -}}
{{- end }}

{{/* "true" when the Service has IPv6, or may have it. */}}
{{- define "carryover.hasIPv6" -}}
{{- if or (has "IPv6" .Values.service.ipFamilies) (has .Values.service.ipFamilyPolicy (list "PreferDualStack" "RequireDualStack")) -}}true{{- end -}}
{{- end }}

{{/* The address that takes requests of every family that the Service has. */}}
{{- define "carryover.anyHost" -}}
{{- if or (include "carryover.hasIPv6" .) (eq (dig "listen" "host" "" .Values.config) "::") -}}
::
{{- else -}}
0.0.0.0
{{- end -}}
{{- end }}

{{/* "500m", "0.5" or 1 of a core in thousandths. */}}
{{- define "carryover.millicores" -}}
{{- $text := toString . -}}
{{- $number := regexFind "^[0-9.]+" $text | float64 -}}
{{- ceil (mulf $number (ternary 1 1000 (hasSuffix "m" $text))) | int -}}
{{- end }}

{{/* "90", "45s", "1500ms", "1m" or "1h" in milliseconds. */}}
{{- define "carryover.milliseconds" -}}
{{- $text := toString . | trim -}}
{{- $number := regexFind "^[0-9.]+" $text | float64 -}}
{{- $unit := regexFind "[a-z]+$" $text | default "s" -}}
{{- ceil (mulf $number (get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000) $unit | float64)) | int -}}
{{- end }}

{{/* The same in whole seconds, rounded up. */}}
{{- define "carryover.seconds" -}}
{{- div (add (include "carryover.milliseconds" . | int) 999) 1000 -}}
{{- end }}

{{/* (list . "limits.requestSeconds"): what extraArgs, else extraEnv says it is; "?" for a value that is not seen; else nothing. */}}
{{- define "carryover.valueOutside" -}}
{{- $root := index . 0 -}}
{{- $flag := include "carryover.flag" (index . 1) -}}
{{- $variable := include "carryover.variable" (index . 1) -}}
{{- $value := "" -}}
{{- range $root.Values.extraEnv -}}
{{- if eq .name $variable }}{{ $value = ternary (toString .value) "?" (hasKey . "value") }}{{ end -}}
{{- end -}}
{{- $next := false -}}
{{- range include "carryover.flags" $root.Values.extraArgs | fromYamlArray -}}
{{- if $next }}{{ $value = . }}{{ end -}}
{{- $next = eq . $flag -}}
{{- if hasPrefix (printf "%s=" $flag) . }}{{ $value = trimPrefix (printf "%s=" $flag) . }}{{ end -}}
{{- end -}}
{{- $value -}}
{{- end }}

{{/* Longest time of one request as it was said. Where that is not seen: the most that carryover allows. */}}
{{- define "carryover.requestTime" -}}
{{- $most := "59s" -}}
{{- $usual := ternary $most "50s" (or (eq (include "carryover.configElsewhere" .) "true") (gt (len .Values.envFrom) 0)) -}}
{{- $outside := include "carryover.valueOutside" (list . "limits.requestSeconds") -}}
{{- if not $outside -}}
{{- dig "limits" "requestSeconds" $usual .Values.config -}}
{{- else if regexMatch "^[0-9.]+ *[a-z]*$" $outside -}}
{{- $outside -}}
{{- else -}}
{{- $most -}}
{{- end -}}
{{- end }}

{{/* The same in whole seconds. */}}
{{- define "carryover.requestSeconds" -}}
{{- include "carryover.seconds" (include "carryover.requestTime" .) -}}
{{- end }}

{{/* Whole seconds in which carryover takes requests after SIGTERM, as it was said; by default, and where that is not seen, 5. */}}
{{- define "carryover.shutdownDelaySeconds" -}}
{{- $outside := include "carryover.valueOutside" (list . "listen.shutdownDelaySeconds") -}}
{{- $said := default (dig "listen" "shutdownDelaySeconds" "5s" .Values.config | toString) $outside -}}
{{- include "carryover.seconds" (ternary $said "5s" (regexMatch "^[0-9.]+ *[a-z]*$" $said)) -}}
{{- end }}

{{/* Until the process ends by itself: it takes the last request's time after the delay, 5 s for its last bytes and 5 s to close the rest. */}}
{{- define "carryover.stopSeconds" -}}
{{- add .Values.preStopSleepSeconds (include "carryover.shutdownDelaySeconds" .) (include "carryover.requestSeconds" .) 10 -}}
{{- end }}

{{- define "carryover.gracePeriod" -}}
{{- if kindIs "invalid" .Values.terminationGracePeriodSeconds -}}
{{- include "carryover.stopSeconds" . -}}
{{- else -}}
{{- int .Values.terminationGracePeriodSeconds -}}
{{- end -}}
{{- end }}

{{/* Fewest replicas that run at a time when nothing is wrong. */}}
{{- define "carryover.replicas" -}}
{{- ternary .Values.autoscaling.minReplicas .Values.replicaCount .Values.autoscaling.enabled | int -}}
{{- end }}

{{/* "true" when the views ask for a token. */}}
{{- define "carryover.hasToken" -}}
{{- with .Values.adminToken }}{{ if or .existingSecret .value .generate }}true{{ end }}{{ end -}}
{{- end }}

{{- define "carryover.tokenSecret" -}}
{{- default (include "carryover.suffixed" (list . "admin-token")) .Values.adminToken.existingSecret -}}
{{- end }}

{{/* What `tls` has settings for, as a list in JSON: the upstreams, and the store that replicas share. */}}
{{- define "carryover.tlsNames" -}}
["v2", "v1", "sts", "state"]
{{- end }}

{{/* The section of such a name in the configuration: `upstream.v2`, `state`. */}}
{{- define "carryover.tlsSection" -}}
{{ ternary . (printf "upstream.%s" .) (eq . "state") }}
{{- end }}

{{/* (list . "v2" "url"): what `config` says in that section; empty if nothing. */}}
{{- define "carryover.inTlsSection" -}}
{{- $config := (index . 0).Values.config -}}
{{- $section := ternary (dig "state" dict $config) (dig "upstream" (index . 1) dict $config) (eq (index . 1) "state") -}}
{{- $key := index . 2 -}}
{{- if eq $key "url" }}{{ dig "url" "" $section }}{{ else }}{{ dig "tls" $key "" $section }}{{ end -}}
{{- end }}

{{/* (list . "v2"): "true" when an upstream has authorities of its own; the same for a client certificate. */}}
{{- define "carryover.hasCa" -}}
{{- with (index (index . 0).Values.tls (index . 1)).ca }}{{ if or .pem .existingConfigMap .existingSecret }}true{{ end }}{{ end -}}
{{- end }}
{{- define "carryover.hasClientCert" -}}
{{- with (index (index . 0).Values.tls (index . 1)).client }}{{ if .existingSecret }}true{{ end }}{{ end -}}
{{- end }}

{{/*
Variables by which the chart tells carryover what only the chart knows: `option path: value`, or `valueFrom`. Variables go before the
file, so they hold for a configuration of somebody else's as well.
*/}}
{{- define "carryover.ownOptions" -}}
{{- /* Also for the commands that are run in a pod (`kubectl exec`): they find the admin port by it. */}}
{{- if or (include "carryover.configElsewhere" .) (ne (include "carryover.adminPort" .) "8081") }}
admin.port: {{ include "carryover.adminPort" . | quote }}
{{- end }}
{{- if include "carryover.configElsewhere" . }}
listen.port: {{ include "carryover.listenPort" . | quote }}
{{- with include "carryover.grpcPort" . }}
listen.grpc.port: {{ . | quote }}
{{- end }}
{{- end }}
{{- if include "carryover.hasDescriptors" . }}
grpc.descriptors: /etc/carryover/grpc/api.binpb
{{- end }}
{{- if include "carryover.configElsewhere" . }}
listen.host: {{ include "carryover.anyHost" . | quote }}
{{- else if and (eq (include "carryover.anyHost" .) "::") (not (dig "listen" "host" "" .Values.config)) }}
listen.host: "::"
{{- end }}
{{- if not (dig "admin" "host" "" .Values.config) }}
admin.host: {{ include "carryover.anyHost" . | quote }}
{{- end }}
{{- if include "carryover.hasToken" . }}
admin.tokenFile: /etc/carryover/admin/token
{{- end }}
{{- if include "carryover.givesRules" . }}
cutover.rulesFile: /etc/carryover/rules/rules.yaml
{{- end }}
{{- if .Values.salt.existingSecret }}
cutover.salt:
  secretKeyRef: { name: {{ .Values.salt.existingSecret | quote }}, key: {{ .Values.salt.key | quote }} }
{{- end }}
{{- if include "carryover.keepsState" . }}
state.dir: /var/lib/carryover
{{- end }}
{{- if include "carryover.hasStorePassword" . }}
state.passwordFile: /etc/carryover/store/password
{{- end }}
{{- range $name := include "carryover.tlsNames" . | fromJsonArray }}
{{- $section := include "carryover.tlsSection" $name | trim }}
{{- if include "carryover.hasCa" (list $ $name) }}
{{ $section }}.tls.caFile: /etc/carryover/tls/{{ $name }}/ca.crt
{{- end }}
{{- if include "carryover.hasClientCert" (list $ $name) }}
{{ $section }}.tls.certFile: /etc/carryover/tls/{{ $name }}/tls.crt
{{ $section }}.tls.keyFile: /etc/carryover/tls/{{ $name }}/tls.key
{{- end }}
{{- end }}
{{- end }}

{{/* `upstream.v2.tls.caFile` as `CARRYOVER_UPSTREAM_V2_TLS_CA_FILE`. */}}
{{- define "carryover.variable" -}}
CARRYOVER_{{ regexReplaceAll "([a-z0-9])([A-Z])" . "${1}_${2}" | replace "." "_" | upper }}
{{- end }}

{{/* Flags as a list, from a map or a list. */}}
{{- define "carryover.flags" -}}
{{- $flags := list -}}
{{- if kindIs "map" . -}}
{{- range $name, $value := . -}}
{{- $given := ternary "" (printf "=%s" (ternary (printf "%v" $value) (toJson $value) (kindIs "string" $value))) (kindIs "invalid" $value) -}}
{{- $flags = append $flags (printf "--%s%s" $name $given) -}}
{{- end -}}
{{- else -}}
{{- $flags = . -}}
{{- end -}}
{{- toYaml $flags -}}
{{- end }}

{{- define "carryover.basePath" -}}
{{- default (dig "listen" "basePath" "" .Values.config) .Values.routes.basePath | trimSuffix "/" -}}
{{- end }}

{{/* (list . "v1"): first path segments with that version behind them, below the base path, as a list in JSON. */}}
{{- define "carryover.paths" -}}
{{- $root := index . 0 -}}
{{- $version := index . 1 -}}
{{- $base := include "carryover.basePath" $root -}}
{{- $paths := list -}}
{{- range $root.Values.routes.domains }}{{ $paths = append $paths (printf "%s/%s/%s" $base . $version) }}{{ end -}}
{{- toJson $paths -}}
{{- end }}

{{/* The same for v2, empty when v2 is led past carryover. */}}
{{- define "carryover.v2Paths" -}}
{{- if .Values.routes.v2 -}}
{{- include "carryover.paths" (list . (dig "upstream" "v2" "version" "v2beta1" .Values.config)) -}}
{{- else -}}
[]
{{- end -}}
{{- end }}

{{/* The path of token exchange, or nothing when it is not carryover's. */}}
{{- define "carryover.exchangePath" -}}
{{- $config := include "carryover.config" . | fromYaml -}}
{{- $wanted := .Values.routes.tokenExchange -}}
{{- if kindIs "invalid" $wanted }}{{ $wanted = ne (dig "upstream" "sts" "url" "" $config) "" }}{{ end -}}
{{- if $wanted }}{{ include "carryover.basePath" . }}/sts/exchange{{ end -}}
{{- end }}

{{/* The ports of all upstream URLs, as a list in JSON, less the sandbox's. */}}
{{- define "carryover.upstreamPorts" -}}
{{- $ports := .Values.networkPolicy.upstreamPorts -}}
{{- if not $ports -}}
{{- range $name := list "v2" "v1" "sts" -}}
{{- range list (dig "upstream" $name "url" "" $.Values.config) (dig "upstream" $name "grpcUrl" "" $.Values.config) | compact -}}
{{- $url := urlParse . -}}
{{- $given := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $ports = append $ports (default (ternary 443 80 (eq $url.scheme "https")) $given | int) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end }}
