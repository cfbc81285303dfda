{{/* What is in carryover's pods? */}}

{{/*
What a running carryover does not take up: every option of the configuration but clients.names. A change of it makes new pods. There is no
checksum of rules, certificates, the admin token and the password for the store, which are mounted as folders and read again when they change.
*/}}
{{- define "carryover.podAnnotations" -}}
{{- $own := dict -}}
{{- if not (include "carryover.configElsewhere" .) -}}
{{- $config := include "carryover.config" . | fromYaml -}}
{{- $clients := omit (default dict $config.clients) "names" -}}
{{- $config = ternary (mergeOverwrite (omit $config "clients") (dict "clients" $clients)) (omit $config "clients") (gt (len $clients) 0) -}}
{{- $_ := set $own "checksum/config" (toYaml $config | sha256sum) -}}
{{- end -}}
{{- toYaml (mergeOverwrite (dict) .Values.commonAnnotations .Values.podAnnotations $own) -}}
{{- end }}

{{/* What a Deployment and a StatefulSet have in common. */}}
{{- define "carryover.workload" -}}
{{- if not .Values.autoscaling.enabled }}
replicas: {{ .Values.replicaCount }}
{{- end }}
revisionHistoryLimit: {{ .Values.revisionHistoryLimit }}
minReadySeconds: {{ .Values.minReadySeconds }}
selector:
  matchLabels:
    {{- include "carryover.selectorLabels" (list . "proxy") | nindent 4 }}
template:
  metadata:
    labels:
      {{- include "carryover.podLabels" (list . "proxy") | nindent 6 }}
    annotations:
      {{- include "carryover.podAnnotations" . | nindent 6 }}
  spec:
    {{- include "carryover.podSpec" . | nindent 4 }}
{{- end }}

{{/* (list . "proxy"): without the chart's version, so that a new chart alone restarts nothing. */}}
{{- define "carryover.podLabels" -}}
{{- $root := index . 0 -}}
{{- toYaml (mergeOverwrite (dict) $root.Values.commonLabels $root.Values.podLabels (include "carryover.selectorLabels" . | fromYaml)) -}}
{{- end }}

