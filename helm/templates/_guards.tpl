{{/* Which values contradict each other? Each fault is a line: the value's path, what is wrong, what to set. */}}

{{- define "carryover.faults" -}}
{{- include "carryover.faults.names" . }}
{{- include "carryover.faults.upstreams" . }}
{{- include "carryover.faults.addresses" . }}
{{- include "carryover.faults.sources" . }}
{{- include "carryover.faults.rules" . }}
{{- include "carryover.faults.tls" . }}
{{- include "carryover.faults.overridden" . }}
{{- include "carryover.faults.stopping" . }}
{{- include "carryover.faults.state" . }}
{{- include "carryover.faults.recording" . }}
{{- include "carryover.faults.store" . }}
{{- include "carryover.faults.volumes" . }}
{{- include "carryover.faults.scaling" . }}
{{- include "carryover.faults.request" . }}
{{- include "carryover.faults.services" . }}
{{- include "carryover.faults.routes" . }}
{{- include "carryover.faults.grpcRoute" . }}
{{- include "carryover.faults.network" . }}
{{- include "carryover.faults.monitoring" . }}
{{- include "carryover.faults.existing" . }}
{{- end }}

{{/* "true" when somebody else may say what the option is: an existing configuration, or variables that are not seen. */}}
{{- define "carryover.unseen" -}}
{{- if or (include "carryover.configElsewhere" .) .Values.envFrom }}true{{ end -}}
{{- end }}

{{/* (list . "upstream.v1.url"): "true" when extraEnv or extraArgs says it. */}}
{{- define "carryover.saidOutside" -}}
{{- $root := index . 0 -}}
{{- $variable := include "carryover.variable" (index . 1) -}}
{{- $flag := include "carryover.flag" (index . 1) -}}
{{- range $root.Values.extraEnv }}{{ if eq .name $variable }}true{{ end }}{{ end -}}
{{- range include "carryover.flags" $root.Values.extraArgs | fromYamlArray }}{{ if eq (splitList "=" . | first) $flag }}true{{ end }}{{ end -}}
{{- end }}

{{/* `upstream.v2.tls.caFile` as `--upstream-v2-tls-ca-file`. */}}
{{- define "carryover.flag" -}}
--{{ regexReplaceAll "([a-z0-9])([A-Z])" . "${1}-${2}" | replace "." "-" | lower }}
{{- end }}

{{/* (list . "v1"): "true" when that upstream is there, or may be. */}}
{{- define "carryover.hasUpstream" -}}
{{- $root := index . 0 -}}
{{- $path := printf "upstream.%s.url" (index . 1) -}}
{{- if or $root.Values.sandbox.enabled (dig "upstream" (index . 1) "url" "" $root.Values.config) (include "carryover.unseen" $root) (include "carryover.saidOutside" (list $root $path)) }}true{{ end -}}
{{- end }}

