{{/* Not empty on OpenShift. */}}
{{- define "muster.openshift" -}}
{{- if or .Values.openshift (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "clusterversions.config.openshift.io") -}}
true
{{- end -}}
{{- end -}}

{{/* The tag of an image: its own, the chart's image, global.tag, the chart's version. */}}
{{- define "muster.tag" -}}
{{- $tag := .tag | default (.root.Values.image | default dict).tag | default .root.Values.global.tag | default .root.Chart.AppVersion -}}
{{- if or .root.Values.global.fips (eq (toString .root.Values.global.fipsMode) "on") -}}{{- $tag = printf "%s-fips" $tag -}}{{- end -}}
{{- $tag -}}
{{- end -}}

{{/* "registry/name:tag"; .own is the section's image, of which the name is not used: one image holds all services. */}}
{{- define "muster.image" -}}
{{- $own := .own | default dict -}}
{{- printf "%s/%s:%s" .root.Values.global.registry (.root.Values.image).name (include "muster.tag" (dict "root" .root "tag" $own.tag)) -}}
{{- end -}}

{{/* An image as the Config has it. */}}
{{- define "muster.configImage" -}}
{{- $own := .own | default dict -}}
name: {{ (.root.Values.image).name }}
repository: {{ .root.Values.global.registry }}
tag: {{ include "muster.tag" (dict "root" .root "tag" $own.tag) | quote }}
pullPolicy: {{ $own.pullPolicy | default .root.Values.global.imagePullPolicy }}
{{- end -}}

{{/* The member `service` of a section of the Config, without whether it is enabled. */}}
{{- define "muster.configService" -}}
{{- $own := .own | default dict -}}
image:
  {{- include "muster.configImage" (dict "root" .root "own" $own.image) | nindent 2 }}
{{- with $own.resources }}
resources: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.podDisruptionBudget }}
podDisruptionBudget: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The container's security context: that of the values over what the profile "restricted" asks for. */}}
{{- define "muster.securityContext" -}}
{{- if not (include "muster.openshift" .) -}}
{{- $defaults := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "runAsNonRoot" true "runAsUser" 10000 "capabilities" (dict "drop" (list "ALL")) "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- toYaml (merge (deepCopy (.Values.global.securityContext | default dict)) $defaults) -}}
{{- end -}}
{{- end -}}

{{/* What pods of the release have in common. */}}
{{- define "muster.podSettings" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.global.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.global.podSecurityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Labels of the objects of the release. */}}
{{- define "muster.labels" -}}
app.kubernetes.io/part-of: muster
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{/* Not empty when a cluster-wide object that is kept on uninstall may be written: it is not there, or this release's. */}}
{{- define "muster.mayOwn" -}}
{{- $found := lookup .version .kind "" .name -}}
{{- if or (not $found) (eq (dig "metadata" "annotations" "meta.helm.sh/release-name" "" $found) .root.Release.Name) -}}
true
{{- end -}}
{{- end -}}
