/* SPDX-License-Identifier: Apache-2.0 */
#include "local/node/pod/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "local/node/machine.h"
#include "local/node/pod/expand.h"
#include "local/node/pod/fields.h"
#include "local/node/pod/images.h"
#include "local/node/pod/sources.h"
#include "local/node/pod/users.h"

enum { VALUE_MAX = 2 << 20, VARIABLES_MAX = 10000 };

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct variable {
    char *name, *value;
};

struct environment {
    VEC(struct variable) items;
    yyjson_val *pod, *container;
    const struct sources *sources;
    const struct machine *machine;
    bool has_unknown;  // a variable was asked for that there is not
};

static const char *find(void *arg, const char *name, size_t len)
{
    const struct environment *environment = arg;

    for (uint32_t i = environment->items.len; i-- > 0;) {
        const struct variable *variable = &environment->items.items[i];

        if (strlen(variable->name) == len && strncmp(variable->name, name, len) == 0)
            return variable->value;
    }
    return NULL;
}

/* Takes the value. The last one of a name wins, in the place of the first. */
static void put(struct environment *environment, const char *name, char *value)
{
    vec_foreach (&environment->items, variable) {
        if (strcmp(variable->name, name) == 0) {
            free(variable->value);
            variable->value = value;
            return;
        }
    }
    if (environment->items.len < VARIABLES_MAX)
        vec_push(&environment->items, (struct variable){xstrdup(name), value});
    else
        free(value);
}

static int missing(struct err *err, enum source_kind kind, const char *name, const char *key)
{
    const char *title = kind == SOURCE_SECRET ? "secret" : "configmap";

    return key ? err_set(err, -ENOENT, "couldn't find key %s in %s %s", key, title, name)
               : err_set(err, -ENOENT, "%s \"%s\" not found", title, name);
}

static int put_all(struct environment *environment, yyjson_val *from, const char *member, enum source_kind kind,
                   struct err *err)
{
    yyjson_val *ref = value_at(from, member);
    const char *name = kube_text(ref, "name"), *prefix = kube_text(from, "prefix");

    if (!ref)
        return 0;
    yyjson_val *object = source_find(environment->sources, kind, name);
    if (!object)
        return bool_at(ref, "optional") ? 0 : missing(err, kind, name, NULL);
    const char *key;
    for (size_t at = 0; (key = source_key(object, kind, &at));) {
        struct strbuf text;
        size_t len = 0;
        char *value = source_value(object, kind, key, &len);

        /* Keys that cannot be names of variables are left out, as in Kubernetes. */
        if (!value || strpbrk(key, "= ")) {
            free(value);
            continue;
        }
        strbuf_init(&text, VALUE_MAX);
        strbuf_addf(&text, "%s%s", prefix, key);
        put(environment, text.text, value);
        strbuf_done(&text);
    }
    return 0;
}

static int put_key(struct environment *environment, const char *variable, yyjson_val *ref, enum source_kind kind,
                   struct err *err)
{
    const char *name = kube_text(ref, "name"), *key = kube_text(ref, "key");
    yyjson_val *object = source_find(environment->sources, kind, name);
    bool is_optional = bool_at(ref, "optional");
    size_t len = 0;

    if (!object)
        return is_optional ? 0 : missing(err, kind, name, NULL);
    char *value = source_value(object, kind, key, &len);
    if (!value)
        return is_optional ? 0 : missing(err, kind, name, key);
    put(environment, variable, value);
    return 0;
}

static int put_one(struct environment *environment, yyjson_val *row, struct err *err)
{
    const char *name = kube_text(row, "name");
    yyjson_val *from = value_at(row, "valueFrom"), *ref;
    struct strbuf text;
    int r = 0;

    if ((ref = value_at(from, "configMapKeyRef")))
        return put_key(environment, name, ref, SOURCE_CONFIG_MAP, err);
    if ((ref = value_at(from, "secretKeyRef")))
        return put_key(environment, name, ref, SOURCE_SECRET, err);
    strbuf_init(&text, VALUE_MAX);
    if ((ref = value_at(from, "fieldRef")))
        r = field_add(&text, environment->pod, kube_text(ref, "fieldPath"), environment->machine, err);
    else if ((ref = value_at(from, "resourceFieldRef")))
        r = resource_field_add(&text, environment->pod, environment->container, ref, environment->machine, err);
    else if (from)
        r = err_set(err, -ENOTSUP, "the source of variable %s is not supported", name);
    else
        expand(&text, kube_text(row, "value"), find, environment);
    if (r == 0)
        put(environment, name, strbuf_take(&text));
    strbuf_done(&text);
    return r;
}

static int fill(struct environment *environment, struct err *err)
{
    size_t i, max;
    yyjson_val *item;
    int r = 0;

    yyjson_arr_foreach(value_at(environment->container, "envFrom"), i, max, item)
    {
        if (r == 0)
            r = put_all(environment, item, "configMapRef", SOURCE_CONFIG_MAP, err);
        if (r == 0)
            r = put_all(environment, item, "secretRef", SOURCE_SECRET, err);
    }
    yyjson_arr_foreach(value_at(environment->container, "env"), i, max, item)
    {
        if (r == 0)
            r = put_one(environment, item, err);
    }
    return r;
}

