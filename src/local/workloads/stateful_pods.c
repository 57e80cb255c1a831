/* SPDX-License-Identifier: Apache-2.0 */
#include "local/workloads/stateful_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/client/meta.h"
#include "local/controllers/actions.h"
#include "local/controllers/template.h"
#include "local/controllers/values.h"
#include "text/json.h"

enum { CLAIM_NAME_MAX = 2 * CHILD_NAME_MAX };

int64_t stateful_ordinal(const struct owner *set, const char *pod)
{
    size_t len = strlen(set->name);
    char *end = NULL;

    if (strncmp(pod, set->name, len) != 0 || pod[len] != '-' || !pod[len + 1])
        return -1;
    long ordinal = strtol(pod + len + 1, &end, 10);
    return *end == '\0' && ordinal >= 0 ? ordinal : -1;
}

static void claim_name(yyjson_val *template, const char *pod, char name[static CLAIM_NAME_MAX])
{
    (void)snprintf(name, CLAIM_NAME_MAX, "%s-%s", kube_text(template, "metadata", "name"), pod);
}

static void create_claim(struct owner *set, yyjson_val *template, const char *pod)
{
    yyjson_mut_doc *doc = kube_copy(template);
    yyjson_mut_val *claim = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *metadata = object_member(doc, claim, "metadata");
    yyjson_val *labels = value_at(set->object, "spec", "selector", "matchLabels");
    size_t i, max;
    yyjson_val *key, *value;
    char name[CLAIM_NAME_MAX];

    claim_name(template, pod, name);
    (void)yyjson_mut_obj_put(metadata, yyjson_mut_str(doc, "name"), yyjson_mut_strcpy(doc, name));
    (void)yyjson_mut_obj_put(metadata, yyjson_mut_str(doc, "namespace"), yyjson_mut_strcpy(doc, set->namespace));
    (void)yyjson_mut_obj_remove_str(claim, "status");
    yyjson_obj_foreach(labels, i, max, key, value)
    {
        template_mark(doc, claim, "labels", yyjson_get_str(key), yyjson_get_str(value));
    }
    owner_create_other(set, kube_known(KUBE_PERSISTENT_VOLUME_CLAIMS), doc);
}

/* A volume of the claim's name in the template gives way to the claim. */
static void add_volume(yyjson_mut_doc *doc, yyjson_mut_val *spec, yyjson_val *template, const char *pod)
{
    const char *volume_name = kube_text(template, "metadata", "name");
    yyjson_mut_val *volumes = yyjson_mut_obj_get(spec, "volumes");
    char name[CLAIM_NAME_MAX];

    if (!yyjson_mut_is_arr(volumes)) {
        (void)yyjson_mut_obj_remove_str(spec, "volumes");
        volumes = yyjson_mut_obj_add_arr(doc, spec, "volumes");
    }
    for (size_t i = yyjson_mut_arr_size(volumes); i > 0; i--) {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(yyjson_mut_arr_get(volumes, i - 1), "name"), volume_name))
            (void)yyjson_mut_arr_remove(volumes, i - 1);
    }
    claim_name(template, pod, name);
    yyjson_mut_val *volume = yyjson_mut_arr_add_obj(doc, volumes);
    (void)yyjson_mut_obj_add_strcpy(doc, volume, "name", volume_name);
    (void)yyjson_mut_obj_add_strcpy(doc, yyjson_mut_obj_add_obj(doc, volume, "persistentVolumeClaim"), "claimName",
                                    name);
}

void stateful_create(struct owner *set, const struct child *revision, int64_t ordinal)
{
    yyjson_val *template = revision_template(revision);
    yyjson_mut_val *pod = NULL;
    size_t i, max;
    yyjson_val *claim;
    char name[CHILD_NAME_MAX + 32], number[32], prefix[CHILD_NAME_MAX + 2];

    (void)snprintf(number, sizeof number, "%lld", (long long)ordinal);
    (void)snprintf(name, sizeof name, "%.*s-%s", CHILD_NAME_MAX - 1, set->name, number);
    (void)snprintf(prefix, sizeof prefix, "%s-", set->name);
    yyjson_mut_doc *doc = template_pod(set, template, name, prefix, &pod);
    yyjson_mut_val *spec = yyjson_mut_obj_get(pod, "spec");
    template_mark(doc, pod, "labels", "statefulset.kubernetes.io/pod-name", name);
    template_mark(doc, pod, "labels", "apps.kubernetes.io/pod-index", number);
    template_mark(doc, pod, "labels", "controller-revision-hash", revision->name);
    (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "hostname"), yyjson_mut_strcpy(doc, name));
    const char *service = kube_text(set->object, "spec", "serviceName");
    if (service[0])
        (void)yyjson_mut_obj_put(spec, yyjson_mut_str(doc, "subdomain"), yyjson_mut_strcpy(doc, service));
    yyjson_arr_foreach(value_at(set->object, "spec", "volumeClaimTemplates"), i, max, claim)
    {
        create_claim(set, claim, name);
        add_volume(doc, spec, claim, name);
    }
    owner_create(set, 0, doc);
}
