{{/* The Config kai-config. */}}
{{- define "muster.config" -}}
{{- $v := .Values -}}
apiVersion: kai.scheduler/v1
kind: Config
metadata:
  name: kai-config
  {{- if $v.kaiConfig.render }}
  annotations:
    argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true,ServerSideApply=true
  {{- end }}
spec:
  namespace: {{ .Release.Namespace }}
  global:
    replicaCount: {{ $v.operator.replicaCount | default 1 }}
    openshift: {{ if include "muster.openshift" . }}true{{ else }}false{{ end }}
    {{- range $key := list "namespaceLabelSelector" "podLabelSelector" "affinity" "nodeSelector" "tolerations" "daemonsetsTolerations" "securityContext" "vpa" }}
    {{- with index $v.global $key }}
    {{ $key }}: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- end }}
    {{- range $key := list "nodePoolLabelKey" "priorityClassName" "schedulerName" }}
    {{- with index $v.global $key }}
    {{ $key }}: {{ . | quote }}
    {{- end }}
    {{- end }}
    {{- with $v.podgrouper.queueLabelKey }}
    queueLabelKey: {{ . | quote }}
    {{- end }}
    jsonLog: {{ $v.global.jsonLog | default false }}
    requireDefaultPodAntiAffinityTerm: {{ $v.global.requireDefaultPodAntiAffinityTerm | default false }}
    {{- with $v.global.imagePullSecrets }}
    additionalImagePullSecrets:
      {{- range . }}
      - {{ .name }}
      {{- end }}
    {{- end }}
  binder:
    service:
      enabled: {{ $v.binder.enabled }}
      {{- include "muster.configService" (dict "root" . "own" $v.binder) | nindent 6 }}
    metricsPort: {{ $v.binder.ports.metricsPort }}
    resourceReservation:
      namespace: {{ $v.global.resourceReservation.namespace }}
      serviceAccountName: {{ $v.global.resourceReservation.serviceAccount }}
      appLabel: {{ $v.global.resourceReservation.appLabel }}
      {{- with $v.binder.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      image:
        {{- include "muster.configImage" (dict "root" . "own" $v.binder.resourceReservationImage) | nindent 8 }}
      {{- with $v.binder.resourceReservationPodResources }}
      podResources: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- if hasKey $v.binder "cdiEnabled" }}
    cdiEnabled: {{ $v.binder.cdiEnabled }}
    {{- end }}
    {{- with $v.binder.plugins }}
    plugins: {{- toYaml . | nindent 6 }}
    {{- end }}
  podGrouper:
    service:
      enabled: {{ $v.podgrouper.enabled }}
      {{- include "muster.configService" (dict "root" . "own" $v.podgrouper) | nindent 6 }}
    args:
      genericKartaFallback: {{ $v.podgrouper.genericKartaFallback }}
  podGroupController:
    service:
      enabled: {{ $v.podgroupcontroller.enabled }}
      {{- include "muster.configService" (dict "root" . "own" $v.podgroupcontroller) | nindent 6 }}
  queueController:
    service:
      enabled: {{ $v.queuecontroller.enabled }}
      {{- include "muster.configService" (dict "root" . "own" $v.queuecontroller) | nindent 6 }}
  admission:
    service:
      enabled: {{ $v.admission.enabled }}
      {{- include "muster.configService" (dict "root" . "own" $v.admission) | nindent 6 }}
    gpuSharing: {{ $v.global.gpuSharing | default false }}
    blockNvidiaVisibleDevices: {{ $v.global.blockNvidiaVisibleDevices | default false }}
    queueLabelSelector: false
    mutatingWebhookConfigurationName: {{ $v.admission.mutatingWebhookConfigurationName }}
    validatingWebhookConfigurationName: {{ $v.admission.validatingWebhookConfigurationName }}
    webhook:
      port: 443
      targetPort: {{ $v.admission.ports.webhookPort | default 9443 }}
      probePort: {{ $v.admission.ports.probePort | default 8081 }}
      metricsPort: {{ $v.admission.ports.metricsPort | default 8080 }}
    {{- if hasKey $v.admission "gpuFractionRuntimeClassName" }}
    gpuFractionRuntimeClassName: {{ $v.admission.gpuFractionRuntimeClassName | quote }}
    {{- else if hasKey $v.admission "gpuPodRuntimeClassName" }}
    gpuPodRuntimeClassName: {{ $v.admission.gpuPodRuntimeClassName | quote }}
    {{- end }}
  nodeScaleAdjuster:
    service:
      enabled: {{ $v.global.clusterAutoscaling }}
      {{- include "muster.configService" (dict "root" . "own" $v.nodescaleadjuster) | nindent 6 }}
    args:
      nodeScaleNamespace: {{ $v.nodescaleadjuster.scalingPodNamespace }}
      scalingPodImage:
        {{- include "muster.configImage" (dict "root" . "own" $v.nodescaleadjuster.scalingPodImage) | nindent 8 }}
  scheduler:
    service:
      enabled: {{ $v.scheduler.enabled }}
      {{- include "muster.configService" (dict "root" . "own" $v.scheduler) | nindent 6 }}
    schedulerService:
      port: {{ ($v.scheduler.ports).metricsPort | default 8080 }}
      targetPort: {{ ($v.scheduler.ports).metricsPort | default 8080 }}
  prometheus:
    enabled: {{ $v.prometheus.enabled }}
    {{- with $v.prometheus.externalPrometheusUrl }}
    externalPrometheusUrl: {{ . | quote }}
    {{- end }}
  numaPlacementExporter:
    service:
      {{- if not (kindIs "invalid" $v.numaPlacementExporter.enabled) }}
      enabled: {{ $v.numaPlacementExporter.enabled }}
      {{- end }}
      {{- include "muster.configService" (dict "root" . "own" $v.numaPlacementExporter) | nindent 6 }}
    {{- range $key := list "nodeSelector" "tolerations" }}
    {{- with index $v.numaPlacementExporter $key }}
    {{ $key }}: {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- end }}
    {{- range $key := list "pollInterval" "driftResyncInterval" "podResourcesHostPath" "podResourcesSocket" "sysfsHostPath" }}
    {{- with index $v.numaPlacementExporter $key }}
    {{ $key }}: {{ . | quote }}
    {{- end }}
    {{- end }}
{{- end -}}