static void add_words(yyjson_mut_doc *doc, yyjson_mut_val *argv, struct environment *environment, yyjson_val *words)
{
    size_t i, max;
    yyjson_val *word;

    yyjson_arr_foreach(words, i, max, word)
    {
        struct strbuf text;

        strbuf_init(&text, VALUE_MAX);
        expand(&text, yyjson_is_str(word) ? yyjson_get_str(word) : "", find, environment);
        (void)yyjson_mut_arr_add_strcpy(doc, argv, text.text);
        strbuf_done(&text);
    }
}

static void write_plan(yyjson_mut_doc *doc, yyjson_mut_val *plan, struct environment *environment,
                       const struct image *image)
{
    yyjson_val *command = value_at(environment->container, "command"), *args = value_at(environment->container, "args");
    bool has_command = yyjson_arr_size(command) > 0, has_args = yyjson_arr_size(args) > 0;
    yyjson_mut_val *env = yyjson_mut_obj_add_arr(doc, plan, "env");

    vec_foreach (&environment->items, variable) {
        struct strbuf text;

        strbuf_init(&text, VALUE_MAX);
        strbuf_addf(&text, "%s=%s", variable->name, variable->value);
        (void)yyjson_mut_arr_add_strcpy(doc, env, text.text);
        strbuf_done(&text);
    }
    yyjson_mut_val *argv = yyjson_mut_obj_add_arr(doc, plan, "argv");
    /* What the image runs by default is replaced as a whole by a command, and only its arguments by arguments. */
    if (!has_command && image)
        command = value_at(image->config, "Entrypoint");
    if (!has_command && !has_args && image)
        args = value_at(image->config, "Cmd");
    add_words(doc, argv, environment, command);
    add_words(doc, argv, environment, args);
}

static void put_preload(struct environment *environment, const char *library)
{
    const char name[] = "LD_PRELOAD";
    const char *own = find(environment, name, strlen(name));
    struct strbuf text;

    strbuf_init(&text, VALUE_MAX);
    strbuf_addf(&text, "%s%s%s", library, own && *own ? ":" : "", own ? own : "");
    put(environment, name, strbuf_take(&text));
    strbuf_done(&text);
}

static void put_list(struct environment *environment, const char *const *list)
{
    for (; list && *list; list += 2)
        put(environment, list[0], xstrdup(list[1]));
}

/* "NAME=value", as images have their variables. */
static void put_image(struct environment *environment, const struct image *image)
{
    size_t i, max;
    yyjson_val *row;

    yyjson_arr_foreach(image ? value_at(image->config, "Env") : NULL, i, max, row)
    {
        const char *text = yyjson_is_str(row) ? yyjson_get_str(row) : "", *equal = strchr(text, '=');

        if (equal) {
            _cleanup_(freep) char *name = xstrndup(text, (size_t)(equal - text));

            put(environment, name, xstrdup(equal + 1));
        }
    }
}

static const char *host_of(const struct env_request *request)
{
    const char *host = kube_text(request->pod, "spec", "hostname");

    if (*host)
        return host;
    return request->image ? kube_text(request->pod, "metadata", "name") : request->machine->host;
}

static void environment_done(struct environment *environment)
{
    vec_foreach (&environment->items, variable) {
        free(variable->name);
        free(variable->value);
    }
    vec_done(&environment->items);
}

static const char *find_known(void *arg, const char *name, size_t len)
{
    struct environment *environment = arg;
    const char *value = find(environment, name, len);

    environment->has_unknown |= !value;
    return value;
}

int env_expand(const struct env_request *request, const char *text, struct strbuf *to, struct err *err)
{
    struct environment environment = {
        .pod = request->pod, .container = request->container, .sources = request->sources, .machine = request->machine};
    int r = fill(&environment, err);

    if (r == 0)
        expand(to, text, find_known, &environment);
    if (r == 0 && environment.has_unknown)
        r = err_set(err, -EINVAL, "missing value for a variable of '%s'", text);
    environment_done(&environment);
    return r;
}

int env_add(yyjson_mut_doc *doc, yyjson_mut_val *plan, const struct env_request *request, struct err *err)
{
    struct environment environment = {
        .pod = request->pod, .container = request->container, .sources = request->sources, .machine = request->machine};

    put(&environment, "PATH", xstrdup(DEFAULT_PATH));
    put(&environment, "HOME", xstrdup(request->user->home));
    put(&environment, "USER", xstrdup(request->user->name));
    put(&environment, "HOSTNAME", xstrdup(host_of(request)));
    put_image(&environment, request->image);
    put_list(&environment, request->extra);
    int r = fill(&environment, err);
    put_list(&environment, request->last);
    if (request->preload)
        put_preload(&environment, request->preload);
    if (r == 0)
        write_plan(doc, plan, &environment, request->image);
    environment_done(&environment);
    return r;
}
