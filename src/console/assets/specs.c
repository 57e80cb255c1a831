/* SPDX-License-Identifier: Apache-2.0 */

/* What the specs of assets hold, as the document of Run:ai's REST describes them. */
#include <stddef.h>

#include "console/assets/kinds.h"
#include "console/assets/rows.h"

const struct field asset_no_fields[] = {END};

const struct field supported_types_fields[] = {
    BOOL("inference"),
    BOOL("workspace"),
    BOOL("training"),
    BOOL("distributed"),
    OPTION("distFramework", "MPI", "PyTorch", "TF", "XGBoost"),
    END,
};

/* --- compute resources --- */

static const struct field extended_resource_fields[] = {
    TEXT("resource"),
    QUANTITY("quantity"),
    BOOL("exclude"),
    END,
};

const struct field compute_fields[] = {
    NUMBER("cpuCoreLimit"),
    NUMBER("cpuCoreRequest"),
    QUANTITY("cpuMemoryLimit"),
    QUANTITY("cpuMemoryRequest"),
    LIST("extendedResources", extended_resource_fields),
    WHOLE("gpuDevicesRequest", 0, COUNT_MAX),
    QUANTITY("gpuMemoryLimit"),
    QUANTITY("gpuMemoryRequest"),
    NUMBER("gpuPortionLimit"),
    NUMBER("gpuPortionRequest"),
    OPTION("gpuRequestType", "portion", "memory"),
    BOOL("largeShmRequest"),
    END,
};

/* --- environments --- */

static const struct field variable_credential_fields[] = {
    ASSET("assetId", "accessKey", "password", "dockerRegistry", "genericSecret", "ngcApiKey"),
    TEXT("key"),
    END,
};
static const struct field variable_map_fields[] = {LABEL("name"), TEXT("key"), END};
static const struct field variable_field_fields[] = {TEXT("path"), END};

const struct field environment_variable_fields[] = {
    TEXT("name"),
    TEXT_OR_EMPTY("value"),
    OBJECT("credential", variable_credential_fields),
    OBJECT("configMap", variable_map_fields),
    OBJECT("podFieldRef", variable_field_fields),
    BOOL("exclude"),
    TEXT_OR_EMPTY("description"),
    END,
};

const char *const capability_names[] = {
    "AUDIT_CONTROL",
    "AUDIT_READ",
    "AUDIT_WRITE",
    "BLOCK_SUSPEND",
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "IPC_LOCK",
    "IPC_OWNER",
    "KILL",
    "LEASE",
    "LINUX_IMMUTABLE",
    "MAC_ADMIN",
    "MAC_OVERRIDE",
    "MKNOD",
    "NET_ADMIN",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_RAW",
    "SETGID",
    "SETFCAP",
    "SETPCAP",
    "SETUID",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_CHROOT",
    "SYS_MODULE",
    "SYS_NICE",
    "SYS_PACCT",
    "SYS_PTRACE",
    "SYS_RAWIO",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "SYSLOG",
    "WAKE_ALARM",
    NULL,
};

static const struct field http_get_fields[] = {
    TEXT_OR_EMPTY("path"), WHOLE("port", 1, PORT_MAX), TEXT("host"), OPTION("scheme", "HTTP", "HTTPS"), END,
};
static const struct field handler_fields[] = {OBJECT("httpGet", http_get_fields), END};
static const struct field readiness_fields[] = {
    WHOLE("initialDelaySeconds", 0, COUNT_MAX),
    WHOLE("periodSeconds", 1, COUNT_MAX),
    WHOLE("timeoutSeconds", 1, COUNT_MAX),
    WHOLE("successThreshold", 1, COUNT_MAX),
    WHOLE("failureThreshold", 1, COUNT_MAX),
    OBJECT("handler", handler_fields),
    END,
};
const struct field probe_fields[] = {OBJECT("readiness", readiness_fields), END};

static const struct field node_port_fields[] = {BOOL_FALSE("isCustomPort"), END};
static const struct field external_url_fields[] = {BOOL_FALSE("isCustomUrl"), TEXT("externalUrl"), END};
static const struct field serving_port_fields[] = {OPTION("protocol", "grpc", "http"), END};
static const struct field internal_tool_fields[] = {
    OPTION_REQUIRED("toolType", "jupyter-notebook", "pycharm", "visual-studio-code", "tensorboard", "rstudio", "mlflow",
                    "custom", "matlab", "chatbot-ui"),
    OPTION_REQUIRED("connectionType", "LoadBalancer", "NodePort", "ExternalUrl", "ServingPort"),
    {"containerPort", FIELD_WHOLE, FIELD_REQUIRED, 1, PORT_MAX, NULL, NULL},
    OBJECT("nodePortInfo", node_port_fields),
    OBJECT("externalUrlInfo", external_url_fields),
    OBJECT("servingPortInfo", serving_port_fields),
    END,
};
static const struct field external_tool_fields[] = {
    OPTION_REQUIRED("toolType", "wandb", "comet"),
    TEXT_REQUIRED("externalUrl"),
    END,
};
static const struct field connection_fields[] = {
    TEXT_REQUIRED("name"),
    BOOL_FALSE("isExternal"),
    OBJECT("internalToolInfo", internal_tool_fields),
    OBJECT("externalToolInfo", external_tool_fields),
    END,
};

