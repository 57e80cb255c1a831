/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The members of a kubeconfig that say where and who. Texts are merged as kubectl does it: for each name of a context,
 * a cluster or a user, and for the current context, the first text that has one counts.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/access/config.h"
#include "text/json.h"
#include "text/yaml.h"

/* Entries of a plugin's environment or arguments, and groups to act as. */
enum { STRINGS_MAX = 1024 };

/* One text and where its paths start. */
struct source {
    const char *name;
    struct json_at root;
};

struct sources {
    struct yaml_docs docs;
    VEC(struct source) list;
};

static void sources_done(struct sources *sources)
{
    yaml_docs_done(&sources->docs);
    vec_done(&sources->list);
}

static int read_sources(struct sources *sources, const struct kube_config_text *texts, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t before = sources->docs.len;
        int r = yaml_parse(texts[i].text, texts[i].len, texts[i].name, &sources->docs, err);

        if (r < 0)
            return r;
        if (sources->docs.len > before + 1)
            return err_set(err, -EINVAL, "%s: contains more than one document", texts[i].name);
        /* An empty file is as good as none. */
        if (sources->docs.len == before)
            continue;
        struct json_at root = json_root(sources->docs.items[before].json);

        r = json_object(&root, err);
        if (r < 0)
            return err_wrap(err, r, "%s", texts[i].name);
        vec_push(&sources->list, (struct source){.name = texts[i].name, .root = root});
    }
    return 0;
}

/* Finds the entry of that name in a list such as "clusters". Returns the text that it is from, and the places that
 * lead to its member `member`, or NULL with what is wrong. */
static const struct source *find_entry(const struct sources *sources, const char *list, const char *member,
                                       const char *name, struct json_at places[static 3], struct err *err)
{
    vec_foreach (&sources->list, source) {
        int r = json_member_array(&source->root, list, JSON_OPTIONAL, &places[0], err);

        if (r < 0) {
            (void)err_wrap(err, r, "%s", source->name);
            return NULL;
        }
        for (places[1] = (struct json_at){0}; json_next(&places[0], &places[1]);) {
            const char *found = "";

            if (json_member_str(&places[1], "name", JSON_OPTIONAL, &found, NULL) != 1 || strcmp(found, name) != 0)
                continue;
            r = json_member_object(&places[1], member, JSON_OPTIONAL, &places[2], err);
            if (r >= 0)
                return source;
            (void)err_wrap(err, r, "%s", source->name);
            return NULL;
        }
    }
    (void)err_set(err, -EINVAL, "%s: there is no %s named \"%s\"", sources->list.items[0].name, member, name);
    return NULL;
}

/* Copies the string if it is there and not empty. */
static int copy_str(const struct json_at *at, const char *key, char **to, struct err *err)
{
    const char *text = NULL;
    int r = json_member_str(at, key, JSON_OPTIONAL, &text, err);

    if (r == 1 && text[0])
        *to = xstrdup(text);
    return MIN(r, 0);
}

/* A path, relative to the folder of the text. */
static char *resolve(const char *name, const char *path)
{
    const char *slash = strrchr(name, '/');
    struct strbuf text;

    if (path[0] == '/' || !slash)
        return xstrdup(path);
    strbuf_init(&text, strlen(name) + strlen(path) + 2);
    strbuf_add(&text, name, (size_t)(slash - name) + 1);
    strbuf_addstr(&text, path);
    return strbuf_take(&text);
}

static int copy_path(const struct source *source, const struct json_at *at, const char *key, char **to, struct err *err)
{
    _cleanup_(freep) char *path = NULL;
    int r = copy_str(at, key, &path, err);

    if (r == 0 && path)
        *to = resolve(source->name, path);
    return r;
}

/* A secret that is given in base64 as `data_key` or in a file as `file_key`. */
static int copy_secret(const struct source *source, const struct json_at *at, const char *data_key,
                       const char *file_key, struct kube_secret *to, struct err *err)
{
    _cleanup_(freep) char *encoded = NULL;
    size_t len = 0;
    int r = copy_str(at, data_key, &encoded, err);

    if (r < 0)
        return r;
    if (encoded) {
        if (base64_decode(encoded, &to->text, &len) < 0 || strlen(to->text) != len)
            return json_fail(at, err, -EINVAL, "%s is not valid base64", data_key);
        return 0;
    }
    return copy_path(source, at, file_key, &to->file, err);
}

