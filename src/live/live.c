/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One kind after the other, in the order of the table, so that two readings of the same cluster are the same. The server
 * says which versions its groups have; the kinds of one group need not be in the same version.
 */
#include "live/live.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "cluster/cluster_reading.h"
#include "kube/access/config.h"
#include "kube/client/client.h"
#include "kube/client/discovery.h"
#include "kube/client/meta.h"
#include "kube/follow/list.h"
#include "net/loop.h"
#include "objects/foreign.h"
#include "objects/kinds.h"
#include "objects/notes.h"

enum { PAGE_SIZE = 500, NAMES_MAX = 4096 };

struct walk {
    struct cluster_reading *reading;
    bool is_survey;
    struct loop *loop;
    struct kube_client *client;
    struct discovery *discovery;
    struct strbuf name;         // of the cluster, for messages
    yyjson_doc *groups;         // what the server has
    size_t next;                // row in the table of kinds
    uint32_t next_version;      // of its group
    VEC(const char *) refused;  // kinds that may not be listed
    struct err err;
};

/* Whatever the server's reason, nobody asked in a wrong way. */
static void fail(struct walk *walk, const struct err *err)
{
    walk->err = *err;
    (void)err_wrap(&walk->err, -EIO, "%s", walk->name.text);
    loop_stop(walk->loop);
}

/* "scheduling.run.ai/v2" and so on, the version that the server prefers first; NULL when there is no further one. */
static const char *version_at(const struct walk *walk, const char *group, uint32_t wanted)
{
    yyjson_val *item, *version;
    size_t i, count, k, version_count;

    if (*group == '\0')
        return wanted == 0 ? "v1" : NULL;
    yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(walk->groups), "groups"), i, count, item)
    {
        const char *preferred = kube_text(item, "preferredVersion", "groupVersion");

        if (strcmp(kube_text(item, "name"), group) != 0)
            continue;
        if (wanted == 0)
            return preferred;
        yyjson_arr_foreach(yyjson_obj_get(item, "versions"), k, version_count, version)
        {
            const char *text = kube_text(version, "groupVersion");

            if (strcmp(text, preferred) != 0 && --wanted == 0)
                return text;
        }
    }
    return NULL;
}

static void find_kind(struct walk *walk);

static void next_kind(struct walk *walk)
{
    walk->next++;
    walk->next_version = 0;
    find_kind(walk);
}

static int on_object(void *arg, yyjson_val *object)
{
    struct walk *walk = arg;
    yyjson_mut_doc *copy = kube_copy(object);

    if (!copy)
        return 0;
    /* Who wrote which field is often more text than the object. */
    (void)yyjson_mut_obj_remove_key(yyjson_mut_obj_get(copy->root, "metadata"), "managedFields");
    yyjson_doc *doc = yyjson_mut_doc_imut_copy(copy, NULL);

    yyjson_mut_doc_free(copy);
    return cluster_reading_add_live(walk->reading, object_kind_at(walk->next), doc, walk->name.text, &walk->err);
}

static void on_problem(void *arg, const struct err *err)
{
    struct walk *walk = arg;

    object_notes_warn(cluster_reading_notes(walk->reading), "%s: %s", walk->name.text, err->text);
}

static bool is_needed(const struct object_kind *kind)
{
    return *kind->group == '\0' && (strcmp(kind->kind, "Node") == 0 || strcmp(kind->kind, "Pod") == 0);
}

static void on_listed(void *arg, const struct kube_answer *answer, const char *resource_version)
{
    struct walk *walk = arg;
    const struct object_kind *kind = object_kind_at(walk->next);
    bool is_refused = answer->status == 403 || answer->status == 404 || answer->status == 405;

    (void)resource_version;
    if (walk->err.code < 0) {
        loop_stop(walk->loop);
    } else if (answer->err.code < 0 && (!is_refused || is_needed(kind))) {
        fail(walk, &answer->err);
    } else {
        if (answer->err.code < 0)
            vec_push(&walk->refused, kind->kind);
        next_kind(walk);
    }
}

