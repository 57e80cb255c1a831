/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about objects that are valid, and rarely what their author meant. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/api/names.h"
#include "local/api/problems.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"
#include "local/builtin/warn_internal.h"

enum { WARNING_BYTES_MAX = 1024 };

void warn_at(const struct warning *warning, const struct field *field, const char *format, ...)
{
    char text[WARNING_BYTES_MAX];
    struct strbuf whole;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_init(&whole, 2 * WARNING_BYTES_MAX);
    field_format(field, &whole);
    strbuf_addf(&whole, ": %s", text);
    warning->warn(warning->arg, whole.text);
    strbuf_done(&whole);
}

void warn_fraction(const struct warning *warning, const struct field *field, yyjson_mut_val *amounts,
                   const char *resource)
{
    yyjson_mut_val *value = yyjson_mut_obj_get(amounts, resource);
    const char *text = yyjson_mut_get_str(value);
    const struct field at = field_key(field, resource);

    /* Amounts have their shortest form here: one that ends so is less than a whole. */
    if (text && *text && strchr("mun", text[strlen(text) - 1]))
        warn_at(warning, &at, "fractional byte value \"%s\" is invalid, must be an integer", text);
}

/* --- Names --- */

static void warn_name(const struct warning *warning, yyjson_mut_val *object, const char *use)
{
    const struct field field = field_member(FIELD(NULL, "metadata"), "name");
    const char *name = member_text(object, "metadata.name");
    const char *words[2];
    size_t count = dns_label_problems(name, words);

    if (count > 0)
        warn_at(warning, &field, "%s, which can result in surprising behavior; a DNS label is recommended: [%s%s%s]",
                use, words[0], count > 1 ? " " : "", count > 1 ? words[1] : "");
}

/* --- Kinds --- */