static int copy_strings(const struct json_at *at, const char *key, struct kube_strings *to, struct err *err)
{
    struct json_at array;
    int r = json_member_array(at, key, JSON_OPTIONAL, &array, err);

    for (struct json_at item = {0}; r >= 0 && json_next(&array, &item);) {
        const char *text = NULL;

        if (to->len == STRINGS_MAX)
            return json_fail(&array, err, -EINVAL, "has more than %d entries", STRINGS_MAX);
        r = json_str(&item, &text, err);
        if (r == 0)
            vec_push(to, xstrdup(text));
    }
    return MIN(r, 0);
}

static int copy_env(const struct json_at *exec, struct kube_strings *to, struct err *err)
{
    struct json_at array;
    int r = json_member_array(exec, "env", JSON_OPTIONAL, &array, err);

    for (struct json_at item = {0}; r >= 0 && json_next(&array, &item);) {
        const char *name = NULL;
        const char *value = "";
        struct strbuf pair;

        if (to->len == STRINGS_MAX)
            return json_fail(&array, err, -EINVAL, "has more than %d entries", STRINGS_MAX);
        r = json_member_str(&item, "name", JSON_REQUIRED, &name, err);
        if (r >= 0)
            r = json_member_str(&item, "value", JSON_OPTIONAL, &value, err);
        if (r < 0)
            break;
        strbuf_init(&pair, strlen(name) + strlen(value) + 1);
        strbuf_addf(&pair, "%s=%s", name, value);
        vec_push(to, strbuf_take(&pair));
    }
    return MIN(r, 0);
}

static int read_exec(const struct source *source, const struct json_at *user, struct kube_exec *exec, struct err *err)
{
    _cleanup_(freep) char *command = NULL;
    const char *mode = "IfAvailable";
    struct json_at at;
    int r = json_member_object(user, "exec", JSON_OPTIONAL, &at, err);

    if (r <= 0)
        return r;
    if ((r = copy_str(&at, "apiVersion", &exec->api_version, err)) < 0 ||
        (r = copy_str(&at, "command", &command, err)) < 0 || (r = copy_str(&at, "installHint", &exec->hint, err)) < 0 ||
        (r = copy_strings(&at, "args", &exec->args, err)) < 0 || (r = copy_env(&at, &exec->env, err)) < 0 ||
        (r = json_member_bool(&at, "provideClusterInfo", JSON_OPTIONAL, &exec->wants_cluster, err)) < 0 ||
        (r = json_member_str(&at, "interactiveMode", JSON_OPTIONAL, &mode, err)) < 0)
        return r;
    if (!command)
        return json_fail(&at, err, -EINVAL, "names no command");
    if (!exec->api_version || (strcmp(exec->api_version, "client.authentication.k8s.io/v1") != 0 &&
                               strcmp(exec->api_version, "client.authentication.k8s.io/v1beta1") != 0))
        return json_fail(&at, err, -EINVAL, "apiVersion has to be client.authentication.k8s.io/v1 or v1beta1");
    if (strcmp(mode, "Always") == 0)
        return json_fail(&at, err, -EINVAL, "interactiveMode: Always needs a terminal, which Muster does not provide");
    /* A bare name is looked for in PATH. */
    exec->command = strchr(command, '/') ? resolve(source->name, command) : TAKE_PTR(command);
    return 0;
}

static int read_cluster(const struct sources *sources, const char *name, struct kube_config *config, struct err *err)
{
    struct json_at places[3];
    const struct source *source = find_entry(sources, "clusters", "cluster", name, places, err);
    const struct json_at *at = &places[2];
    int r;

    if (!source)
        return -EINVAL;

    if ((r = copy_str(at, "server", &config->server, err)) < 0 ||
        (r = copy_str(at, "proxy-url", &config->proxy, err)) < 0 ||
        (r = copy_str(at, "tls-server-name", &config->tls_server_name, err)) < 0 ||
        (r = json_member_bool(at, "insecure-skip-tls-verify", JSON_OPTIONAL, &config->skips_verify, err)) < 0 ||
        (r = copy_secret(source, at, "certificate-authority-data", "certificate-authority", &config->ca, err)) < 0)
        return err_wrap(err, r, "%s: cluster %s", source->name, name);
    if (!config->server)
        return err_set(err, -EINVAL, "%s: cluster %s: server is missing", source->name, name);
    if (strncmp(config->server, KUBE_UNIX_PREFIX, strlen(KUBE_UNIX_PREFIX)) == 0) {
        config->unix_path = xstrdup(config->server + strlen(KUBE_UNIX_PREFIX));
        free(config->server);
        config->server = xstrdup(KUBE_UNIX_SERVER);
    }
    if (strncmp(config->server, "https://", 8) != 0 && strncmp(config->server, "http://", 7) != 0)
        return err_set(err, -EINVAL,
                       "%s: cluster %s: server has to start with https://, http:// or unix:", source->name, name);
    for (size_t len = strlen(config->server); len > 0 && config->server[len - 1] == '/'; len--)
        config->server[len - 1] = '\0';
    return 0;
}