{{- define "carryover.faults.names" -}}
{{- $name := include "carryover.fullname" . }}
{{- if and (include "carryover.claimPerPod" .) (gt (len $name) 52) }}
- fullnameOverride: {{ quote $name }} has more than the 52 characters that the name of a StatefulSet may have, whose pods get a label with it; set a shorter one
{{- end }}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) }}
- fullnameOverride: the name {{ quote $name }} is none that a Service may have; set one of lower case letters, digits and "-" that begins with a letter
{{- end }}
{{- range $path := list "commonLabels" "podLabels" }}
{{- range $label := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" }}
{{- if hasKey (index $.Values $path) $label }}
- {{ $path }}: {{ $label }} is what pods are selected by; remove it (nameOverride changes the first of them)
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.upstreams" -}}
{{- if not (include "carryover.hasUpstream" (list . "v2")) }}
- config.upstream.v2.url: is not set; set it to where the platform's v2 API is, or sandbox.enabled=true for a trial without a platform
{{- end }}
{{- range $name := list "v2" "v1" "sts" }}
{{- if regexMatch "^https?://[^/?#]*@" (dig "upstream" $name "url" "" $.Values.config) }}
- config.upstream.{{ $name }}.url: holds credentials, which would lie open in a ConfigMap, and which carryover refuses; leave them out of the URL
{{- end }}
{{- end }}
{{- if .Values.sandbox.enabled }}
{{- range $name := list "v2" "v1" "sts" }}
{{- $path := printf "upstream.%s.url" $name }}
{{- if or (dig "upstream" $name "url" "" $.Values.config) (include "carryover.saidOutside" (list $ $path)) }}
- sandbox.enabled: the sandbox would stand unused beside {{ $path }}; set sandbox.enabled=false, or leave that URL out
{{- end }}
{{- end }}
{{- if include "carryover.configElsewhere" . }}
- sandbox.enabled: a configuration from configFrom has upstreams of its own; set sandbox.enabled=false, or use config instead of configFrom
{{- end }}
{{- end }}
{{- $because := include "carryover.needsMode" . }}
{{- if and $because (not (or (dig "cutover" "mode" "" .Values.config) (include "carryover.saidOutside" (list . "cutover.mode")))) }}
- config.cutover.mode: is not set, and {{ $because }} {{ ternary "may ask" "asks" (eq $because "envFrom") }} for it: it decides for everybody whom no rule takes; set native (they stay on native v1), shadow (the same, and carryover compares) or translate (they move to v2)
{{- end }}
{{- $needs := list }}
{{- if has (dig "cutover" "mode" "" .Values.config) (list "native" "shadow") }}{{ $needs = append $needs "config.cutover.mode" }}{{ end }}
{{- if eq (dig "fallback" "" .Values.config) "native" }}{{ $needs = append $needs "config.fallback" }}{{ end }}
{{- if eq (dig "force" "" .Values.rules) "native" }}{{ $needs = append $needs "rules.force" }}{{ end }}
{{- if eq (dig "fallback" "" .Values.rules) "native" }}{{ $needs = append $needs "rules.fallback" }}{{ end }}
{{- range $at, $rule := dig "rules" list .Values.rules }}
{{- if has $rule.mode (list "native" "shadow") }}{{ $needs = append $needs (printf "rules.rules[%d].mode" $at) }}{{ end }}
{{- end }}
{{- if and $needs (not (include "carryover.hasUpstream" (list . "v1"))) }}
- {{ join ", " $needs }}: asks for native v1, and nobody says where that is; set config.upstream.v1.url
{{- end }}
{{- end }}

{{/* Where the port is set. */}}
{{- define "carryover.grpcPortValue" -}}
{{ ternary "service.grpcPort" "config.listen.grpc.port" (eq (include "carryover.configElsewhere" .) "true") }}
{{- end }}

{{- define "carryover.faults.addresses" -}}
{{- range $side := list "listen" "admin" }}
{{- $host := dig $side "host" "" $.Values.config }}
{{- if and $host (not (has $host (list "0.0.0.0" "::"))) }}
- config.{{ $side }}.host: nobody outside the pod reaches {{ quote $host }}; leave it out, or set "::" for IPv6
{{- end }}
{{- if and (eq $host "0.0.0.0") (include "carryover.hasIPv6" $) }}
- config.{{ $side }}.host: 0.0.0.0 takes no requests by IPv6, which service.ipFamilies or service.ipFamilyPolicy asks for; leave it out, or set "::"
{{- end }}
{{- $port := dig $side "port" 1 $.Values.config }}
{{- if eq (toString $port) "none" }}
- config.{{ $side }}.port: the Services and probes need the port; leave it out, or set one from 1 to 65535
{{- else if eq (int $port) 0 }}
- config.{{ $side }}.port: a free port is one that no Service knows; leave it out, or set one from 1 to 65535
{{- end }}
{{- end }}
{{- with include "carryover.grpcPort" . }}
{{- if has . (list (include "carryover.listenPort" $) (include "carryover.adminPort" $)) }}
- config.listen.grpc.port: {{ . }} is config.listen.port or config.admin.port as well; set another one
{{- end }}
{{- end }}
{{- if eq (dig "listen" "grpc" "port" 1 .Values.config | int) 0 }}
- config.listen.grpc.port: a free port is one that no Service knows; set one from 1 to 65535, or leave it out
{{- end }}
{{- if eq (include "carryover.listenPort" .) (include "carryover.adminPort" .) }}
- config.admin.port: {{ include "carryover.adminPort" . }} is config.listen.port as well; set another one
{{- end }}
{{- end }}

{{- define "carryover.faults.sources" -}}
{{- range $path := list "configFrom" "rulesFrom" }}
{{- with index $.Values $path }}
{{- if and .existingConfigMap .existingSecret }}
- {{ $path }}: has both existingConfigMap and existingSecret; leave one of them out
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.config (include "carryover.configElsewhere" .) }}
- configFrom: the configuration comes from there, so that of config would be ignored; leave config empty, or configFrom
{{- end }}
{{- if and .Values.rules (include "carryover.rulesElsewhere" .) }}
- rulesFrom: the rules come from there, so those of rules would be ignored; leave rules empty, or rulesFrom
{{- end }}
{{- if and (dig "cutover" "rulesFile" "" .Values.config) (or .Values.rules (include "carryover.rulesElsewhere" .)) }}
- config.cutover.rulesFile: names a file of your own, so rules and rulesFrom would be ignored; leave it out, or both of them
{{- end }}
{{- $tokens := list }}
{{- range $name := list "existingSecret" "value" "generate" }}{{ if index $.Values.adminToken $name }}{{ $tokens = append $tokens (printf "adminToken.%s" $name) }}{{ end }}{{ end }}
{{- if dig "admin" "tokenFile" "" .Values.config }}{{ $tokens = append $tokens "config.admin.tokenFile" }}{{ end }}
{{- if gt (len $tokens) 1 }}
- {{ join ", " $tokens }}: each gives the admin token; leave one of them
{{- end }}
{{- with .Values.grpcDescriptors }}
{{- if and .existingConfigMap .existingSecret }}
- grpcDescriptors: has both existingConfigMap and existingSecret; leave one of them out
{{- end }}
{{- end }}
{{- if include "carryover.hasDescriptors" . }}
{{- if dig "grpc" "descriptors" "" .Values.config }}
- grpcDescriptors: config.grpc.descriptors names a file, too; leave one of them out
{{- end }}
{{- if not (include "carryover.grpcPort" .) }}
- grpcDescriptors: nothing uses them without a gRPC port; set {{ include "carryover.grpcPortValue" . }}, or leave them out
{{- end }}
{{- end }}
{{- if and .Values.salt.existingSecret (dig "cutover" "salt" "" .Values.config) }}
- salt.existingSecret: config.cutover.salt is set as well; leave one of them out
{{- end }}
{{- end }}

