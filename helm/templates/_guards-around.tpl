{{/* Which values of what stands around the pods contradict each other? */}}

{{- define "carryover.faults.volumes" -}}
{{- $names := list }}
{{- if include "carryover.claimPerPod" . }}{{ $names = append $names "state" }}{{ end }}
{{- range include "carryover.volumes" . | fromYamlArray }}
{{- if has .name $names }}
- extraVolumes: there are two volumes {{ quote .name }}; give yours another name
{{- end }}
{{- $names = append $names .name }}
{{- end }}
{{- $paths := list }}
{{- range include "carryover.volumeMounts" . | fromYamlArray }}
{{- if has .mountPath $paths }}
- extraVolumeMounts: two volumes are mounted at {{ .mountPath }}; mount yours elsewhere
{{- end }}
{{- $paths = append $paths .mountPath }}
{{- if not (has .name $names) }}
- extraVolumeMounts: there is no volume {{ quote .name }}; add it to extraVolumes
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.scaling" -}}
{{- with .Values.autoscaling }}
{{- if .enabled }}
{{- if gt (int .minReplicas) (int .maxReplicas) }}
- autoscaling.minReplicas: {{ .minReplicas }} is above autoscaling.maxReplicas ({{ .maxReplicas }}); set at most that
{{- end }}
{{- if not (or .targetCPUUtilizationPercentage .targetMemoryUtilizationPercentage .metrics) }}
- autoscaling: there is nothing to scale by; set targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage or metrics
{{- end }}
{{- range $resource, $percent := dict "cpu" .targetCPUUtilizationPercentage "memory" .targetMemoryUtilizationPercentage }}
{{- if and $percent (not (dig "requests" $resource "" (default dict $.Values.resources))) (not (dig "limits" $resource "" (default dict $.Values.resources))) }}
- resources.requests.{{ $resource }}: autoscaling counts percents of it, and it is not set; set it, or scale by something else
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.podDisruptionBudget }}
{{- if .enabled }}
{{- $replicas := include "carryover.replicas" $ | int }}
{{- if not (or (kindIs "invalid" .minAvailable) (kindIs "invalid" .maxUnavailable)) }}
- podDisruptionBudget: has both minAvailable and maxUnavailable; leave one of them out
{{- end }}
{{- if regexMatch "^0+%?$" (toString .maxUnavailable) }}
- podDisruptionBudget.maxUnavailable: {{ .maxUnavailable }} keeps every node from being drained; set at least 1
{{- end }}
{{- $stay := int (trimSuffix "%" (toString .minAvailable)) }}
{{- /* Kubernetes rounds a share up. */ -}}
{{- if hasSuffix "%" (toString .minAvailable) }}{{ $stay = div (add (mul $stay $replicas) 99) 100 | int }}{{ end }}
{{- if and (gt $replicas 1) (ge $stay $replicas) }}
- podDisruptionBudget.minAvailable: {{ .minAvailable }} of {{ $replicas }} pods keeps every node from being drained; set less
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* One long list, or the start of a process, exceeds a small request: it would scale to the most pods without need. */}}
{{- define "carryover.faults.request" -}}
{{- with .Values.autoscaling }}
{{- $requested := dig "requests" "cpu" (dig "limits" "cpu" "" (default dict $.Values.resources)) (default dict $.Values.resources) }}
{{- if and .enabled .targetCPUUtilizationPercentage $requested }}
{{- $percent := int .targetCPUUtilizationPercentage }}
{{- if lt (mul $percent (include "carryover.millicores" $requested | int)) (mul 70 300) }}
- resources.requests.cpu: autoscaling adds pods above {{ $percent }} % of {{ $requested }} of a core, which one long list takes; set 500m (at least 300m), or leave autoscaling.targetCPUUtilizationPercentage out
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.services" -}}
{{- with .Values.service }}
{{- if and (eq .type "ClusterIP") (eq (int .port) (int .adminPort)) }}
- service.adminPort: {{ int .adminPort }} is service.port as well; set another one, or 0 for none
{{- end }}
{{- if and .grpcPort (not (include "carryover.grpcPort" $)) }}
- service.grpcPort: there is no gRPC port behind it; set config.listen.grpc.port, or leave it out
{{- end }}
{{- with include "carryover.serviceGrpcPort" $ }}
{{- $taken := list ($.Values.service.port | int) }}
{{- if eq $.Values.service.type "ClusterIP" }}{{ $taken = append $taken ($.Values.service.adminPort | int) }}{{ end }}
{{- if has (int .) $taken }}
- service.grpcPort: {{ . }} is service.port or service.adminPort as well; set another one
{{- end }}
{{- end }}
{{- if and (eq .type "ClusterIP") (or .nodePort .externalTrafficPolicy) }}
- service.type: nodePort and externalTrafficPolicy say something of NodePort and LoadBalancer only; set such a type, or leave them out
{{- end }}
{{- if and (ne .type "LoadBalancer") (or .loadBalancerClass .loadBalancerSourceRanges) }}
- service.type: loadBalancerClass and loadBalancerSourceRanges say something of LoadBalancer only; set that type, or leave them out
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.routes" -}}
{{- if and .Values.routes.basePath (dig "listen" "basePath" "" .Values.config) }}
- routes.basePath: config.listen.basePath says it already; leave one of them out
{{- end }}
{{- if and .Values.routes.tokenExchange (not (include "carryover.hasUpstream" (list . "sts"))) }}
- routes.tokenExchange: carryover does not know where tokens are exchanged; set config.upstream.sts.url, or leave it out
{{- end }}
{{- with .Values.ingress }}
{{- if .enabled }}
{{- if and .grpc.hosts (not (include "carryover.grpcBackend" (list $ .grpc))) }}
- ingress.grpc.name: is not set, and carryover has no gRPC port; set the platform's gRPC Service, {{ include "carryover.grpcPortValue" $ }}, or leave ingress.grpc.hosts out
{{- end }}
{{- range .grpc.hosts }}
{{- if has . $.Values.ingress.hosts }}
- ingress.grpc.hosts: {{ . }} is in ingress.hosts as well, and an Ingress cannot tell gRPC from the rest; give gRPC a host of its own
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.httpRoute }}
{{- if .enabled }}
{{- if not .parentRefs }}
- httpRoute.parentRefs: is empty, so no Gateway serves the route; set the Gateway, as [{name: gateway, namespace: infra}]
{{- end }}
{{- if and (not .platform.name) (or .canaryHeader (lt (int .weight) 100)) }}
- httpRoute.platform.name: weight and canaryHeader send requests there, and it is not set; set the platform's Service
{{- end }}
{{- $parts := list -}}
{{- range regexFindAll "[0-9]+(h|ms|m|s)" .timeout -1 }}{{ $parts = append $parts (include "carryover.seconds" . | int) }}{{ end }}
{{- $sum := 0 -}}
{{- range $parts }}{{ $sum = add $sum . }}{{ end }}
{{- if and .timeout (gt $sum 0) (le $sum (include "carryover.requestSeconds" $ | int)) }}
- httpRoute.timeout: {{ .timeout }} is not above config.limits.requestSeconds ({{ include "carryover.requestSeconds" $ }}s), so the Gateway would answer before carryover; set more, or lower that
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.grpcRoute" -}}
{{- with .Values.grpcRoute }}
{{- if .enabled }}
{{- $parents := default $.Values.httpRoute.parentRefs .parentRefs }}
{{- if not $parents }}
- grpcRoute.parentRefs: is empty, so no Gateway serves the route; set the Gateway, as [{name: gateway, namespace: infra}]
{{- end }}
{{- if not (include "carryover.grpcPort" $) }}
- grpcRoute.enabled: carryover has no gRPC port; set {{ include "carryover.grpcPortValue" $ }}, or leave it out
{{- end }}
{{- $http := $.Values.httpRoute }}
{{- if and $http.enabled (eq (toJson $parents) (toJson $http.parentRefs)) }}
{{- $shared := not (and .hostnames $http.hostnames) }}
{{- range .hostnames }}{{ if has . $http.hostnames }}{{ $shared = true }}{{ end }}{{ end }}
{{- if $shared }}
- grpcRoute.hostnames: the Gateway accepts only one of an HTTPRoute and a GRPCRoute for a host; give gRPC a host of its own, or set grpcRoute.enabled=false: the HTTPRoute routes gRPC too
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.network" -}}
{{- with .Values.networkPolicy }}
{{- if and .enabled (not .upstreamPorts) (include "carryover.unseen" $) }}
- networkPolicy.upstreamPorts: the chart does not see the upstreams of configFrom and envFrom; set their ports, such as [443]
{{- end }}
{{- $outside := list }}
{{- range $name := list "v2" "v1" "sts" }}
{{- $path := printf "upstream.%s.url" $name }}
{{- if include "carryover.saidOutside" (list $ $path) }}{{ $outside = append $outside $path }}{{ end }}
{{- end }}
{{- if and .enabled (not .upstreamPorts) $outside }}
- networkPolicy.upstreamPorts: the chart does not see the port of {{ join ", " $outside }} in extraEnv or extraArgs; set the ports of all upstreams, such as [443], or give the URLs in config
{{- end }}
{{- end }}
{{- end }}