static int read_user(const struct sources *sources, const char *name, struct kube_config *config, struct err *err)
{
    struct json_at places[3];
    const struct source *source = find_entry(sources, "users", "user", name, places, err);
    const struct json_at *at = &places[2];
    int r;

    if (!source)
        return -EINVAL;

    if ((r = copy_secret(source, at, "client-certificate-data", "client-certificate", &config->cert, err)) < 0 ||
        (r = copy_secret(source, at, "client-key-data", "client-key", &config->key, err)) < 0 ||
        (r = copy_str(at, "token", &config->token.text, err)) < 0 ||
        (r = copy_path(source, at, "tokenFile", &config->token.file, err)) < 0 ||
        (r = copy_str(at, "username", &config->username, err)) < 0 ||
        (r = copy_str(at, "password", &config->password, err)) < 0 ||
        (r = copy_str(at, "as", &config->as_user, err)) < 0 || (r = copy_str(at, "as-uid", &config->as_uid, err)) < 0 ||
        (r = copy_strings(at, "as-groups", &config->as_groups, err)) < 0 ||
        (r = read_exec(source, at, &config->exec, err)) < 0)
        return err_wrap(err, r, "%s: user %s", source->name, name);
    if (!config->exec.command && yyjson_is_obj(yyjson_obj_get(at->val, "auth-provider")))
        return err_set(err, -EINVAL, "%s: user %s: auth-provider is not supported; use exec", source->name, name);
    return 0;
}

static int find_context(const struct sources *sources, const char *context, const char **ret_context, struct err *err)
{
    if (context && context[0]) {
        *ret_context = context;
        return 0;
    }
    vec_foreach (&sources->list, source) {
        const char *current = "";
        int r = json_member_str(&source->root, "current-context", JSON_OPTIONAL, &current, err);

        if (r < 0)
            return err_wrap(err, r, "%s", source->name);
        if (current[0]) {
            *ret_context = current;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "%s: current-context is missing, and no context was given",
                   sources->list.items[0].name);
}

static int read_context(const struct sources *sources, const char *context, struct kube_config *config, struct err *err)
{
    struct json_at places[3];
    const struct source *source = find_entry(sources, "contexts", "context", context, places, err);
    const char *cluster = "";
    const char *user = "";
    int r;

    if (!source)
        return -EINVAL;
    if ((r = json_member_str(&places[2], "cluster", JSON_REQUIRED, &cluster, err)) < 0 ||
        (r = json_member_str(&places[2], "user", JSON_OPTIONAL, &user, err)) < 0 ||
        (r = copy_str(&places[2], "namespace", &config->namespace, err)) < 0)
        return err_wrap(err, r, "%s: context %s", source->name, context);
    config->name = xstrdup(context);
    if (!config->namespace)
        config->namespace = xstrdup("default");
    r = read_cluster(sources, cluster, config, err);
    if (r == 0 && user[0])
        r = read_user(sources, user, config, err);
    return r;
}

int kube_config_parse(const struct kube_config_text *texts, size_t count, const char *context,
                      struct kube_config **ret_config, struct err *err)
{
    _cleanup_(sources_done) struct sources sources = {0};
    _cleanup_(kube_config_freep) struct kube_config *config = xcalloc(1, sizeof *config);
    const char *name = "";
    int r = read_sources(&sources, texts, count, err);

    if (r < 0)
        return r;
    if (sources.list.len == 0)
        return err_set(err, -EINVAL, "%s: is empty", count ? texts[0].name : "kubeconfig");
    r = find_context(&sources, context, &name, err);
    if (r == 0)
        r = read_context(&sources, name, config, err);
    if (r == 0)
        *ret_config = TAKE_PTR(config);
    return r;
}
