/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/access/base64.h"
#include "kube/client/client.h"
#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "local/controllers/values.h"
#include "text/json.h"

enum { SOURCES_MAX = 256, TOKEN_SECONDS_DEFAULT = 3600 };

struct fetching {
    struct sources *sources;
    struct kube_client *client;
    char *namespace, *pod, *uid;
    struct kube_call *call;
    uint32_t next;
    void (*on_done)(void *arg, const struct err *err);
    void *arg;
};

static void add(struct sources *sources, enum source_kind kind, const char *name)
{
    if (!*name || sources->items.len >= SOURCES_MAX)
        return;
    vec_foreach (&sources->items, source) {
        if (source->kind == kind && strcmp(source->name, name) == 0)
            return;
    }
    vec_push(&sources->items, (struct source){.kind = kind, .name = xstrdup(name)});
}

static void collect_env(struct sources *sources, yyjson_val *container)
{
    size_t i, max;
    yyjson_val *item;

    yyjson_arr_foreach(value_at(container, "envFrom"), i, max, item)
    {
        add(sources, SOURCE_CONFIG_MAP, kube_text(item, "configMapRef", "name"));
        add(sources, SOURCE_SECRET, kube_text(item, "secretRef", "name"));
    }
    yyjson_arr_foreach(value_at(container, "env"), i, max, item)
    {
        add(sources, SOURCE_CONFIG_MAP, kube_text(item, "valueFrom", "configMapKeyRef", "name"));
        add(sources, SOURCE_SECRET, kube_text(item, "valueFrom", "secretKeyRef", "name"));
    }
}

static void add_token(struct sources *sources, const char *account, yyjson_val *from)
{
    const char *audience = kube_text(from, "audience");

    if (!from || sources->items.len >= SOURCES_MAX)
        return;
    vec_foreach (&sources->items, source) {
        if (source->kind == SOURCE_TOKEN && source->seconds == token_seconds(from) &&
            strcmp(source->audience, audience) == 0)
            return;
    }
    vec_push(&sources->items, (struct source){.kind = SOURCE_TOKEN,
                                              .name = xstrdup(*account ? account : "default"),
                                              .audience = xstrdup(audience),
                                              .seconds = token_seconds(from)});
}

static void collect_volume(struct sources *sources, yyjson_val *volume)
{
    size_t i, max;
    yyjson_val *item;

    add(sources, SOURCE_CONFIG_MAP, kube_text(volume, "configMap", "name"));
    add(sources, SOURCE_SECRET, kube_text(volume, "secret", "secretName"));
    yyjson_arr_foreach(value_at(volume, "projected", "sources"), i, max, item)
    {
        add(sources, SOURCE_CONFIG_MAP, kube_text(item, "configMap", "name"));
        add(sources, SOURCE_SECRET, kube_text(item, "secret", "name"));
    }
}

static void collect_tokens(struct sources *sources, yyjson_val *pod, yyjson_val *volume)
{
    size_t i, max;
    yyjson_val *item;

    yyjson_arr_foreach(value_at(volume, "projected", "sources"), i, max, item)
    {
        add_token(sources, kube_text(pod, "spec", "serviceAccountName"), value_at(item, "serviceAccountToken"));
    }
}

void sources_collect(struct sources *sources, yyjson_val *pod, bool has_tokens)
{
    static const char *const lists[] = {"containers", "initContainers"};
    size_t i, max;
    yyjson_val *item;

    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        yyjson_arr_foreach(value_at(pod, "spec", lists[k]), i, max, item)
        {
            collect_env(sources, item);
        }
    }
    yyjson_arr_foreach(value_at(pod, "spec", "volumes"), i, max, item)
    {
        collect_volume(sources, item);
        if (has_tokens)
            collect_tokens(sources, pod, item);
    }
}

void sources_done(struct sources *sources)
{
    vec_foreach (&sources->items, source) {
        free(source->name);
        free(source->audience);
        yyjson_doc_free(source->doc);
    }
    vec_done(&sources->items);
}

yyjson_val *source_find(const struct sources *sources, enum source_kind kind, const char *name)
{
    vec_foreach (&sources->items, source) {
        if (source->kind == kind && strcmp(source->name, name) == 0)
            return yyjson_doc_get_root(source->doc);
    }
    return NULL;
}

int64_t token_seconds(yyjson_val *from)
{
    return number_at(from, TOKEN_SECONDS_DEFAULT, "expirationSeconds");
}

yyjson_val *source_find_token(const struct sources *sources, const char *audience, int64_t seconds)
{
    vec_foreach (&sources->items, source) {
        if (source->kind == SOURCE_TOKEN && source->seconds == seconds && strcmp(source->audience, audience) == 0)
            return yyjson_doc_get_root(source->doc);
    }
    return NULL;
}

/* --- fetching --- */

static void fetch_next(struct fetching *fetching);

static void fetching_free(struct fetching *fetching)
{
    free(fetching->namespace);
    free(fetching->pod);
    free(fetching->uid);
    free(fetching);
}

static void finish(struct fetching *fetching, const struct err *err)
{
    void (*on_done)(void *arg, const struct err *err) = fetching->on_done;
    void *arg = fetching->arg;

    fetching_free(fetching);
    on_done(arg, err);
}