{{- define "carryover.faults.monitoring" -}}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
- podMonitor.enabled: together with serviceMonitor.enabled every pod would be counted twice; leave one of them
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.adminService.enabled) }}
- serviceMonitor.enabled: finds pods through the admin Service; set adminService.enabled=true, or use podMonitor
{{- end }}
{{- with .Values.prometheusRule }}
{{- if .enabled }}
{{- $known := include "carryover.alertNames" $ | fromJsonArray }}
{{- range concat .disabled (keys .overrides) }}
{{- if not (has . $known) }}
- prometheusRule: there is no alert {{ quote . }} to disable or override; the alerts are {{ join ", " $known }}
{{- end }}
{{- end }}
{{- range .disabled }}
{{- if hasKey $.Values.prometheusRule.overrides . }}
- prometheusRule.overrides.{{ . }}: is in prometheusRule.disabled as well; leave one of them out
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.dashboard.enabled (not .Values.prometheusRule.enabled) (not .Values.dashboard.rulesElsewhere) }}
- dashboard.enabled: the dashboards query recording rules that nothing loads; set prometheusRule.enabled=true, or dashboard.rulesElsewhere=true if another release or your Prometheus loads them
{{- end }}
{{- if hasKey .Values.dashboard.labels .Values.dashboard.label }}
- dashboard.labels: {{ .Values.dashboard.label }} is dashboard.label as well; set dashboard.labelValue instead
{{- end }}
{{- end }}

