/* SPDX-License-Identifier: Apache-2.0 */
#include "services/scheduler/observe/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "frame/service.h"
#include "kube/client/meta.h"
#include "kube/client/resource.h"
#include "kube/follow/list.h"
#include "net/http_server.h"
#include "objects/reader.h"
#include "objects/snapshot.h"
#include "services/scheduler/observe/observer.h"
#include "services/scheduler/setup.h"
#include "text/zip/zip_write.h"

enum { PAGE_SIZE = 500, SELECTOR_MAX = 1024, SETTINGS_MAX = 64 << 20 };
#define PACKED_MAX ((size_t)512 << 20)

/* The lists of a snapshot, in KAI's words. */
static const struct list {
    const char *key;
    enum kube_known known;
    bool is_of_pool;  // only our node pool's
    const char *field_selector;
} lists[] = {
    {.key = "pods", .known = KUBE_PODS, .field_selector = "status.phase!=Failed"},
    {.key = "nodes", .known = KUBE_NODES, .is_of_pool = true},
    {.key = "queues", .known = KUBE_QUEUES, .is_of_pool = true},
    {.key = "podGroups", .known = KUBE_POD_GROUPS, .is_of_pool = true},
    {.key = "bindRequests", .known = KUBE_BIND_REQUESTS},
    {.key = "priorityClasses", .known = KUBE_PRIORITY_CLASSES},
    {.key = "configMaps", .known = KUBE_CONFIG_MAPS},
    {.key = "persistentVolumes", .known = KUBE_PERSISTENT_VOLUMES},
    {.key = "persistentVolumeClaims", .known = KUBE_PERSISTENT_VOLUME_CLAIMS},
    {.key = "csiStorageCapacities", .known = KUBE_CSI_STORAGE_CAPACITIES},
    {.key = "storageClasses", .known = KUBE_STORAGE_CLASSES},
    {.key = "csiDrivers", .known = KUBE_CSI_DRIVERS},
    {.key = "csiNodes", .known = KUBE_CSI_NODES},
    {.key = "resourceClaims", .known = KUBE_RESOURCE_CLAIMS},
    {.key = "resourceSlices", .known = KUBE_RESOURCE_SLICES},
    {.key = "deviceClasses", .known = KUBE_DEVICE_CLASSES},
    {.key = "topologies", .known = KUBE_TOPOLOGIES},
    {.key = "nodeResourceTopologies", .known = KUBE_NODE_RESOURCE_TOPOLOGIES},
};

struct snapshots {
    const struct scheduler_view *view;
    struct http_exchange *exchange;  // that waits for one; NULL: nobody does
    struct zip_writer *zip;
    struct kube_list *listing;
    size_t next;    // in `lists`
    bool has_item;  // in the list under way
};

struct snapshots *snapshots_new(const struct scheduler_view *view)
{
    struct snapshots *snapshots = xcalloc(1, sizeof *snapshots);

    snapshots->view = view;
    return snapshots;
}

static void add(struct snapshots *snapshots, const char *text)
{
    zip_writer_add(snapshots->zip, text, strlen(text));
}

static void end(struct snapshots *snapshots)
{
    zip_writer_free(snapshots->zip);
    snapshots->zip = NULL;
    snapshots->exchange = NULL;
}

static void fail(struct snapshots *snapshots, int status, const char *text)
{
    log_warn(snapshots->view->service->log, "snapshot could not be created", log_str("error", text));
    http_reply_text(snapshots->exchange, status, text);
    end(snapshots);
}

void snapshots_free(struct snapshots *snapshots)
{
    kube_list_cancel(snapshots->listing);
    if (snapshots->exchange)
        fail(snapshots, 503, "the scheduler is stopping");
    free(snapshots);
}

static void answer(struct snapshots *snapshots)
{
    _cleanup_(freep) char *archive = NULL;
    struct err err;
    size_t len = 0;

    add(snapshots, "}}\n");
    if (zip_writer_finish(snapshots->zip, &archive, &len, &err) < 0) {
        fail(snapshots, 500, err.text);
        return;
    }
    http_reply_header(snapshots->exchange, "Content-Disposition", "attachment; filename=snapshot.zip");
    http_reply(snapshots->exchange, 200, "application/zip", archive, len);
    end(snapshots);
}

static int on_object(void *arg, yyjson_val *object)
{
    struct snapshots *snapshots = arg;
    yyjson_mut_doc *copy = kube_copy(object);

    if (!copy)
        return 0;
    /* Who wrote which field is often more text than the object. */
    (void)yyjson_mut_obj_remove_key(yyjson_mut_obj_get(copy->root, "metadata"), "managedFields");
    size_t len = 0;
    char *text = yyjson_mut_write(copy, YYJSON_WRITE_ALLOW_INVALID_UNICODE, &len);

    yyjson_mut_doc_free(copy);
    if (snapshots->has_item)
        add(snapshots, ",");
    zip_writer_add(snapshots->zip, text, len);
    snapshots->has_item = true;
    free(text);
    return 0;
}

static void next_list(struct snapshots *snapshots);

static void on_listed(void *arg, const struct kube_answer *answer_of_list, const char *resource_version)
{
    struct snapshots *snapshots = arg;
    bool is_missing = answer_of_list->status == 403 || answer_of_list->status == 404;

    (void)resource_version;
    snapshots->listing = NULL;
    if (answer_of_list->err.code < 0 && !is_missing) {
        fail(snapshots, 502, answer_of_list->err.text);
        return;
    }
    add(snapshots, "]");
    snapshots->next++;
    next_list(snapshots);
}

static void next_list(struct snapshots *snapshots)
{
    const struct list *list = &lists[snapshots->next];
    struct strbuf text;

    if (snapshots->next == ARRAY_LEN(lists) || http_exchange_is_gone(snapshots->exchange)) {
        answer(snapshots);
        return;
    }
    strbuf_init(&text, SELECTOR_MAX);
    strbuf_addf(&text, "%s\"%s\":[", snapshots->next ? "," : "", list->key);
    add(snapshots, text.text);
    strbuf_clear(&text);
    snapshots->has_item = false;
    snapshots->listing = kube_list_start(
        snapshots->view->client,
        &(struct kube_list_request){
            .resource = kube_known_of(list->known, *snapshots->view->device_version),
            .label_selector = list->is_of_pool ? setup_pool_selector(snapshots->view->options, &text) : NULL,
            .field_selector = list->field_selector,
            .page_size = PAGE_SIZE,
            .on_object = on_object,
            .on_done = on_listed,
            .arg = snapshots,
        });
    strbuf_done(&text);
}

void snapshots_serve(struct snapshots *snapshots, struct http_exchange *exchange)
{
    struct strbuf text;

    if (snapshots->exchange) {
        http_reply_text(exchange, 429, "a snapshot is being created; try again");
        return;
    }
    snapshots->exchange = exchange;
    snapshots->zip = zip_writer_new(SNAPSHOT_MEMBER, PACKED_MAX);
    snapshots->next = 0;
    strbuf_init(&text, SETTINGS_MAX);
    strbuf_addch(&text, '{');
    snapshot_settings(snapshots->view, &text);
    strbuf_addstr(&text, ",\"rawObjects\":{");
    add(snapshots, text.text);
    strbuf_done(&text);
    next_list(snapshots);
}
