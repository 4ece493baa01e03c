{{- define "lodestone.labels" -}}
app.kubernetes.io/name: lodestone
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