{{- define "carryover.faults.rules" -}}
{{- $names := list }}
{{- range $at, $rule := dig "rules" list .Values.rules }}
{{- if has $rule.name $names }}
- rules.rules[{{ $at }}].name: {{ $rule.name }} is the name of an earlier rule; give it another one
{{- end }}
{{- $names = append $names $rule.name }}
{{- end }}
{{- $size := include "carryover.rules" . | len }}
{{- if gt $size 262144 }}
- rules: {{ $size }} bytes are more than the 256 KiB that carryover reads; join rules that differ in their clients only
{{- end }}
{{- end }}

{{- define "carryover.faults.tls" -}}
{{- range $name := include "carryover.tlsNames" . | fromJsonArray }}
{{- $section := include "carryover.tlsSection" $name | trim }}
{{- $url := include "carryover.inTlsSection" (list $ $name "url") }}
{{- $tls := index $.Values.tls $name }}
{{- $given := list }}
{{- range $source := list "pem" "existingConfigMap" "existingSecret" }}{{ if index $tls.ca $source }}{{ $given = append $given $source }}{{ end }}{{ end }}
{{- if gt (len $given) 1 }}
- tls.{{ $name }}.ca: has {{ join " and " $given }}; leave one of them
{{- end }}
{{- with $tls.ca.pem }}
{{- if contains "PRIVATE KEY" . }}
- tls.{{ $name }}.ca.pem: holds a private key, which would lie open in a ConfigMap; leave the certificates only
{{- else if not (regexMatch "(?s)-----BEGIN CERTIFICATE-----.+-----END CERTIFICATE-----" .) }}
- tls.{{ $name }}.ca.pem: holds no whole certificate; set the authorities' certificates, with their BEGIN and END lines
{{- end }}
{{- end }}
{{- if and $given (include "carryover.inTlsSection" (list $ $name "caFile")) }}
- tls.{{ $name }}.ca: config.{{ $section }}.tls.caFile names a file, too; leave one of them out
{{- end }}
{{- if and $tls.client.existingSecret (or (include "carryover.inTlsSection" (list $ $name "certFile")) (include "carryover.inTlsSection" (list $ $name "keyFile"))) }}
- tls.{{ $name }}.client: config.{{ $section }}.tls names files, too; leave one of them out
{{- end }}
{{- if or $given $tls.client.existingSecret }}
{{- if eq $name "state" }}
{{- if not (include "carryover.hasStore" $) }}
- tls.state: there is no store; set config.state.url, or leave it out
{{- else if hasPrefix "redis:" $url }}
- tls.state: the store is called without TLS; set a rediss URL in config.state.url, or leave it out
{{- end }}
{{- else if not (include "carryover.hasUpstream" (list $ $name)) }}
- tls.{{ $name }}: there is no such upstream; set config.upstream.{{ $name }}.url, or leave it out
{{- else if or $.Values.sandbox.enabled (hasPrefix "http:" $url) }}
- tls.{{ $name }}: that upstream is called without TLS; set an https URL in config.upstream.{{ $name }}.url, or leave it out
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* What the chart says by a variable, said otherwise by somebody else's variable or flag. */}}
{{- define "carryover.faults.overridden" -}}
{{- $own := include "carryover.ownOptions" . | fromYaml }}
{{- range $path := keys $own (dict "config" 1 "listen.port" 1 "admin.port" 1 "listen.grpc.port" 1 "listen.host" 1 "admin.host" 1) | uniq | sortAlpha }}
{{- if include "carryover.saidOutside" (list $ $path) }}
- extraEnv, extraArgs: {{ include "carryover.variable" $path }} and {{ include "carryover.flag" $path }} are the chart's to set; use {{ include "carryover.valueOf" $path }} instead
{{- end }}
{{- end }}
{{- end }}