static void on_answer(void *arg, const struct kube_answer *answer)
{
    struct fetching *fetching = arg;
    struct source *source = &fetching->sources->items.items[fetching->next++];

    fetching->call = NULL;
    if (answer->err.code == 0)
        source->doc = yyjson_read(answer->body, answer->body_len, 0);
    else if (answer->status != 404 || source->kind == SOURCE_TOKEN) {
        finish(fetching, &answer->err);
        return;
    }
    fetch_next(fetching);
}

/* A token of the pod's account, which ends with the pod. */
static void ask_token(struct fetching *fetching, const struct source *source)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);

    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "authentication.k8s.io/v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "TokenRequest");
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    (void)yyjson_mut_obj_add_int(doc, spec, "expirationSeconds", source->seconds);
    yyjson_mut_val *audiences = yyjson_mut_obj_add_arr(doc, spec, "audiences");
    if (*source->audience)
        (void)yyjson_mut_arr_add_strcpy(doc, audiences, source->audience);
    yyjson_mut_val *bound = yyjson_mut_obj_add_obj(doc, spec, "boundObjectRef");
    (void)yyjson_mut_obj_add_str(doc, bound, "apiVersion", "v1");
    (void)yyjson_mut_obj_add_str(doc, bound, "kind", "Pod");
    (void)yyjson_mut_obj_add_strcpy(doc, bound, "name", fetching->pod);
    (void)yyjson_mut_obj_add_strcpy(doc, bound, "uid", fetching->uid);
    fetching->call = kube_send_doc(fetching->client,
                                   &(struct kube_request){
                                       .verb = KUBE_CREATE,
                                       .resource = kube_known(KUBE_SERVICE_ACCOUNTS),
                                       .namespace = fetching->namespace,
                                       .name = source->name,
                                       .subresource = "token",
                                       .on_done = on_answer,
                                       .arg = fetching,
                                   },
                                   doc);
    yyjson_mut_doc_free(doc);
}

static void fetch_next(struct fetching *fetching)
{
    const struct err fine = {0};

    if (fetching->next >= fetching->sources->items.len) {
        finish(fetching, &fine);
        return;
    }
    const struct source *source = &fetching->sources->items.items[fetching->next];
    if (source->kind == SOURCE_TOKEN) {
        ask_token(fetching, source);
        return;
    }
    fetching->call = kube_send(
        fetching->client, &(struct kube_request){
                              .verb = KUBE_GET,
                              .resource = kube_known(source->kind == SOURCE_SECRET ? KUBE_SECRETS : KUBE_CONFIG_MAPS),
                              .namespace = fetching->namespace,
                              .name = source->name,
                              .on_done = on_answer,
                              .arg = fetching,
                          });
}

struct fetching *sources_fetch(struct sources *sources, struct kube_client *client, yyjson_val *pod,
                               void (*on_done)(void *arg, const struct err *err), void *arg)
{
    BUG_ON(sources->items.len == 0);
    struct fetching *fetching = xcalloc(1, sizeof *fetching);
    *fetching = (struct fetching){.sources = sources,
                                  .client = client,
                                  .namespace = xstrdup(kube_text(pod, "metadata", "namespace")),
                                  .pod = xstrdup(kube_text(pod, "metadata", "name")),
                                  .uid = xstrdup(kube_text(pod, "metadata", "uid")),
                                  .on_done = on_done,
                                  .arg = arg};
    fetch_next(fetching);
    return fetching;
}

void fetching_cancel(struct fetching *fetching)
{
    if (fetching->call)
        kube_cancel(fetching->call);
    fetching_free(fetching);
}

/* --- values --- */

static char *decode(const char *text, size_t *ret_len)
{
    char *bytes = NULL;

    return base64_decode(text, &bytes, ret_len) == 0 ? bytes : NULL;
}

char *source_value(yyjson_val *object, enum source_kind kind, const char *key, size_t *ret_len)
{
    yyjson_val *plain = yyjson_obj_get(value_at(object, "data"), key);
    yyjson_val *binary = yyjson_obj_get(value_at(object, "binaryData"), key);

    if (kind == SOURCE_SECRET)
        return yyjson_is_str(plain) ? decode(yyjson_get_str(plain), ret_len) : NULL;
    if (yyjson_is_str(plain)) {
        *ret_len = yyjson_get_len(plain);
        return xstrndup(yyjson_get_str(plain), *ret_len);
    }
    return yyjson_is_str(binary) ? decode(yyjson_get_str(binary), ret_len) : NULL;
}

const char *source_key(yyjson_val *object, enum source_kind kind, size_t *at)
{
    yyjson_val *maps[] = {value_at(object, "data"), kind == SOURCE_CONFIG_MAP ? value_at(object, "binaryData") : NULL};
    size_t index = (*at)++;

    for (size_t k = 0; k < ARRAY_LEN(maps); k++) {
        size_t i, max;
        yyjson_val *key, *value;

        if (index >= yyjson_obj_size(maps[k])) {
            index -= yyjson_obj_size(maps[k]);
            continue;
        }
        yyjson_obj_foreach(maps[k], i, max, key, value)
        {
            if (i == index)
                return yyjson_get_str(key);
        }
    }
    return NULL;
}