static void on_found(void *arg, const struct kube_resource *resource, const struct err *err)
{
    struct walk *walk = arg;

    if (err->code < 0) {
        fail(walk, err);
        return;
    }
    if (!resource) {
        walk->next_version++;
        find_kind(walk);
        return;
    }
    (void)kube_list_start(walk->client, &(struct kube_list_request){
                                            .resource = resource,
                                            .page_size = PAGE_SIZE,
                                            .on_object = on_object,
                                            .on_problem = on_problem,
                                            .on_done = on_listed,
                                            .arg = walk,
                                        });
}

/* Looks for the kind in the next version of its group. */
static void find_kind(struct walk *walk)
{
    for (const struct object_kind *kind; (kind = object_kind_at(walk->next)) != NULL; walk->next++) {
        bool is_wanted = walk->is_survey || !object_kind_is_foreign(kind);
        const char *version = is_wanted ? version_at(walk, kind->group, walk->next_version) : NULL;

        if (version) {
            discovery_find(walk->discovery, version, kind->kind, on_found, walk);
            return;
        }
        walk->next_version = 0;
    }
    loop_stop(walk->loop);
}

static void on_groups(void *arg, const struct kube_answer *answer)
{
    struct walk *walk = arg;
    struct err err = answer->err;
    yyjson_val *groups;

    if (err.code == 0 && kube_answer_object(answer, &groups, &err) == 0) {
        yyjson_mut_doc *copy = kube_copy(groups);

        walk->groups = copy ? yyjson_mut_doc_imut_copy(copy, NULL) : NULL;
        yyjson_mut_doc_free(copy);
        find_kind(walk);
        return;
    }
    fail(walk, &err);
}

static void warn_of_refused(struct walk *walk)
{
    struct strbuf names;

    if (walk->refused.len == 0)
        return;
    strbuf_init(&names, NAMES_MAX);
    vec_foreach (&walk->refused, kind)
        strbuf_addf(&names, "%s%s", kind == walk->refused.items ? "" : ", ", *kind);
    object_notes_warn(cluster_reading_notes(walk->reading),
                      "%s: skipped %u kind%s that this user is not allowed to list: %s", walk->name.text,
                      walk->refused.len, walk->refused.len == 1 ? "" : "s", names.text);
    strbuf_done(&names);
}

static int read_all(struct walk *walk)
{
    walk->discovery = discovery_new(walk->client);
    (void)kube_send(walk->client, &(struct kube_request){
                                      .verb = KUBE_GET,
                                      .path = "/apis",
                                      .tries = 2,
                                      .on_done = on_groups,
                                      .arg = walk,
                                  });
    loop_run(walk->loop);
    if (walk->err.code == 0)
        warn_of_refused(walk);
    discovery_free(walk->discovery);
    yyjson_doc_free(walk->groups);
    vec_done(&walk->refused);
    return walk->err.code;
}

int live_read(void *source, const char *context, struct cluster_reading *reading, struct err *err)
{
    const struct live_source *from = source;
    struct kube_config *config = NULL;
    struct walk walk = {.reading = reading, .is_survey = from->is_survey};

    int r = kube_config_load(from->kubeconfig, context && *context ? context : NULL, &config, err);
    if (r < 0)
        return r;
    walk.loop = loop_new();
    strbuf_init(&walk.name, NAMES_MAX);
    strbuf_addf(&walk.name, "cluster %s", config->name);
    walk.client = kube_client_new(walk.loop, config, &(struct kube_client_options){.accepts_gzip = true});
    r = read_all(&walk);
    if (r < 0)
        *err = walk.err;
    kube_client_free(walk.client);
    loop_free(walk.loop);
    strbuf_done(&walk.name);
    return r;
}