{{/* The value to use instead of an option that the chart sets. */}}
{{- define "carryover.valueOf" -}}
{{- if eq . "config" -}}config or configFrom
{{- else if eq . "admin.tokenFile" -}}adminToken
{{- else if eq . "cutover.rulesFile" -}}rules or rulesFrom
{{- else if eq . "cutover.salt" -}}salt.existingSecret
{{- else if eq . "state.dir" -}}state
{{- else if eq . "state.passwordFile" -}}state.password
{{- else if hasPrefix "state.tls." . -}}tls.state
{{- else if eq . "grpc.descriptors" -}}grpcDescriptors
{{- else if contains ".tls." . -}}tls.{{ index (splitList "." .) 1 }}
{{- else -}}config.{{ . }}
{{- end -}}
{{- end }}

{{- define "carryover.faults.stopping" -}}
{{- $request := include "carryover.requestTime" . }}
{{- $list := include "carryover.valueOutside" (list . "lists.maxSeconds") | default (dig "lists" "maxSeconds" (ternary "?" "45s" (eq (include "carryover.unseen" .) "true")) .Values.config | toString) }}
{{- if and (ne $list "?") (ge (include "carryover.milliseconds" $list | int) (include "carryover.milliseconds" $request | int)) }}
- config.lists.maxSeconds: {{ $list }} is not below config.limits.requestSeconds ({{ $request }}); lower it, or set a longer config.limits.requestSeconds
{{- end }}
{{- if and (eq (dig "type" "" .Values.strategy) "Recreate") (hasKey .Values.strategy "rollingUpdate") }}
- strategy.rollingUpdate: says something of RollingUpdate only; leave it out, or set that type
{{- end }}
{{- $longest := include "carryover.requestSeconds" . | int }}
{{- if or (lt $longest 1) (gt $longest 59) }}
- config.limits.requestSeconds: {{ $longest }} seconds; set 1s to 59s
{{- end }}
{{- $least := include "carryover.stopSeconds" . }}
{{- if lt (include "carryover.gracePeriod" . | int) (int $least) }}
- terminationGracePeriodSeconds: {{ include "carryover.gracePeriod" . }} would kill a pod that still serves: it takes preStopSleepSeconds + config.listen.shutdownDelaySeconds + config.limits.requestSeconds + 10 = {{ $least }} seconds; set at least that, or leave it out
{{- end }}
{{- if and .Values.preStopSleepSeconds .Values.lifecycle.preStop }}
- lifecycle.preStop: preStopSleepSeconds makes one, too; set preStopSleepSeconds=0, or leave it out
{{- end }}
{{- end }}