{{- define "carryover.podSpec" -}}
serviceAccountName: {{ include "carryover.serviceAccountName" . }}
automountServiceAccountToken: {{ .Values.serviceAccount.automount }}
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "carryover.gracePeriod" . }}
{{ include "carryover.podPlacement" . }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $selector := dict "labelSelector" (dict "matchLabels" (include "carryover.selectorLabels" (list $ "proxy") | fromYaml)) }}
  - {{ ternary . (mergeOverwrite $selector .) (hasKey . "labelSelector") | toYaml | indent 4 | trim }}
  {{- end }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - {{ include "carryover.container" . | indent 4 | trim }}
  {{- with .Values.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  {{- include "carryover.volumes" . | nindent 2 }}
{{- end }}

{{/* What the sandbox's pod has as well. */}}
{{- define "carryover.podPlacement" -}}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with include "carryover.pullSecrets" . }}
{{ . }}
{{- end }}
{{- range $name := list "nodeSelector" "tolerations" "hostAliases" "dnsConfig" }}
{{- with index $.Values $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- range $name := list "priorityClassName" "runtimeClassName" "schedulerName" "dnsPolicy" }}
{{- with index $.Values $name }}
{{ $name }}: {{ quote . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.container" -}}
name: carryover
image: {{ include "carryover.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  - serve
  {{- with .Values.extraArgs }}
  {{- include "carryover.flags" . | nindent 2 }}
  {{- end }}
env:
  - { name: CARRYOVER_CONFIG, value: /etc/carryover/config/config.yaml }
  {{- range $path, $value := include "carryover.ownOptions" . | fromYaml }}
  - name: {{ include "carryover.variable" $path }}
    {{- if kindIs "map" $value }}
    valueFrom:
      {{- toYaml $value | nindent 6 }}
    {{- else }}
    value: {{ $value | quote }}
    {{- end }}
  {{- end }}
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
ports:
  - { name: http, containerPort: {{ include "carryover.listenPort" . }}, protocol: TCP }
  - { name: admin, containerPort: {{ include "carryover.adminPort" . }}, protocol: TCP }
  {{- with include "carryover.grpcPort" . }}
  - { name: grpc, containerPort: {{ . }}, protocol: TCP }
  {{- end }}
{{- range $name := list "startupProbe" "livenessProbe" "readinessProbe" }}
{{- with index $.Values $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- $lifecycle := deepCopy .Values.lifecycle }}
{{- if .Values.preStopSleepSeconds }}{{ $_ := set $lifecycle "preStop" (dict "sleep" (dict "seconds" (int .Values.preStopSleepSeconds))) }}{{ end }}
{{- with $lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
{{- with .Values.resizePolicy }}
resizePolicy:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  {{- include "carryover.volumeMounts" . | nindent 2 }}
{{- end }}

{{/* Files as folders, each its own: kubelet never changes what is mounted by subPath. */}}
{{- define "carryover.volumeMounts" -}}
- { name: config, mountPath: /etc/carryover/config, readOnly: true }
{{- if include "carryover.givesRules" . }}
- { name: rules, mountPath: /etc/carryover/rules, readOnly: true }
{{- end }}
{{- if include "carryover.hasToken" . }}
- { name: admin-token, mountPath: /etc/carryover/admin, readOnly: true }
{{- end }}
{{- if include "carryover.hasDescriptors" . }}
- { name: grpc-descriptors, mountPath: /etc/carryover/grpc, readOnly: true }
{{- end }}
{{- if include "carryover.hasStorePassword" . }}
- { name: store-password, mountPath: /etc/carryover/store, readOnly: true }
{{- end }}
{{- range $name := include "carryover.tlsNames" . | fromJsonArray }}
{{- if or (include "carryover.hasCa" (list $ $name)) (include "carryover.hasClientCert" (list $ $name)) }}
- { name: tls-{{ $name }}, mountPath: /etc/carryover/tls/{{ $name }}, readOnly: true }
{{- end }}
{{- end }}
{{- if include "carryover.keepsState" . }}
- { name: state, mountPath: /var/lib/carryover }
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "carryover.volumes" -}}
- name: config
  {{- include "carryover.volumeFrom" (list .Values.configFrom (include "carryover.suffixed" (list . "config")) "config.yaml") | nindent 2 }}
{{- if include "carryover.givesRules" . }}
- name: rules
  {{- include "carryover.volumeFrom" (list .Values.rulesFrom (include "carryover.suffixed" (list . "rules")) "rules.yaml") | nindent 2 }}
{{- end }}
{{- if include "carryover.hasToken" . }}
- name: admin-token
  secret:
    secretName: {{ include "carryover.tokenSecret" . }}
    items: [{ key: {{ .Values.adminToken.key | quote }}, path: token }]
{{- end }}
{{- if include "carryover.hasDescriptors" . }}
- name: grpc-descriptors
  {{- include "carryover.volumeFrom" (list .Values.grpcDescriptors "" "api.binpb") | nindent 2 }}
{{- end }}
{{- if include "carryover.hasStorePassword" . }}
- name: store-password
  secret:
    secretName: {{ .Values.state.password.existingSecret | quote }}
    items: [{ key: {{ .Values.state.password.key | quote }}, path: password }]
{{- end }}
{{- range $name := include "carryover.tlsNames" . | fromJsonArray }}
{{- if or (include "carryover.hasCa" (list $ $name)) (include "carryover.hasClientCert" (list $ $name)) }}
- name: tls-{{ $name }}
  {{- include "carryover.tlsVolume" (list $ $name) | nindent 2 }}
{{- end }}
{{- end }}
{{- if and (include "carryover.keepsState" .) (not (include "carryover.claimPerPod" .)) }}
- name: state
  {{- if .Values.state.existingClaim }}
  persistentVolumeClaim: { claimName: {{ .Values.state.existingClaim | quote }} }
  {{- else }}
  emptyDir: { sizeLimit: {{ .Values.state.sizeLimit }} }
  {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* (list .Values.rulesFrom "name of the chart's own" "file"): somebody's ConfigMap or Secret, else the chart's. */}}
{{- define "carryover.volumeFrom" -}}
{{- $from := index . 0 -}}
{{- $file := index . 2 -}}
{{- if $from.existingSecret -}}
secret:
  secretName: {{ $from.existingSecret | quote }}
  items: [{ key: {{ $from.key | quote }}, path: {{ $file }} }]
{{- else -}}
configMap:
  name: {{ default (index . 1) $from.existingConfigMap | quote }}
  items: [{ key: {{ ternary $from.key $file (ne $from.existingConfigMap "") | quote }}, path: {{ $file }} }]
{{- end -}}
{{- end }}

{{/* (list . "v2"): authorities and client certificate of an upstream, or of the store, in one folder. */}}
{{- define "carryover.tlsVolume" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $tls := index $root.Values.tls $name -}}
projected:
  sources:
    {{- with $tls.ca }}
    {{- if .existingSecret }}
    - secret:
        name: {{ .existingSecret | quote }}
        items: [{ key: {{ .key | quote }}, path: ca.crt }]
    {{- else if .existingConfigMap }}
    - configMap:
        name: {{ .existingConfigMap | quote }}
        items: [{ key: {{ .key | quote }}, path: ca.crt }]
    {{- else if .pem }}
    - configMap:
        name: {{ include "carryover.suffixed" (list $root "authorities") }}
        items: [{ key: {{ $name }}.crt, path: ca.crt }]
    {{- end }}
    {{- end }}
    {{- with $tls.client }}
    {{- if .existingSecret }}
    - secret:
        name: {{ .existingSecret | quote }}
        items:
          - { key: {{ .certKey | quote }}, path: tls.crt }
          - { key: {{ .keyKey | quote }}, path: tls.key }
    {{- end }}
    {{- end }}
{{- end }}