{{/* (list . kind name key path): a fault when the cluster has no such object, or the object no such key. */}}
{{- define "carryover.faults.missing" -}}
{{- $kind := index . 1 }}
{{- $name := index . 2 }}
{{- $key := index . 3 }}
{{- if $name }}
{{- $namespace := include "carryover.namespace" (index . 0) }}
{{- $found := lookup "v1" $kind $namespace $name }}
{{- if not $found }}
- {{ index . 4 }}: there is no {{ $kind }} {{ $name }} in namespace {{ $namespace }}; make it first, or correct the name
{{- else if not (hasKey (mergeOverwrite (dict) (default dict $found.data) (default dict $found.binaryData)) $key) }}
- {{ index . 4 }}: the {{ $kind }} {{ $name }} has no key {{ $key }}, but {{ keys (default dict $found.data) | sortAlpha | join ", " }}; set the right key
{{- end }}
{{- end }}
{{- end }}

{{/* Without a cluster nothing can be looked up: then the namespace itself is not found either. */}}
{{- define "carryover.faults.existing" -}}
{{- if and .Values.checkExisting (lookup "v1" "Namespace" "" (include "carryover.namespace" .)) }}
{{- range $path := list "configFrom" "rulesFrom" "grpcDescriptors" }}
{{- with index $.Values $path }}
{{- include "carryover.faults.missing" (list $ "ConfigMap" .existingConfigMap .key (printf "%s.existingConfigMap" $path)) }}
{{- include "carryover.faults.missing" (list $ "Secret" .existingSecret .key (printf "%s.existingSecret" $path)) }}
{{- end }}
{{- end }}
{{- range $path := list "adminToken" "salt" }}
{{- with index $.Values $path }}
{{- include "carryover.faults.missing" (list $ "Secret" .existingSecret .key (printf "%s.existingSecret" $path)) }}
{{- end }}
{{- end }}
{{- with .Values.state.password }}
{{- include "carryover.faults.missing" (list $ "Secret" .existingSecret .key "state.password.existingSecret") }}
{{- end }}
{{- range $name := include "carryover.tlsNames" . | fromJsonArray }}
{{- with index $.Values.tls $name }}
{{- include "carryover.faults.missing" (list $ "ConfigMap" .ca.existingConfigMap .ca.key (printf "tls.%s.ca.existingConfigMap" $name)) }}
{{- include "carryover.faults.missing" (list $ "Secret" .ca.existingSecret .ca.key (printf "tls.%s.ca.existingSecret" $name)) }}
{{- include "carryover.faults.missing" (list $ "Secret" .client.existingSecret .client.certKey (printf "tls.%s.client.existingSecret" $name)) }}
{{- include "carryover.faults.missing" (list $ "Secret" .client.existingSecret .client.keyKey (printf "tls.%s.client.existingSecret" $name)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
