/* SPDX-License-Identifier: Apache-2.0 */

/* The members of workloads that policies know, and the types of workloads. */
#include <string.h>

#include "console/assets/kinds.h"
#include "console/assets/rows.h"
#include "console/policies/policy.h"

static const struct field secret_fields[] = {LABEL("name"), TEXT("key"), END};
static const struct field pod_field_fields[] = {TEXT("path"), END};
static const struct field user_credential_fields[] = {TEXT("name"), TEXT("key"), END};
static const struct field variable_fields[] = {
    TEXT("name"),
    TEXT_OR_EMPTY("value"),
    OBJECT("secret", secret_fields),
    OBJECT("configMap", secret_fields),
    OBJECT("podFieldRef", pod_field_fields),
    OBJECT("userCredential", user_credential_fields),
    BOOL("exclude"),
    TEXT_OR_EMPTY("description"),
    END,
};

static const struct field url_fields[] = {
    WHOLE("container", 1, PORT_MAX),
    TEXT_OR_EMPTY("url"),
    OPTION("authorizationType", "authenticatedUsers", "authorizedUsers", "authorizedGroups"),
    TEXTS("authorizedUsers"),
    TEXTS("authorizedGroups"),
    TEXT("toolType"),
    TEXT("toolName"),
    TEXT("name"),
    BOOL("exclude"),
    END,
};
static const struct field port_fields[] = {
    WHOLE("container", 1, PORT_MAX),
    OPTION("serviceType", "LoadBalancer", "NodePort", "ClusterIP"),
    WHOLE("external", 0, PORT_MAX),
    TEXT("toolType"),
    TEXT("toolName"),
    TEXT("name"),
    BOOL("exclude"),
    END,
};
static const struct field related_fields[] = {TEXT("url"), TEXT("type"), TEXT("name"), BOOL("exclude"), END};

static const struct field security_fields[] = {
    BOOL("allowPrivilegeEscalation"),
    TEXTS_OF("capabilities", capability_names),
    BOOL("hostIpc"),
    BOOL("hostNetwork"),
    BOOL("readOnlyRootFilesystem"),
    WHOLE("runAsGid", 0, ID_MAX),
    BOOL("runAsNonRoot"),
    WHOLE("runAsUid", 0, ID_MAX),
    OPTION("seccompProfileType", "RuntimeDefault", "Unconfined", "Localhost"),
    TEXT_OR_EMPTY("supplementalGroups"),
    OPTION("uidGidSource", "fromTheImage", "fromIdpToken", "custom"),
    END,
};

static const struct field mode_fields[] = {BOOL("readWriteOnce"), BOOL("readOnlyMany"), BOOL("readWriteMany"), END};
static const struct field claim_fields[] = {
    QUANTITY("size"),
    LABEL("storageClass"),
    OBJECT("accessModes", mode_fields),
    END,
};
static const struct field pvc_volume_fields[] = {
    TEXT_MAX("claimName", 63),
    PATH("path"),
    BOOL("readOnly"),
    BOOL("existingPvc"),
    BOOL("ephemeral"),
    OBJECT("claimInfo", claim_fields),
    TEXT("name"),
    BOOL("exclude"),
    END,
};
static const struct field nfs_volume_fields[] = {
    TEXT("path"), BOOL("readOnly"), TEXT("server"), TEXT("mountPath"), TEXT("name"), BOOL("exclude"), END,
};
static const struct field host_volume_fields[] = {
    PATH("path"),
    BOOL("readOnly"),
    TEXT("mountPath"),
    OPTION("mountPropagation", "None", "HostToContainer"),
    TEXT("name"),
    BOOL("exclude"),
    END,
};
static const struct field git_volume_fields[] = {
    TEXT("repository"), TEXT("branch"), TEXT("revision"), TEXT("path"), TEXT("name"), BOOL("exclude"), END,
};
static const struct field s3_volume_fields[] = {
    TEXT("bucket"), TEXT("path"), TEXT("url"), TEXT("name"), BOOL("exclude"), END,
};
static const struct field map_volume_fields[] = {
    LABEL("configMap"), TEXT("mountPath"), TEXT("subPath"), MODE("defaultMode"), TEXT("name"), BOOL("exclude"), END,
};
static const struct field secret_volume_rows[] = {
    TEXT("secret"), TEXT("mountPath"), MODE("defaultMode"), TEXT("name"), BOOL("exclude"), END,
};
static const struct field empty_volume_fields[] = {
    TEXT("path"), TEXT("medium"), QUANTITY("sizeLimit"), TEXT("name"), BOOL("exclude"), END,
};
static const struct field storage_fields[] = {
    LIST("pvc", pvc_volume_fields),
    LIST("nfs", nfs_volume_fields),
    LIST("hostPath", host_volume_fields),
    LIST("git", git_volume_fields),
    LIST("s3", s3_volume_fields),
    LIST("configMapVolume", map_volume_fields),
    LIST("secretVolume", secret_volume_rows),
    LIST("emptyDirVolume", empty_volume_fields),
    END,
};

