/* SPDX-License-Identifier: Apache-2.0 */

/* Volumes, claims, classes of storage and their drivers. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/tables/tables.h"
#include "local/tables/tables_internal.h"

enum { TEXT_MAX = 1024 };

/* --- Volumes and claims --- */

/* "RWO,ROX" */
static yyjson_mut_val *show_modes(yyjson_val *modes, yyjson_mut_doc *out)
{
    static const char *const names[][2] = {
        {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        yyjson_arr_iter iter = yyjson_arr_iter_with(modes);
        bool has = false;
        for (yyjson_val *mode; (mode = yyjson_arr_iter_next(&iter));)
            has |= yyjson_equals_str(mode, names[i][0]);
        if (has)
            strbuf_addf(&text, "%s%s", text.len ? "," : "", names[i][1]);
    }
    yyjson_mut_val *cell = yyjson_mut_strcpy(out, text.text);
    strbuf_done(&text);
    return cell;
}

static bool is_bound(yyjson_val *claim)
{
    return *cell_text(claim, "spec.volumeName", "") != '\0';
}

static yyjson_mut_val *claim_status(yyjson_val *claim, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    if (cell_at(claim, "metadata.deletionTimestamp"))
        return yyjson_mut_str(out, "Terminating");
    return cell_copy(claim, "status.phase", "", out);
}

static yyjson_mut_val *claim_capacity(yyjson_val *claim, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return is_bound(claim) ? cell_copy(claim, "status.capacity.storage", "0", out) : yyjson_mut_str(out, "");
}

static yyjson_mut_val *claim_modes(yyjson_val *claim, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return is_bound(claim) ? show_modes(cell_at(claim, "status.accessModes"), out) : yyjson_mut_str(out, "");
}

CELL_TEXT(claim_volume, "spec.volumeName", "")
CELL_TEXT(storage_class, "spec.storageClassName", "")
CELL_TEXT(attributes_class, "spec.volumeAttributesClassName", "<unset>")
CELL_TEXT(volume_mode, "spec.volumeMode", "<unset>")
CELL_TEXT(volume_capacity, "spec.capacity.storage", "")
CELL_TEXT(volume_policy, "spec.persistentVolumeReclaimPolicy", "")
CELL_TEXT(volume_reason, "status.reason", "")

static yyjson_mut_val *volume_modes(yyjson_val *volume, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return show_modes(cell_at(volume, "spec.accessModes"), out);
}

static yyjson_mut_val *volume_claim(yyjson_val *volume, nsec_t now, yyjson_mut_doc *out)
{
    char text[TEXT_MAX];

    (void)now;
    if (!cell_at(volume, "spec.claimRef"))
        return yyjson_mut_str(out, "");
    (void)snprintf(text, sizeof text, "%s/%s", cell_text(volume, "spec.claimRef.namespace", ""),
                   cell_text(volume, "spec.claimRef.name", ""));
    return yyjson_mut_strcpy(out, text);
}

static const struct table_column claim_columns[] = {
    {"Status", "string", "", 0, claim_status},
    {"Volume", "string", "", 0, claim_volume},
    {"Capacity", "string", "", 0, claim_capacity},
    {"Access Modes", "string", "", 0, claim_modes},
    {"StorageClass", "string", "", 0, storage_class},
    {"VolumeAttributesClass", "string", "", 0, attributes_class},
    {"Age", "string", "", 0, cell_age},
    {"VolumeMode", "string", "", 1, volume_mode},
    {0},
};

static const struct table_column volume_columns[] = {
    {"Capacity", "string", "", 0, volume_capacity},
    {"Access Modes", "string", "", 0, volume_modes},
    {"Reclaim Policy", "string", "", 0, volume_policy},
    {"Status", "string", "", 0, claim_status},
    {"Claim", "string", "", 0, volume_claim},
    {"StorageClass", "string", "", 0, storage_class},
    {"VolumeAttributesClass", "string", "", 0, attributes_class},
    {"Reason", "string", "", 0, volume_reason},
    {"Age", "string", "", 0, cell_age},
    {"VolumeMode", "string", "", 1, volume_mode},
    {0},
};

/* --- Classes and drivers --- */

CELL_TEXT(class_provisioner, "provisioner", "")
CELL_TEXT(class_policy, "reclaimPolicy", "Delete")
CELL_TEXT(class_binding, "volumeBindingMode", "Immediate")
CELL_BOOL(class_expansion, "allowVolumeExpansion")

static const struct table_column class_columns[] = {
    {"Provisioner", "string", "", 0, class_provisioner},
    {"ReclaimPolicy", "string", "", 0, class_policy},
    {"VolumeBindingMode", "string", "", 0, class_binding},
    {"AllowVolumeExpansion", "string", "", 0, class_expansion},
    {"Age", "string", "", 0, cell_age},
    {0},
};

static yyjson_mut_val *join(yyjson_val *list, const char *member, yyjson_mut_doc *out)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    struct strbuf text;

    strbuf_init(&text, TEXT_MAX);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&iter));)
        strbuf_addf(&text, "%s%s", text.len ? "," : "", cell_text(item, member, ""));
    yyjson_mut_val *cell = yyjson_mut_strcpy(out, text.len ? text.text : "<unset>");
    strbuf_done(&text);
    return cell;
}

static yyjson_mut_val *driver_tokens(yyjson_val *driver, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return join(cell_at(driver, "spec.tokenRequests"), "audience", out);
}

static yyjson_mut_val *driver_modes(yyjson_val *driver, nsec_t now, yyjson_mut_doc *out)
{
    (void)now;
    return join(cell_at(driver, "spec.volumeLifecycleModes"), "", out);
}

CELL_BOOL(driver_attach, "spec.attachRequired")
CELL_BOOL(driver_info, "spec.podInfoOnMount")
CELL_BOOL(driver_capacity, "spec.storageCapacity")
CELL_BOOL(driver_republish, "spec.requiresRepublish")

static const struct table_column driver_columns[] = {
    {"AttachRequired", "boolean", "", 0, driver_attach},
    {"PodInfoOnMount", "boolean", "", 0, driver_info},
    {"StorageCapacity", "boolean", "", 0, driver_capacity},
    {"TokenRequests", "string", "", 0, driver_tokens},
    {"RequiresRepublish", "boolean", "", 0, driver_republish},
    {"Modes", "string", "", 0, driver_modes},
    {"Age", "string", "", 0, cell_age},
    {0},
};

CELL_COUNT(node_drivers, "spec.drivers")

static const struct table_column node_columns[] = {
    {"Drivers", "integer", "", 0, node_drivers}, {"Age", "string", "", 0, cell_age}, {0}};

CELL_TEXT(attacher, "spec.attacher", "")
CELL_TEXT(attached_volume, "spec.source.persistentVolumeName", "")
CELL_TEXT(attached_node, "spec.nodeName", "")
CELL_BOOL(is_attached, "status.attached")

static const struct table_column attachment_columns[] = {
    {"Attacher", "string", "name", 0, attacher}, {"PV", "string", "", 0, attached_volume},
    {"Node", "string", "", 0, attached_node},    {"Attached", "boolean", "", 0, is_attached},
    {"Age", "string", "", 0, cell_age},          {0},
};

const struct table_kind storage_tables[] = {
    {"", "persistentvolumeclaims", claim_columns},
    {"", "persistentvolumes", volume_columns},
    {"storage.k8s.io", "storageclasses", class_columns},
    {"storage.k8s.io", "csidrivers", driver_columns},
    {"storage.k8s.io", "csinodes", node_columns},
    {"storage.k8s.io", "volumeattachments", attachment_columns},
    {0},
};