{{/* The root file system of the container is read-only, and the volume of the state must not be filled by a recording. */}}
{{- define "carryover.faults.recording" -}}
{{- with dig "record" "file" "" .Values.config }}
{{- $file := . }}
{{- $found := dict }}
{{- range $.Values.extraVolumeMounts }}
{{- if and (not .readOnly) (hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $file) }}{{ $_ := set $found "mount" .name }}{{ end }}
{{- end }}
{{- if not $found.mount }}
- config.record.file: {{ quote $file }} is on no volume that pods can write; mount one of yours with extraVolumes and extraVolumeMounts, such as an emptyDir with a sizeLimit, and name a file in it
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.state" -}}
{{- with .Values.state }}
{{- if and (include "carryover.keepsState" $) (dig "state" "dir" "" $.Values.config) }}
- config.state.dir: the chart keeps the state in a directory already; leave it out, or set state.enabled=false
{{- end }}
{{- if and .existingClaim .volumeClaim.size }}
- state.volumeClaim.size: state.existingClaim names a claim already; leave one of them out
{{- end }}
{{- if and .volumeClaim.storageClass (not .volumeClaim.size) }}
- state.volumeClaim.storageClass: there is no claim without a size; set state.volumeClaim.size, such as 1Gi, or leave it out
{{- end }}
{{- if not (include "carryover.keepsState" $) }}
{{- if .existingClaim }}
- state.existingClaim: is not used; set state.enabled=true, or leave it out
{{- end }}
{{- if .volumeClaim.size }}
- state.volumeClaim.size: is not used; set state.enabled=true, or leave it out
{{- end }}
{{- end }}
{{- if .existingClaim }}
{{- if or $.Values.autoscaling.enabled (gt (int $.Values.replicaCount) 1) }}
- state.existingClaim: a directory has one writer; set state.volumeClaim.size instead, which gives each pod a claim of its own, or replicaCount=1 and autoscaling.enabled=false
{{- end }}
{{- if and $.Values.strategy (ne (dig "type" "" $.Values.strategy) "Recreate") }}
- strategy.type: with state.existingClaim the old pod must stop first; set Recreate, or leave strategy out
{{- end }}
{{- end }}
{{- if include "carryover.claimPerPod" $ }}
{{- if or (eq (dig "type" "" $.Values.strategy) "Recreate") (hasKey (dig "rollingUpdate" dict $.Values.strategy) "maxSurge") }}
- strategy: state.volumeClaim.size makes a StatefulSet, which has neither Recreate nor maxSurge; set RollingUpdate or OnDelete, or leave strategy out
{{- end }}
{{- end }}
{{- end }}
{{- end }}
