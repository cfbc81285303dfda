{{/* How are objects named, labelled and selected? */}}

{{- define "carryover.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* At most 63 characters, as the names of Services are. */}}
{{- define "carryover.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "carryover.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "carryover.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/*
(list . "sandbox"): the full name with something behind it. Where both are longer than 63 characters it is cut, and a hash keeps it
from being another release's.
*/}}
{{- define "carryover.suffixed" -}}
{{- $name := include "carryover.fullname" (index . 0) -}}
{{- $suffix := index . 1 -}}
{{- $room := int (sub 62 (len $suffix)) -}}
{{- if gt (len $name) $room -}}
{{- $name = printf "%s-%s" (trunc (sub $room 9 | int) $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- end -}}
{{- printf "%s-%s" $name $suffix -}}
{{- end }}

{{- define "carryover.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end }}

{{/* (list . "monitoring" "carryover"): a name that releases of other namespaces do not have, for what lies in a shared one. */}}
{{- define "carryover.sharedName" -}}
{{- $root := index . 0 -}}
{{- $own := include "carryover.namespace" $root -}}
{{- if or (not (index . 1)) (eq (index . 1) $own) -}}
{{- index . 2 -}}
{{- else -}}
{{- printf "%s-%s" $own (index . 2) -}}
{{- end -}}
{{- end }}

{{- define "carryover.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "carryover.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{/* (list . "proxy"): what a component's pods are selected by. Never changes within a release: a Deployment cannot change it. */}}
{{- define "carryover.selectorLabels" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "carryover.name" $root | quote }}
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* (list . "proxy"): labels of every object of a component. */}}
{{- define "carryover.labels" -}}
{{- $root := index . 0 -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/managed-by" $root.Release.Service
  "app.kubernetes.io/part-of" (include "carryover.name" $root) -}}
{{- with $root.Chart.AppVersion }}{{ $_ := set $own "app.kubernetes.io/version" . }}{{ end -}}
{{- $selector := include "carryover.selectorLabels" . | fromYaml -}}
{{- toYaml (mergeOverwrite (dict) $root.Values.commonLabels $own $selector) -}}
{{- end }}

{{/* (list . "proxy" (dict "labels" … "annotations" …)): labels and annotations, as members of `metadata`. */}}
{{- define "carryover.metadata" -}}
{{- $root := index . 0 -}}
{{- $more := index . 2 -}}
labels:
  {{- mergeOverwrite (dict) (default dict $more.labels) (include "carryover.labels" (list $root (index . 1)) | fromYaml) | toYaml | nindent 2 }}
{{- with mergeOverwrite (dict) $root.Values.commonAnnotations (default dict $more.annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "carryover.image" -}}
{{- $image := .Values.image -}}
{{- $registry := default $image.registry .Values.global.imageRegistry -}}
{{- $name := ternary (printf "%s/%s" $registry $image.repository) $image.repository (ne $registry "") -}}
{{- $tag := default .Chart.AppVersion $image.tag -}}
{{- ternary (printf "%s:%s@%s" $name $tag $image.digest) (printf "%s:%s" $name $tag) (ne $image.digest "") -}}
{{- end }}

{{- define "carryover.pullSecrets" -}}
{{- $all := list -}}
{{- range concat .Values.global.imagePullSecrets .Values.image.pullSecrets -}}
{{- $all = append $all (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- with uniq $all -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end }}