const struct field environment_fields[] = {
    TEXT("args"),
    TEXT("command"),
    LIST("environmentVariables", environment_variable_fields),
    WHOLE("runAsGid", 0, ID_MAX),
    WHOLE("runAsUid", 0, ID_MAX),
    TEXT_OR_EMPTY("supplementalGroups"),
    BOOL("allowPrivilegeEscalation"),
    TEXTS_OF("capabilities", capability_names),
    BOOL("createHomeDir"),
    BOOL("hostIpc"),
    BOOL("hostNetwork"),
    TEXT("image"),
    OPTION("imagePullPolicy", "Always", "Never", "IfNotPresent"),
    OBJECT("probes", probe_fields),
    BOOL("readOnlyRootFilesystem"),
    BOOL("runAsNonRoot"),
    OPTION("seccompProfileType", "RuntimeDefault", "Unconfined", "Localhost"),
    BOOL("stdin"),
    BOOL("tty"),
    OPTION("uidGidSource", "fromTheImage", "fromIdpToken", "custom"),
    TEXT("workingDir"),
    LIST("connections", connection_fields),
    BOOL_FALSE("overrideUidGidInWorkspace"),
    END,
};

/* --- data sources --- */

static const struct field access_mode_fields[] = {
    BOOL_TRUE("readWriteOnce"),
    BOOL_FALSE("readOnlyMany"),
    BOOL_FALSE("readWriteMany"),
    END,
};
static const struct field attribute_fields[] = {
    {"key", FIELD_TEXT, FIELD_REQUIRED, 1, 63, NULL, NULL},
    TEXT_OR_EMPTY("value"),
    END,
};
static const struct field claim_fields[] = {
    QUANTITY("size"),
    LABEL("storageClass"),
    OBJECT("accessModes", access_mode_fields),
    OPTION("volumeMode", "Filesystem", "Block"),
    LIST("addedAttrValues", attribute_fields),
    END,
};

const struct field pvc_fields[] = {
    PATH("path"),
    BOOL_FALSE("existingPvc"),
    TEXT_MAX("claimName", 63),
    BOOL_FALSE("readOnly"),
    BOOL_FALSE("ephemeral"),
    OBJECT("claimInfo", claim_fields),
    BOOL_FALSE("dataSharing"),
    END,
};
const struct field pvc_update_fields[] = {PATH("path"), END};

const struct field git_fields[] = {
    TEXT("repository"),
    TEXT("branch"),
    TEXT("revision"),
    TEXT("path"),
    ASSET("passwordAssetId", "password"),
    ASSET("credentialId", "password", "genericSecret"),
    END,
};

const struct field nfs_fields[] = {
    TEXT("path"), BOOL_TRUE("readOnly"), TEXT("server"), TEXT("mountPath"), END,
};

const struct field s3_fields[] = {
    TEXT("bucket"), TEXT("path"), TEXT("url"), ASSET("accessKeyAssetId", "accessKey"), END,
};

const struct field host_path_fields[] = {
    PATH("path"), BOOL_TRUE("readOnly"), TEXT("mountPath"), OPTION("mountPropagation", "None", "HostToContainer"), END,
};

const struct field config_map_fields[] = {
    LABEL("configMap"), TEXT("mountPath"), TEXT("subPath"), MODE("defaultMode"), END,
};

const struct field secret_volume_fields[] = {
    ASSET("credentialAssetId", "accessKey", "password", "dockerRegistry", "genericSecret", "ngcApiKey"),
    TEXT("mountPath"),
    MODE("defaultMode"),
    END,
};

/* --- credentials and registries --- */

const struct field access_key_fields[] = {
    TEXT("existingSecretName"),
    TEXT("accessKeyId"),
    SECRET("secretAccessKey"),
    END,
};
const struct field password_fields[] = {TEXT("existingSecretName"), TEXT("user"), SECRET("password"), END};
const struct field docker_registry_fields[] = {
    TEXT("existingSecretName"), TEXT("user"), SECRET("password"), TEXT("url"), END,
};

static const struct field pair_fields[] = {TEXT_REQUIRED("key"), TEXT_OR_EMPTY("value"), END};
const struct field generic_secret_fields[] = {
    TEXT("existingSecretName"),
    {"keyValuePairs", FIELD_LIST, FIELD_SECRET, 0, 0, NULL, pair_fields},
    END,
};

const struct field ngc_fields[] = {
    {"ngc_api_key", FIELD_TEXT, FIELD_SECRET | FIELD_REQUIRED, 1, 0, NULL, NULL},
    END,
};

const struct field registry_fields[] = {
    TEXT_REQUIRED("url"),
    OPTION_REQUIRED("credentialKind", "password"),
    TEXT_REQUIRED("user"),
    {"password", FIELD_TEXT, FIELD_SECRET | FIELD_REQUIRED, 1, 0, NULL, NULL},
    END,
};