/* Of all types of workloads. */
#define COMMON                                                                                                        \
    LIST("annotations", annotation_fields), TEXT("args"), TEXT_OR_EMPTY("category"), TEXT("command"),                 \
        OBJECT("compute", compute_fields), BOOL("createHomeDir"), LIST("environmentVariables", variable_fields),      \
        LIST("exposedUrls", url_fields), TEXT("image"), OPTION("imagePullPolicy", "Always", "Never", "IfNotPresent"), \
        LIST("imagePullSecrets", pull_secret_fields), LIST("labels", annotation_fields), TEXTS("nodePools"),          \
        TEXT("nodeType"), OBJECT("podAffinity", pod_affinity_fields), LIST("ports", port_fields),                     \
        OPTION("preemptibility", "preemptible", "non-preemptible"), TEXT_OR_EMPTY("priorityClass"),                   \
        OBJECT("probes", probe_fields), LIST("relatedUrls", related_fields), OBJECT("security", security_fields),     \
        OBJECT("storage", storage_fields), LIST("tolerations", toleration_fields), TEXT("workingDir")

/* Of workloads that are pods of ours, not of a server of models. */
#define OF_PODS                                                                                           \
    WHOLE("autoDeletionTimeAfterCompletionSeconds", 0, SECONDS_MAX), WHOLE("backoffLimit", 0, COUNT_MAX), \
        OPTION("restartPolicy", "Always", "Never", "OnFailure"), BOOL("stdin"), BOOL("tty"),              \
        BOOL("terminateAfterPreemption"), WHOLE("terminationGracePeriodSeconds", 0, SECONDS_MAX)

static const struct field workspace_fields[] = {COMMON, OF_PODS, END};
static const struct field training_fields[] = {
    COMMON, OF_PODS, WHOLE("completions", 0, COUNT_MAX), WHOLE("parallelism", 0, COUNT_MAX), END,
};
static const struct field inference_fields[] = {COMMON, END};
static const struct field distributed_fields[] = {
    OBJECT("master", training_fields),
    OBJECT("worker", training_fields),
    END,
};

const struct policy_kind policy_kinds[] = {
    {"workspace", "policy:workspace", POLICIES "/workspaces", workspace_fields, false},
    {"training", "policy:training", POLICIES "/trainings", training_fields, false},
    {"distributed", "policy:distributed", POLICIES "/distributed", distributed_fields, true},
    {"inference", "policy:inference", POLICIES "/inferences", inference_fields, false},
};
const size_t policy_kind_count = ARRAY_LEN(policy_kinds);

const struct policy_kind *policy_kind_at(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(policy_kinds); i++) {
        size_t len = strlen(policy_kinds[i].path);

        if (strncmp(path, policy_kinds[i].path, len) == 0 && (!path[len] || path[len] == '?'))
            return &policy_kinds[i];
    }
    return NULL;
}

const struct policy_kind *policy_kind_find(const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(policy_kinds); i++) {
        if (strcmp(policy_kinds[i].type, type) == 0)
            return &policy_kinds[i];
    }
    return NULL;
}
