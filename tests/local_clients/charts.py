"""Small charts, written into a folder for a test."""

CHART = "apiVersion: v2\nname: {name}\nversion: {version}\nappVersion: \"1\"\nkubeVersion: \">=1.30.0-0\"\n"

WEB = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations: {config: {{ .Values.text | quote }}}
    spec:
      terminationGracePeriodSeconds: 1
{{- if .Values.nodeSelector }}
      nodeSelector: {{ toJson .Values.nodeSelector }}
{{- end }}
      containers:
      - name: main
        image: nginx:{{ .Values.tag }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-web
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80}]
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  text: {{ .Values.text | quote }}
  seen: {{ len ((lookup "v1" "Namespace" "" "").items | default list) | quote }}
  has-batch: {{ .Capabilities.APIVersions.Has "batch/v1/CronJob" | quote }}
"""

VALUES = "replicas: 2\ntag: \"1\"\ntext: one\nnodeSelector: {}\nhookExit: \"0\"\n"

HOOKS = """apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-before
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  backoffLimit: 0
  template:
    metadata:
      annotations:
        muster.scheduler/pretend-run-time: 100ms
        muster.scheduler/pretend-exit-code: {{ .Values.hookExit | quote }}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: x}]
---
apiVersion: v1
kind: Pod
metadata:
  name: {{ .Release.Name }}-check
  annotations:
    helm.sh/hook: test
    muster.scheduler/pretend-run-time: 100ms
spec:
  restartPolicy: Never
  containers: [{name: main, image: x}]
"""

CRD = """apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.charts.example.com
spec:
  group: charts.example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, default: 3}}}
"""

WIDGET = """apiVersion: charts.example.com/v1
kind: Widget
metadata:
  name: {{ .Release.Name }}
spec: {}
"""


def write(folder, name, version="1.0.0", **files):
    """A chart with the named templates; `crds` goes where Helm looks for definitions. Returns its path."""
    chart = folder / name
    (chart / "templates").mkdir(parents=True, exist_ok=True)
    (chart / "Chart.yaml").write_text(CHART.format(name=name, version=version))
    (chart / "values.yaml").write_text(VALUES)
    for title, text in files.items():
        place = chart / ("crds" if title == "crds" else "templates")
        place.mkdir(exist_ok=True)
        (place / f"{title}.yaml").write_text(text)
    return chart
