{{- define "isola.labels" -}}
app.kubernetes.io/name: isola
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: server
{{- end }}

{{- define "isola.selector" -}}
app.kubernetes.io/name: isola
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "isola.domains" -}}
{{- $service := printf "%s.%s" .Release.Name .Release.Namespace -}}
{{- $names := list .Release.Name $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) -}}
{{- concat $names .Values.domains | join "," -}}
{{- end }}
