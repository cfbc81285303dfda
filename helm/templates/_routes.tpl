{{/* Which paths lead where? */}}

{{/* What docs/ingress.md found that ingress-nginx needs: long lists as they come, nothing sent twice, carryover judges sizes, time above its own. */}}
{{- define "carryover.nginxAnnotations" -}}
nginx.ingress.kubernetes.io/proxy-buffering: "off"
nginx.ingress.kubernetes.io/proxy-next-upstream: "off"
nginx.ingress.kubernetes.io/proxy-body-size: "0"
nginx.ingress.kubernetes.io/proxy-read-timeout: "60"
nginx.ingress.kubernetes.io/proxy-send-timeout: "60"
{{- end }}

{{/* (list "/iam/v1" "Prefix" "carryover" 8080): one path of an Ingress. */}}
{{- define "carryover.ingressPath" -}}
- path: {{ index . 0 | quote }}
  pathType: {{ index . 1 }}
  backend: { service: { name: {{ index . 2 | quote }}, port: { number: {{ index . 3 | int }} } } }
{{- end }}

{{/* The paths of one host. */}}
{{- define "carryover.ingressPaths" -}}
{{- $own := include "carryover.fullname" . -}}
{{- range $path := concat (include "carryover.paths" (list . "v1") | fromJsonArray) (include "carryover.v2Paths" . | fromJsonArray) }}
{{ include "carryover.ingressPath" (list $path "Prefix" $own $.Values.service.port) }}
{{- end }}
{{- with include "carryover.exchangePath" . }}
{{ include "carryover.ingressPath" (list . "Exact" $own $.Values.service.port) }}
{{ include "carryover.ingressPath" (list (printf "%s_refresh_token" .) "Exact" $own $.Values.service.port) }}
{{- end }}
{{- with .Values.ingress.extraPaths }}
{{ toYaml . }}
{{- end }}
{{- with .Values.ingress.platform }}
{{- if .name }}
{{ include "carryover.ingressPath" (list "/" "Prefix" .name .port) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A backend of an HTTPRoute from {name, namespace, port}, with weight where (list backend weight) has one. */}}
{{- define "carryover.routeBackend" -}}
{{- $backend := index . 0 -}}
- name: {{ $backend.name | quote }}
  {{- with $backend.namespace }}
  namespace: {{ quote . }}
  {{- end }}
  port: {{ int $backend.port }}
  {{- if gt (len .) 1 }}
  weight: {{ index . 1 | int }}
  {{- end }}
{{- end }}

{{/* (list . "always"): v1's paths as matches, with the canary header where a value is given. */}}
{{- define "carryover.routeMatches" -}}
{{- $root := index . 0 -}}
{{- $value := index . 1 -}}
{{- range $path := include "carryover.paths" (list $root "v1") | fromJsonArray }}
- path: { type: PathPrefix, value: {{ quote $path }} }
  {{- if $value }}
  headers: [{ name: {{ quote $root.Values.httpRoute.canaryHeader }}, value: {{ quote $value }} }]
  {{- end }}
{{- end }}
{{- end }}

{{/* What else carryover serves. */}}
{{- define "carryover.routeOtherMatches" -}}
{{- range include "carryover.v2Paths" . | fromJsonArray }}
- path: { type: PathPrefix, value: {{ quote . }} }
{{- end }}
{{- with include "carryover.exchangePath" . }}
- path: { type: Exact, value: {{ quote . }} }
- path: { type: Exact, value: {{ printf "%s_refresh_token" . | quote }} }
{{- end }}
{{- end }}

{{/* (list . $route.grpc): where gRPC goes, as {name, namespace, port}: what was said, else carryover's own port. Nothing without either. */}}
{{- define "carryover.grpcBackend" -}}
{{- $root := index . 0 -}}
{{- $said := index . 1 -}}
{{- if $said.name -}}
{{- toYaml (pick $said "name" "namespace" "port") -}}
{{- else -}}
{{- with include "carryover.serviceGrpcPort" $root -}}
{{- dict "name" (include "carryover.fullname" $root) "port" (int .) | toYaml -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "carryover.routeTimeout" -}}
{{- with .Values.httpRoute.timeout -}}
timeouts: { request: {{ quote . }} }
{{- end -}}
{{- end }}

{{- define "carryover.routeFilters" -}}
{{- with .Values.httpRoute.filters -}}
filters:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end }}