/* --- templates --- */

static const struct field override_fields[] = {TEXT("containerPath"), END};
static const struct field template_source_fields[] = {
    ASSET_REQUIRED("id", "pvc", "git", "nfs", "s3", "hostPath", "config-map", "secret-volume"),
    OPTION_REQUIRED("kind", "pvc", "git", "nfs", "s3", "hostPath", "config-map", "secret-volume"),
    OBJECT("overrides", override_fields),
    END,
};
static const struct field template_asset_fields[] = {
    ASSET_REQUIRED("environment", "environment"),
    ASSET("compute", "compute"),
    LIST("datasources", template_source_fields),
    TEXTS("workloadVolumes"),
    END,
};
static const struct field template_connection_fields[] = {
    TEXT("name"),
    WHOLE("nodePort", 0, PORT_MAX),
    TEXT("externalUrl"),
    TEXTS("authorizedUsers"),
    TEXTS("authorizedGroups"),
    END,
};
const struct field annotation_fields[] = {
    TEXT_MAX("name", 63),
    TEXT_OR_EMPTY("value"),
    BOOL("exclude"),
    END,
};
const struct field pull_secret_fields[] = {LABEL("name"), BOOL("userCredential"), BOOL("exclude"), END};
static const struct field expression_fields[] = {
    TEXT_REQUIRED("key"),
    OPTION_REQUIRED("operator", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    TEXTS("values"),
    END,
};
static const struct field term_fields[] = {LIST("matchExpressions", expression_fields), END};
const struct field affinity_fields[] = {LIST("nodeSelectorTerms", term_fields), END};
const struct field pod_affinity_fields[] = {OPTION("type", "Required", "Preferred"), TEXT("key"), END};
const struct field toleration_fields[] = {
    TEXT("name"),
    OPTION("operator", "Equal", "Exists"),
    TEXT_OR_EMPTY("key"),
    TEXT_OR_EMPTY("value"),
    OPTION("effect", "NoSchedule", "NoExecute", "PreferNoSchedule", "Any"),
    WHOLE("seconds", 1, COUNT_MAX),
    BOOL("exclude"),
    END,
};
static const struct field scaling_fields[] = {
    {"metricThresholdPercentage", FIELD_NUMBER, 0, 1, 100, NULL, NULL},
    WHOLE("minReplicas", 0, COUNT_MAX),
    WHOLE("maxReplicas", 1, COUNT_MAX),
    WHOLE("initialReplicas", 0, COUNT_MAX),
    WHOLE("activationReplicas", 1, COUNT_MAX),
    WHOLE("concurrencyHardLimit", 0, COUNT_MAX),
    WHOLE("scaleToZeroRetentionSeconds", 0, 3600),
    WHOLE("scaleDownDelaySeconds", 0, 3600),
    WHOLE("initializationTimeoutSeconds", 1, COUNT_MAX),
    TEXT("thresholdMetric"),
    WHOLE("thresholdValue", 0, COUNT_MAX),
    END,
};
static const struct field serving_access_fields[] = {
    OPTION("authorizationType", "public", "authenticatedUsers", "authorizedUsers", "authorizedGroups",
           "authorizedUsersOrGroups"),
    TEXTS("authorizedUsers"),
    TEXTS("authorizedGroups"),
    BOOL("clusterLocalAccessOnly"),
    END,
};
static const struct field specific_fields[] = {
    LIST("connections", template_connection_fields),
    LIST("annotations", annotation_fields),
    TEXT("args"),
    WHOLE("autoDeletionTimeAfterCompletionSeconds", 0, SECONDS_MAX),
    WHOLE("backoffLimit", 0, COUNT_MAX),
    TEXT_OR_EMPTY("category"),
    TEXT("command"),
    WHOLE("completions", 0, COUNT_MAX),
    LIST("environmentVariables", environment_variable_fields),
    LIST("imagePullSecrets", pull_secret_fields),
    LIST("labels", annotation_fields),
    OBJECT("nodeAffinityRequired", affinity_fields),
    TEXTS("nodePools"),
    TEXT("nodeType"),
    WHOLE("parallelism", 0, COUNT_MAX),
    OBJECT("podAffinity", pod_affinity_fields),
    OPTION("preemptibility", "preemptible", "non-preemptible"),
    TEXT_OR_EMPTY("priorityClass"),
    OPTION("restartPolicy", "Always", "Never", "OnFailure"),
    WHOLE("runAsGid", 0, ID_MAX),
    WHOLE("runAsUid", 0, ID_MAX),
    TEXT_OR_EMPTY("supplementalGroups"),
    BOOL("terminateAfterPreemption"),
    WHOLE("terminationGracePeriodSeconds", 0, SECONDS_MAX),
    LIST("tolerations", toleration_fields),
    BOOL("allowOverQuota"),
    OBJECT("autoScaling", scaling_fields),
    OBJECT("servingPortAccess", serving_access_fields),
    END,
};

const struct field template_fields[] = {
    OBJECT_REQUIRED("assets", template_asset_fields),
    OBJECT("specificEnv", specific_fields),
    END,
};
