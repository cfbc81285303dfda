{{/* What do the Prometheus Operator's objects say? */}}

{{/* A monitor's members that both kinds have. */}}
{{- define "carryover.monitorSpec" -}}
{{- with .jobLabel }}
jobLabel: {{ quote . }}
{{- end }}
{{- with .podTargetLabels }}
podTargetLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .sampleLimit }}
sampleLimit: {{ int . }}
{{- end }}
{{- end }}

{{/* An endpoint's. */}}
{{- define "carryover.monitorEndpoint" -}}
port: admin
path: /metrics
scheme: http
{{- with .interval }}
interval: {{ . }}
{{- end }}
{{- with .scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- if .honorLabels }}
honorLabels: true
{{- end }}
{{- with .relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The chart's groups of rules with what the values change: text of the rules' own (`{{ $labels }}`) stays as it is. */}}
{{- define "carryover.alertGroups" -}}
{{- $values := .Values.prometheusRule -}}
{{- $groups := list -}}
{{- range $group := (.Files.Get "files/rules/carryover.yaml" | fromYaml).groups -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- if not (and $rule.alert (has $rule.alert $values.disabled)) -}}
{{- if $rule.alert -}}
{{- $annotations := dict -}}
{{- with $values.runbookUrl -}}
{{- $_ := set $annotations "runbook_url" (printf "%s#%s" . (regexReplaceAll "^[^#]*#" $rule.annotations.runbook "")) -}}
{{- end -}}
{{- $more := dict "labels" $values.alertLabels "annotations" (mergeOverwrite $annotations $values.alertAnnotations) -}}
{{- $rule = mergeOverwrite (deepCopy $rule) $more (get $values.overrides $rule.alert | default dict) -}}
{{- end -}}
{{- $rules = append $rules $rule -}}
{{- end -}}
{{- end -}}
{{- if $rules }}{{ $groups = append $groups (mergeOverwrite (deepCopy $group) (dict "rules" $rules)) }}{{ end -}}
{{- end -}}
{{- toYaml (concat $groups $values.extraGroups) -}}
{{- end }}

{{/* The names of all alerts, as a list in JSON. */}}
{{- define "carryover.alertNames" -}}
{{- $names := list -}}
{{- range (.Files.Get "files/rules/carryover.yaml" | fromYaml).groups -}}
{{- range .rules -}}{{- with .alert }}{{ $names = append $names . }}{{ end -}}{{- end -}}
{{- end -}}
{{- toJson (uniq $names) -}}
{{- end }}