static void warn_service(const struct warning *warning, yyjson_mut_val *service)
{
    yyjson_mut_val *spec = member_get(service, "spec");
    bool is_headless = member_is(spec, "clusterIP", "None");
    bool is_external = member_is(spec, "type", "ExternalName");
    bool has_addresses = yyjson_mut_arr_size(member_get(spec, "externalIPs")) > 0;

    if (yyjson_mut_obj_get(member_get(service, "metadata.annotations"), "service.kubernetes.io/topology-aware-hints"))
        warning->warn(warning->arg, "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
                                    "service.kubernetes.io/topology-mode instead");
    if (is_headless && *member_text(spec, "loadBalancerIP"))
        warning->warn(warning->arg, "spec.loadBalancerIP is ignored for headless services");
    if (is_headless && has_addresses)
        warning->warn(warning->arg, "spec.externalIPs is ignored for headless services");
    if (is_headless && !member_is(spec, "sessionAffinity", "None"))
        warning->warn(warning->arg, "spec.SessionAffinity is ignored for headless services");
    if (has_addresses && !is_headless && !is_external)
        warning->warn(warning->arg, "spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    if (has_addresses && is_external)
        warning->warn(warning->arg, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!is_external && *member_text(spec, "externalName"))
        warning->warn(warning->arg, "spec.externalName is ignored when spec.type is not \"ExternalName\"");
    if (member_is(spec, "trafficDistribution", "PreferClose"))
        warning->warn(warning->arg, "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
}

static void warn_claim_spec(const struct warning *warning, yyjson_mut_val *spec, const struct field *field)
{
    const struct field resources = field_member(field, "resources");

    warn_fraction(warning, FIELD(&resources, "requests"), member_get(spec, "resources.requests"), "storage");
    warn_fraction(warning, FIELD(&resources, "limits"), member_get(spec, "resources.limits"), "storage");
}

static void warn_annotation(const struct warning *warning, yyjson_mut_val *object, const char *name, const char *text)
{
    const struct field parent = field_member(FIELD(NULL, "metadata"), "annotations");
    const struct field field = field_key(&parent, name);

    if (yyjson_mut_obj_get(member_get(object, "metadata.annotations"), name))
        warn_at(warning, &field, "%s", text);
}

static void warn_claim(const struct warning *warning, yyjson_mut_val *claim)
{
    warn_annotation(warning, claim, "volume.beta.kubernetes.io/storage-class",
                    "deprecated since v1.8; use \"storageClassName\" attribute instead");
    warn_claim_spec(warning, member_get(claim, "spec"), FIELD(NULL, "spec"));
}

static void warn_volume(const struct warning *warning, yyjson_mut_val *volume)
{
    const struct field spec = field_member(NULL, "spec");

    warn_annotation(warning, volume, "volume.beta.kubernetes.io/storage-class",
                    "deprecated since v1.8; use \"storageClassName\" attribute instead");
    warn_annotation(warning, volume, "volume.beta.kubernetes.io/mount-options",
                    "deprecated since v1.31; use \"mountOptions\" attribute instead");
    if (member_is(volume, "spec.persistentVolumeReclaimPolicy", "Recycle"))
        warn_at(warning, FIELD(&spec, "persistentVolumeReclaimPolicy"),
                "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic "
                "provisioning.");
}

static void warn_stateful_set(const struct warning *warning, yyjson_mut_val *set)
{
    const struct field spec = field_member(NULL, "spec");
    const struct field templates = field_member(&spec, "volumeClaimTemplates");
    size_t index = 0;

    MEMBER_ITEMS (claim, member_get(set, "spec.volumeClaimTemplates")) {
        const struct field at = field_item(&templates, index++);
        warn_claim_spec(warning, member_get(claim, "spec"), &at);
    }
    if (member_number(set, "spec.revisionHistoryLimit", 0) < 0)
        warn_at(warning, FIELD(&spec, "revisionHistoryLimit"),
                "a negative value retains all historical revisions; a value >= 0 is recommended");
}

static void warn_ingress(const struct warning *warning, yyjson_mut_val *ingress)
{
    yyjson_mut_val *annotations = member_get(ingress, "metadata.annotations");

    if (yyjson_mut_obj_get(annotations, "kubernetes.io/ingress.class") && !member_get(ingress, "spec.ingressClassName"))
        warning->warn(warning->arg,
                      "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' "
                      "instead");
}

/* --- The table --- */

#define OF_PODS "this is used in Pod names and hostnames"

/* `is_for_new`: changed objects are not warned about, since programs change them. */
static const struct row {
    const char *group;
    const char *kind;
    const char *name_use;  // what the name of the object is used for; NULL: the name says nothing about it
    const char *template;  // where the template of pods is
    void (*warn)(const struct warning *warning, yyjson_mut_val *object);
    bool is_for_new;
} rows[] = {
    {"", "Pod", "this is used in the Pod's hostname", "", NULL, true},
    {"", "ReplicationController", OF_PODS, "spec.template", NULL, false},
    {"", "PodTemplate", NULL, "template", NULL, false},
    {"", "Service", NULL, NULL, warn_service, false},
    {"", "PersistentVolumeClaim", NULL, NULL, warn_claim, false},
    {"", "PersistentVolume", NULL, NULL, warn_volume, false},
    {"apps", "Deployment", OF_PODS, "spec.template", NULL, false},
    {"apps", "ReplicaSet", OF_PODS, "spec.template", NULL, false},
    {"apps", "StatefulSet", NULL, "spec.template", warn_stateful_set, false},
    {"apps", "DaemonSet", NULL, "spec.template", NULL, false},
    {"batch", "Job", OF_PODS, "spec.template", NULL, false},
    {"batch", "CronJob", OF_PODS, "spec.jobTemplate.spec.template", NULL, false},
    {"networking.k8s.io", "Ingress", NULL, NULL, warn_ingress, true},
};

static const struct row *find_row(const struct api_kind *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].kind, kind->kind) == 0 && strcmp(rows[i].group, kind->group) == 0)
            return &rows[i];
    return NULL;
}

/* Templates are looked at when their object has changed, those of DaemonSets when they have changed themselves. */
static bool has_changed(const struct row *row, yyjson_mut_val *object, yyjson_mut_val *old)
{
    if (!old)
        return true;
    if (strcmp(row->kind, "DaemonSet") == 0)
        return !yyjson_mut_equals(member_get(object, row->template), member_get(old, row->template));
    return member_number(object, "metadata.generation", 0) != member_number(old, "metadata.generation", 0);
}

/* The path is one field here: it is shown as it is. */
static void warn_template(const struct warning *warning, yyjson_mut_val *object, const char *path)
{
    const struct field field = field_member(NULL, path);

    warn_pod(warning, *path ? member_get(object, path) : object, *path ? &field : NULL);
}

void builtin_warn(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, builtin_warn_fn warn,
                  void *arg)
{
    const struct row *row = find_row(kind);
    const struct warning warning = {.warn = warn, .arg = arg};
    yyjson_mut_val *object = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *before = yyjson_mut_doc_get_root(old);

    if (!row || (old && row->is_for_new))
        return;
    if (!old && row->name_use)
        warn_name(&warning, object, row->name_use);
    /* The API server looks at the template that a changed ReplicationController had. */
    if (row->template && has_changed(row, object, before))
        warn_template(&warning, old && strcmp(row->kind, "ReplicationController") == 0 ? before : object,
                      row->template);
    if (row->warn)
        row->warn(&warning, object);
}
