/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/templates.h"

#include <stddef.h>
#include <string.h>

#include "base/macros.h"
#include "local/api/kinds.h"

static const struct {
    const char *group;
    const char *plural;
    const char *path;
} rows[] = {
    {"", "pods", ""},
    {"", "podtemplates", "template"},
    {"", "replicationcontrollers", "spec.template"},
    {"apps", "daemonsets", "spec.template"},
    {"apps", "deployments", "spec.template"},
    {"apps", "replicasets", "spec.template"},
    {"apps", "statefulsets", "spec.template"},
    {"batch", "jobs", "spec.template"},
    {"batch", "cronjobs", "spec.jobTemplate.spec.template"},
};

const char *pod_template_of(const struct api_kind *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].plural, kind->plural) == 0 && strcmp(rows[i].group, kind->group) == 0)
            return rows[i].path;
    }
    return NULL;
}
