/* SPDX-License-Identifier: Apache-2.0 */

/*
 * One request a group and version, however many ask at the same time. Resources are interned for good, so that what was
 * handed out stays valid; there are a few hundred at most in any cluster.
 */
#include "kube/client/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "net/loop.h"

#define KEEP_FOUND (10 * NSEC_PER_MIN)
#define KEEP_MISSING NSEC_PER_MIN

/* Groups, versions and kinds come from objects that anybody may make. */
enum { VERSIONS_MAX = 1000, RESOURCES_MAX = 20000 };

struct question {
    char *kind;
    discovery_fn fn;
    void *arg;
};

/* A group and version. */
struct api_version {
    struct discovery *discovery;
    char *name;
    VEC(const struct kube_resource *) resources;
    VEC(struct question) questions;
    struct kube_call *call;
    struct loop_task answer;  // questions that need no request
    struct err err;           // of the last request
    nsec_t until;             // it is known, on the monotonic clock
};

struct discovery {
    struct kube_client *client;
    struct arena arena;
    VEC(struct api_version *) versions;
    VEC(const struct kube_resource *) all;
};

struct discovery *discovery_new(struct kube_client *client)
{
    struct discovery *discovery = xcalloc(1, sizeof *discovery);

    discovery->client = client;
    arena_init(&discovery->arena);
    return discovery;
}

static void version_free(struct api_version *version)
{
    kube_cancel(version->call);
    loop_task_cancel(&version->answer);
    vec_foreach (&version->questions, at)
        free(at->kind);
    vec_done(&version->questions);
    vec_done(&version->resources);
    free(version->name);
    free(version);
}

void discovery_free(struct discovery *discovery)
{
    if (!discovery)
        return;
    vec_foreach (&discovery->versions, at)
        version_free(*at);
    vec_done(&discovery->versions);
    vec_done(&discovery->all);
    arena_done(&discovery->arena);
    free(discovery);
}

static const struct kube_resource *find_kind(const struct api_version *version, const char *kind)
{
    vec_foreach (&version->resources, at) {
        if (strcmp((*at)->kind, kind) == 0)
            return *at;
    }
    return NULL;
}

/* Each may ask again, or free everything but what is being told right now. */
static void answer_all(void *arg)
{
    struct api_version *version = arg;
    uint32_t count = version->questions.len;
    struct question *questions = version->questions.items;
    struct err err = version->err;

    version->questions.items = NULL;
    version->questions.len = version->questions.cap = 0;
    /* Found first, for the callbacks may end the discovery. */
    const struct kube_resource **found = xcalloc(count, sizeof *found);

    for (uint32_t i = 0; i < count; i++)
        found[i] = find_kind(version, questions[i].kind);
    for (uint32_t i = 0; i < count; i++) {
        questions[i].fn(questions[i].arg, found[i], &err);
        free(questions[i].kind);
    }
    free(questions);
    free(found);
}

static bool is_same(const struct kube_resource *a, const struct kube_resource *b)
{
    return strcmp(a->group, b->group) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->plural, b->plural) == 0 && strcmp(a->kind, b->kind) == 0 && a->is_namespaced == b->is_namespaced;
}

static const struct kube_resource *intern(struct discovery *discovery, const struct kube_resource *resource)
{
    vec_foreach (&discovery->all, at) {
        if (is_same(*at, resource))
            return *at;
    }
    if (discovery->all.len == RESOURCES_MAX)
        return NULL;
    struct kube_resource *kept = ARENA_NEW(&discovery->arena, struct kube_resource);

    *kept = (struct kube_resource){
        .group = arena_strdup(&discovery->arena, resource->group),
        .version = arena_strdup(&discovery->arena, resource->version),
        .plural = arena_strdup(&discovery->arena, resource->plural),
        .kind = arena_strdup(&discovery->arena, resource->kind),
        .is_namespaced = resource->is_namespaced,
    };
    vec_push(&discovery->all, kept);
    return kept;
}

static void read_resources(struct api_version *version, yyjson_val *list)
{
    const char *slash = strchr(version->name, '/');
    _cleanup_(freep) char *group = xstrndup(version->name, slash ? (size_t)(slash - version->name) : 0);
    yyjson_val *item;
    size_t i, count;

    vec_clear(&version->resources);
    yyjson_arr_foreach(yyjson_obj_get(list, "resources"), i, count, item)
    {
        struct kube_resource resource = {
            .group = group,
            .version = slash ? slash + 1 : version->name,
            .plural = kube_text(item, "name"),
            .kind = kube_text(item, "kind"),
            .is_namespaced = yyjson_get_bool(yyjson_obj_get(item, "namespaced")),
        };

        /* Those with a slash are subresources. */
        if (!resource.plural[0] || strchr(resource.plural, '/') || find_kind(version, resource.kind))
            continue;
        const struct kube_resource *kept = intern(version->discovery, &resource);

        if (kept)
            vec_push(&version->resources, kept);
    }
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct api_version *version = arg;
    yyjson_val *list = NULL;

    version->call = NULL;
    version->err = answer->err;
    if (answer->status == 404) {
        version->err = (struct err){0};
        vec_clear(&version->resources);
        version->until = nsec_now_monotonic() + KEEP_MISSING;
    } else if (answer->err.code == 0 && kube_answer_object(answer, &list, &version->err) == 0) {
        read_resources(version, list);
        version->until = nsec_now_monotonic() + KEEP_FOUND;
    }
    answer_all(version);
}

static void ask(struct api_version *version)
{
    struct strbuf path;

    strbuf_init(&path, 1024);
    strbuf_addf(&path, "%s/%s", strchr(version->name, '/') ? "/apis" : "/api", version->name);
    version->call = kube_send(version->discovery->client, &(struct kube_request){
                                                              .verb = KUBE_GET,
                                                              .path = path.text,
                                                              .on_done = on_answer,
                                                              .arg = version,
                                                          });
    strbuf_done(&path);
}

/* Only what can be part of a path; others have no such kind. */
static bool is_good_name(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && len <= 512 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./") == len &&
           !strstr(name, "..") && strchr(name, '/') == strrchr(name, '/');
}

static struct api_version *find_version(const struct discovery *discovery, const char *name)
{
    vec_foreach (&discovery->versions, at) {
        if (strcmp((*at)->name, name) == 0)
            return *at;
    }
    return NULL;
}

/* What cannot be, or is one too many, shares the entry "" that has nothing. */
static struct api_version *version_of(struct discovery *discovery, const char *name)
{
    struct api_version *version = find_version(discovery, name);

    if (!version && (!is_good_name(name) || discovery->versions.len >= VERSIONS_MAX)) {
        name = "";
        version = find_version(discovery, name);
    }
    if (version)
        return version;
    version = xcalloc(1, sizeof *version);
    version->discovery = discovery;
    version->name = xstrdup(name);
    version->until = name[0] ? 0 : NSEC_MAX;
    loop_task_init(&version->answer, kube_client_loop(discovery->client), answer_all, version);
    vec_push(&discovery->versions, version);
    return version;
}

void discovery_find(struct discovery *discovery, const char *api_version, const char *kind, discovery_fn fn, void *arg)
{
    struct api_version *version = version_of(discovery, api_version);

    vec_push(&version->questions, (struct question){.kind = xstrdup(kind), .fn = fn, .arg = arg});
    if (nsec_now_monotonic() < version->until)
        loop_task_queue(&version->answer);
    else if (!version->call)
        ask(version);
}
