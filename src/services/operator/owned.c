/* SPDX-License-Identifier: Apache-2.0 */

/* What is known of each object: as it was last seen, and as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/client/meta.h"
#include "services/operator/conf.h"
#include "services/operator/merge.h"
#include "services/operator/operator_internal.h"

#define AGAIN_FIRST (500 * NSEC_PER_MSEC)
#define AGAIN_MAX (30 * NSEC_PER_SEC)

struct owned *owned_find(const struct operator* operator, enum owned_kind kind, const char *namespace, const char *name)
{
    return strmap_get(&operator->owned[kind], namespace ? namespace : "", name);
}

struct owned *owned_get(struct operator* operator, enum owned_kind kind, const char *namespace, const char *name)
{
    struct owned *owned = owned_find(operator, kind, namespace, name);

    if (owned)
        return owned;
    owned = xcalloc(1, sizeof *owned);
    owned->kind = kind;
    owned->namespace = xstrdup(namespace ? namespace : "");
    owned->name = xstrdup(name);
    owned->is_available = true;
    owned->backoff = (struct backoff){.first = AGAIN_FIRST, .max = AGAIN_MAX};
    (void)strmap_put(&operator->owned[kind], owned->namespace, owned->name, owned);
    return owned;
}

static void copy_uid(char to[static UID_MAX], const char *uid)
{
    (void)snprintf(to, UID_MAX, "%s", uid ? uid : "");
}

static const char *controller_of(yyjson_val *object)
{
    yyjson_val *owner;
    size_t i, max;

    yyjson_arr_foreach(conf_at(object, "metadata.ownerReferences"), i, max,
                       owner) if (conf_bool(owner, "controller", false)) return conf_text(owner, "uid", "");
    return "";
}

/* All pods are of the newest version and serve, as `kubectl rollout status` has it. */
static bool deployment_is_available(yyjson_val *object)
{
    int replicas = conf_int(object, "spec.replicas", 1);

    return conf_int(object, "status.observedGeneration", 0) >= conf_int(object, "metadata.generation", 0) &&
           conf_int(object, "status.updatedReplicas", 0) == replicas &&
           conf_int(object, "status.replicas", 0) == replicas &&
           conf_int(object, "status.availableReplicas", 0) == replicas;
}

static bool daemon_set_is_available(yyjson_val *object)
{
    int count = conf_int(object, "status.desiredNumberScheduled", 0);

    return conf_int(object, "status.observedGeneration", 0) >= conf_int(object, "metadata.generation", 0) &&
           conf_int(object, "status.numberAvailable", 0) == count &&
           conf_int(object, "status.updatedNumberScheduled", 0) == count;
}

static bool prometheus_is_available(yyjson_val *object)
{
    yyjson_val *condition;
    size_t i, max;

    yyjson_arr_foreach(conf_at(object, "status.conditions"), i, max,
                       condition) if (strcmp(conf_text(condition, "type", ""), "Available") ==
                                      0) return strcmp(conf_text(condition, "status", ""), "True") == 0;
    return false;
}

/* The data of a Prometheus that says nothing else is kept for so long. */
#define RETENTION_DEFAULT (30 * 24 * 3600 * NSEC_PER_SEC)

static void see_end(struct owned *owned, yyjson_val *object)
{
    yyjson_val *notes = conf_at(object, "metadata.annotations");
    const char *since = yyjson_get_str(yyjson_obj_get(notes, KEY_SWITCHED_OFF));

    /* One that cannot be read is written anew. */
    if (!since || time_parse(since, &owned->switched_off, NULL) < 0)
        owned->switched_off = 0;
    const char *retention = conf_text(object, "spec.retention", "");

    /* Nobody's data is deleted because of a text that only Prometheus can read, such as "1y". */
    if (!*retention)
        owned->retention = RETENTION_DEFAULT;
    else if (long_duration_parse(retention, &owned->retention, NULL) < 0)
        owned->retention = NSEC_MAX;
}

void owned_see(struct owned *owned, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return;
    owned->is_there = true;
    owned->version = strtoull(meta.resource_version, NULL, 10);
    copy_uid(owned->uid, meta.uid);
    copy_uid(owned->owner, controller_of(object));
    owned->seen = digest_live(object);
    if (owned->kind == OWNED_PROMETHEUS)
        see_end(owned, object);
    owned->is_available = owned->kind == OWNED_DEPLOYMENT   ? deployment_is_available(object)
                          : owned->kind == OWNED_DAEMON_SET ? daemon_set_is_available(object)
                          : owned->kind == OWNED_PROMETHEUS ? prometheus_is_available(object)
                                                            : true;
}

void owned_see_answer(struct owned *owned, yyjson_val *object)
{
    struct kube_meta meta;

    if (!kube_meta_read(object, &meta))
        return;
    bool is_overtaken = owned->is_there && strcmp(meta.uid, owned->uid) == 0 &&
                        strtoull(meta.resource_version, NULL, 10) < owned->version;

    if (!is_overtaken)
        owned_see(owned, object);
    owned->done_seen = digest_live(object);
}

void owned_gone(struct owned *owned)
{
    owned->is_there = false;
    owned->uid[0] = owned->owner[0] = '\0';
    owned->seen = 0;
}

void owned_free_all(struct operator* operator)
{
    for (size_t kind = 0; kind < _OWNED_KIND_MAX; kind++) {
        struct owned *owned;

        for (size_t cursor = 0; (owned = strmap_next(&operator->owned[kind], &cursor));) {
            owned_write_cancel(owned);
            hosting_free(owned);
            free(owned->namespace);
            free(owned->name);
            free(owned);
        }
        strmap_done(&operator->owned[kind]);
    }
}
