{{/* The store that replicas share (config.state.url): its password, its port, and values that contradict each other. */}}

{{/* "true" when there is a store, or may be. */}}
{{- define "carryover.hasStore" -}}
{{- if or (dig "state" "url" "" .Values.config) (include "carryover.unseen" .) (include "carryover.saidOutside" (list . "state.url")) }}true{{ end -}}
{{- end }}

{{/* "true" when a Secret has the password for it. */}}
{{- define "carryover.hasStorePassword" -}}
{{- with .Values.state.password }}{{ if .existingSecret }}true{{ end }}{{ end -}}
{{- end }}

{{/* The ports of the store, as a list in JSON. */}}
{{- define "carryover.storePorts" -}}
{{- $ports := .Values.networkPolicy.storePorts -}}
{{- with dig "state" "url" "" .Values.config -}}
{{- if not $ports -}}
{{- $given := regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" -}}
{{- $ports = list (default 6379 $given | int) -}}
{{- end -}}
{{- end -}}
{{- $ports | uniq | toJson -}}
{{- end }}

{{- define "carryover.faults.store" -}}
{{- $url := dig "state" "url" "" .Values.config }}
{{- if regexMatch "^[a-z]+://[^/?#]*@" $url }}
- config.state.url: contains credentials, which a ConfigMap would expose, and which carryover refuses; set config.state.username and state.password.existingSecret instead
{{- end }}
{{- $given := or (include "carryover.hasStorePassword" .) (dig "state" "passwordFile" "" .Values.config) (include "carryover.saidOutside" (list . "state.passwordFile")) }}
{{- if and (dig "state" "username" "" .Values.config) (not $given) (not .Values.envFrom) }}
- config.state.username: has no effect without a password; set state.password.existingSecret, or leave it out
{{- end }}
{{- if include "carryover.hasStorePassword" . }}
{{- if not (include "carryover.hasStore" .) }}
- state.password.existingSecret: there is no store to use it for; set config.state.url, or leave it out
{{- end }}
{{- if dig "state" "passwordFile" "" .Values.config }}
- state.password.existingSecret: config.state.passwordFile names a file, too; leave one of them out
{{- end }}
{{- end }}
{{- $unseen := and (not $url) (or (include "carryover.hasStorePassword" .) (include "carryover.saidOutside" (list . "state.url")) (include "carryover.hasCa" (list . "state")) (include "carryover.hasClientCert" (list . "state"))) }}
{{- with .Values.networkPolicy }}
{{- if and .enabled $unseen (not .storePorts) }}
- networkPolicy.storePorts: the chart does not see the port of a state.url in configFrom, envFrom, extraEnv or extraArgs; set it, such as [6379]
{{- end }}
{{- if and .store (not .storePorts) (not $url) }}
- networkPolicy.store: the chart sees no store; set config.state.url or networkPolicy.storePorts, or leave it out
{{- end }}
{{- end }}
{{- end }}
