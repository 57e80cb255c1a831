/* SPDX-License-Identifier: Apache-2.0 */

/* Claims on volumes, which are read with their volume and its class, and again when either changes. */
#include <string.h>

#include "kube/client/meta.h"
#include "services/scheduler/intake/intake_internal.h"

static bool is_no_provisioner(yyjson_doc *class)
{
    return strcmp(kube_text(yyjson_doc_get_root(class), "provisioner"), "kubernetes.io/no-provisioner") == 0;
}

/* Nobody makes volumes of the class: its claims wait for those that are there. */
static bool has_no_provisioner(const struct intake *intake, const char *class)
{
    yyjson_doc *doc =
        *class ? beside_get(intake->beside, WATCH_STORAGE_CLASSES, key_put(intake->state, "", class)) : NULL;
    bool has_none = doc && is_no_provisioner(doc);

    yyjson_doc_free(doc);
    return has_none;
}

/* The class, and the driver that makes its volumes. Takes ownership; nothing for NULL. */
static void beside_class(struct reading *in, yyjson_doc *class)
{
    const char *driver = kube_text(yyjson_doc_get_root(class), "provisioner");

    if (*driver)
        reading_add_doc(in, WATCH_CSI_DRIVERS,
                        beside_get(in->intake->beside, WATCH_CSI_DRIVERS, key_put(in->intake->state, "", driver)));
    reading_add_doc(in, WATCH_STORAGE_CLASSES, class);
}

/* Volumes of the class, one of which a claim may get. */
static void beside_class_volumes(struct reading *in, const char *class)
{
    yyjson_doc *doc;
    object_key key;

    for (size_t cursor = 0; beside_next(in->intake->beside, WATCH_VOLUMES, &cursor, &key, &doc);) {
        if (strcmp(kube_text(yyjson_doc_get_root(doc), "spec", "storageClassName"), class) == 0)
            reading_add_doc(in, WATCH_VOLUMES, doc);
        else
            yyjson_doc_free(doc);
    }
}

/*
 * PersistentVolumeClaims: with their volume or, without one, those of their class; and the class they name or all of
 * them where they name none.
 */
static void beside_volume_claim(struct reading *in, const struct follow_event *event)
{
    struct intake *intake = in->intake;
    const char *volume = kube_text(event->object, "spec", "volumeName");
    const char *class = kube_text(event->object, "spec", "storageClassName");
    yyjson_doc *doc;
    object_key key;

    if (*volume)
        reading_add_doc(in, WATCH_VOLUMES,
                        beside_get(intake->beside, WATCH_VOLUMES, key_put(intake->state, "", volume)));
    else if (has_no_provisioner(intake, class))
        beside_class_volumes(in, class);
    if (*class) {
        beside_class(in, beside_get(intake->beside, WATCH_STORAGE_CLASSES, key_put(intake->state, "", class)));
        return;
    }
    for (size_t cursor = 0; beside_next(intake->beside, WATCH_STORAGE_CLASSES, &cursor, &key, &doc);)
        beside_class(in, doc);
}

void intake_volume_claim(struct intake *intake, enum watch_kind kind, const struct follow_event *event)
{
    (void)kind;
    object_key key = key_put(intake->state, event->namespace, event->name);

    if (event->change == FOLLOW_DELETED) {
        (void)beside_drop(intake->beside, WATCH_VOLUME_CLAIMS, key);
        intake_drop(intake, WATCH_VOLUME_CLAIMS, event->namespace, event->name);
        return;
    }
    if (beside_put(intake->beside, WATCH_VOLUME_CLAIMS, key, event->object))
        intake_put_plain(intake, WATCH_VOLUME_CLAIMS, event, beside_volume_claim);
}

void intake_volume_claims_again(struct intake *intake, const char *volume)
{
    yyjson_doc *doc;
    object_key key;

    for (size_t cursor = 0; beside_next(intake->beside, WATCH_VOLUME_CLAIMS, &cursor, &key, &doc);) {
        yyjson_val *claim = yyjson_doc_get_root(doc);
        struct follow_event event = {
            .change = FOLLOW_CHANGED,
            .namespace = key_namespace(intake->state, key),
            .name = key_name(intake->state, key),
            .uid = "",
            .object = claim,
        };
        const char *own = kube_text(claim, "spec", "volumeName");

        if (!volume || strcmp(own, volume) == 0 ||
            (!*own && has_no_provisioner(intake, kube_text(claim, "spec", "storageClassName"))))
            intake_put_plain(intake, WATCH_VOLUME_CLAIMS, &event, beside_volume_claim);
        yyjson_doc_free(doc);
    }
}
