/* SPDX-License-Identifier: Apache-2.0 */

/* Where to look for a configuration, and the one that a pod has without a file. */
#include "kube/access/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "text/file.h"

#define IN_CLUSTER_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount"

/* $KUBECONFIG names a handful of files at most. */
enum { FILES_MAX = 16 };

static void strings_done(struct kube_strings *strings)
{
    vec_foreach (strings, at)
        free(*at);
    vec_done(strings);
}

static void secret_done(struct kube_secret *secret)
{
    if (secret->text)
        explicit_bzero(secret->text, strlen(secret->text));
    free(secret->text);
    free(secret->file);
}

void kube_config_free(struct kube_config *config)
{
    if (!config)
        return;
    free(config->name);
    free(config->server);
    free(config->unix_path);
    free(config->namespace);
    free(config->proxy);
    free(config->tls_server_name);
    secret_done(&config->ca);
    secret_done(&config->cert);
    secret_done(&config->key);
    secret_done(&config->token);
    free(config->username);
    free(config->password);
    free(config->as_user);
    free(config->as_uid);
    strings_done(&config->as_groups);
    free(config->exec.api_version);
    free(config->exec.command);
    strings_done(&config->exec.args);
    strings_done(&config->exec.env);
    free(config->exec.hint);
    free(config);
}

void kube_config_freep(struct kube_config **config)
{
    kube_config_free(*config);
}

static char *format(const char *a, const char *b, const char *c)
{
    struct strbuf text;

    strbuf_init(&text, 1 << 16);
    strbuf_addstr(&text, a);
    strbuf_addstr(&text, b);
    strbuf_addstr(&text, c);
    return strbuf_take(&text);
}

static char *server_in_cluster(const char *host, const char *port)
{
    bool is_ipv6 = strchr(host, ':') != NULL;
    _cleanup_(freep) char *shown = is_ipv6 ? format("[", host, "]") : xstrdup(host);
    _cleanup_(freep) char *authority = format(shown, ":", port);

    return format("https://", authority, "");
}

int kube_config_in_cluster(const char *folder, struct kube_config **ret_config, struct err *err)
{
    const char *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT");
    _cleanup_(freep) char *token_file = format(folder, "/token", "");
    _cleanup_(freep) char *ca_file = format(folder, "/ca.crt", "");
    _cleanup_(freep) char *namespace_file = format(folder, "/namespace", "");
    _cleanup_(freep) char *home = NULL;
    size_t len = 0;

    if (!host || !host[0] || !port || !port[0] || access(token_file, R_OK) < 0)
        return err_set(err, -ENOENT, "not in a pod: KUBERNETES_SERVICE_HOST or %s is missing", token_file);
    /* A pod may live without it; then names have to be written out. */
    if (file_read(namespace_file, 1024, &home, &len, NULL) == 0)
        home[strcspn(home, "\r\n \t")] = '\0';

    struct kube_config *config = xcalloc(1, sizeof *config);

    config->name = xstrdup("in-cluster");
    config->server = server_in_cluster(host, port);
    config->namespace = xstrdup(home && home[0] ? home : "default");
    config->token.file = TAKE_PTR(token_file);
    config->ca.file = TAKE_PTR(ca_file);
    *ret_config = config;
    return 0;
}

/* The texts of files, which live as long as this. */
struct sources {
    struct kube_config_text texts[FILES_MAX];
    char *names[FILES_MAX];
    char *data[FILES_MAX];
    size_t count;
};

static void sources_done(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->names[i]);
        free(sources->data[i]);
    }
}

/* Takes over `name`. */
static int sources_add(struct sources *sources, char *name, struct err *err)
{
    size_t i = sources->count;

    if (i == FILES_MAX) {
        free(name);
        return err_set(err, -EINVAL, "KUBECONFIG names more than %d files", FILES_MAX);
    }
    int r = file_read(name, KUBE_CONFIG_BYTES_MAX, &sources->data[i], &sources->texts[i].len, err);
    if (r < 0) {
        free(name);
        return r;
    }
    sources->names[i] = name;
    sources->texts[i].name = name;
    sources->texts[i].text = sources->data[i];
    sources->count++;
    return 0;
}

static int load_list(const char *list, const char *context, struct kube_config **ret_config, struct err *err)
{
    _cleanup_(sources_done) struct sources sources = {0};

    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ":");
        int r = len ? sources_add(&sources, xstrndup(at, len), err) : 0;

        /* As kubectl does: files in the list need not be there. */
        if (r < 0 && r != -ENOENT)
            return r;
        at += len + (at[len] == ':');
    }
    if (sources.count == 0)
        return err_set(err, -ENOENT, "none of the files in KUBECONFIG exists: %s", list);
    return kube_config_parse(sources.texts, sources.count, context, ret_config, err);
}

static int load_file(const char *path, const char *context, struct kube_config **ret_config, struct err *err)
{
    _cleanup_(sources_done) struct sources sources = {0};
    int r = sources_add(&sources, xstrdup(path), err);

    return r < 0 ? r : kube_config_parse(sources.texts, sources.count, context, ret_config, err);
}

static struct kube_config *config_of_socket(const char *address)
{
    struct kube_config *config = xcalloc(1, sizeof *config);

    config->name = xstrdup(address);
    config->server = xstrdup(KUBE_UNIX_SERVER);
    config->unix_path = xstrdup(address + strlen(KUBE_UNIX_PREFIX));
    config->namespace = xstrdup("default");
    return config;
}

int kube_config_load(const char *path, const char *context, struct kube_config **ret_config, struct err *err)
{
    const char *list = getenv("KUBECONFIG");
    const char *home = getenv("HOME");

    if (path && strncmp(path, KUBE_UNIX_PREFIX, strlen(KUBE_UNIX_PREFIX)) == 0) {
        *ret_config = config_of_socket(path);
        return 0;
    }
    if (path && path[0])
        return load_file(path, context, ret_config, err);
    if (list && list[0])
        return load_list(list, context, ret_config, err);
    /* Somebody who names a context means one of a file. */
    if ((!context || !context[0]) && kube_config_in_cluster(IN_CLUSTER_FOLDER, ret_config, NULL) == 0)
        return 0;
    if (home && home[0]) {
        _cleanup_(freep) char *usual = format(home, "/.kube/config", "");

        if (access(usual, F_OK) == 0)
            return load_file(usual, context, ret_config, err);
    }
    return err_set(err, -ENOENT, "no kubeconfig found: give --kubeconfig, set KUBECONFIG, or run in a pod");
}
