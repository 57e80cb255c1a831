/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Files are small and local, so they are read on the spot. One that is missing or empty for a moment, while it is being
 * replaced, does no harm: what was read before stays in use.
 */
#include "kube/access/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "net/http.h"
#include "net/process.h"
#include "text/file.h"

#define READ_EVERY NSEC_PER_MIN
#define EXPIRES_EARLY (10 * NSEC_PER_SEC)
#define EXEC_TIMEOUT NSEC_PER_MIN
#define EXEC_RETRY (2 * NSEC_PER_SEC)

enum { EXEC_OUTPUT_MAX = 1 << 20 };

void kube_credentials_init(struct kube_credentials *credentials, struct loop *loop, const struct kube_config *config,
                           loop_fn on_change, void *arg)
{
    *credentials = (struct kube_credentials){.loop = loop, .config = config, .on_change = on_change, .arg = arg};
}

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void kube_credentials_done(struct kube_credentials *credentials)
{
    if (credentials->plugin)
        process_cancel(credentials->plugin);
    http_tls_unref(credentials->tls);
    free_secret(credentials->token);
    free(credentials->ca);
    free(credentials->cert);
    free_secret(credentials->key);
    *credentials = (struct kube_credentials){0};
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Takes over `text`; says whether that is a change. */
static bool replace(char **at, char *text)
{
    if (is_same(*at, text)) {
        free_secret(text);
        return false;
    }
    free_secret(*at);
    *at = text;
    return true;
}

/* The secret as it is now: from its file, from its place, or `old` when the file cannot be read at the moment. To be
 * freed; NULL when there is none. */
static int read_secret(const struct kube_secret *secret, const char *old, char **ret_text, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;

    *ret_text = NULL;
    if (!secret->file) {
        *ret_text = secret->text ? xstrdup(secret->text) : NULL;
        return 0;
    }
    int r = file_read(secret->file, KUBE_SECRET_BYTES_MAX, &text, &len, err);

    if (r == 0 && (len == 0 || strlen(text) != len))
        r = err_set(err, -EINVAL, "%s: is empty or not text", secret->file);
    if (r < 0 && !old && !secret->text)
        return r;
    if (r < 0)
        *ret_text = xstrdup(old ? old : secret->text);
    else
        *ret_text = TAKE_PTR(text);
    return 0;
}

static void make_tls(struct kube_credentials *credentials)
{
    const struct kube_config *config = credentials->config;

    http_tls_unref(credentials->tls);
    credentials->tls = http_tls_new(&(struct http_tls_options){
        .ca_pem = credentials->ca,
        .cert_pem = credentials->cert,
        .key_pem = credentials->key,
        .server_name = config->tls_server_name,
        .skips_verify = config->skips_verify,
    });
}

/* A token becomes part of a header: what could end that header is no token. */
static bool is_good_token(const char *token)
{
    for (const char *at = token; at && *at; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f)
            return false;
    }
    return true;
}

static void trim(char *text)
{
    if (!text)
        return;
    size_t start = strspn(text, " \t\r\n");
    size_t len = strlen(text + start);

    while (len > 0 && strchr(" \t\r\n", text[start + len - 1]))
        len--;
    memmove(text, text + start, len);
    text[len] = '\0';
}

static int set_token(struct kube_credentials *credentials, char *token, struct err *err)
{
    trim(token);
    if (!is_good_token(token)) {
        free_secret(token);
        return err_set(err, -EINVAL, "the token contains invalid characters");
    }
    (void)replace(&credentials->token, token);
    return 0;
}

/* Reads what is in files, or in its place, with a plugin's certificate left alone. */
static int read_files(struct kube_credentials *credentials, struct err *err)
{
    const struct kube_config *config = credentials->config;
    bool has_plugin = config->exec.command != NULL;
    char *text = NULL;
    bool is_new = !credentials->tls;
    int r = read_secret(&config->ca, credentials->ca, &text, err);

    if (r < 0)
        return err_wrap(err, r, "certificate authority");
    is_new |= replace(&credentials->ca, text);
    if (!has_plugin) {
        if ((r = read_secret(&config->cert, credentials->cert, &text, err)) < 0)
            return err_wrap(err, r, "client certificate");
        is_new |= replace(&credentials->cert, text);
        if ((r = read_secret(&config->key, credentials->key, &text, err)) < 0)
            return err_wrap(err, r, "client key");
        is_new |= replace(&credentials->key, text);
        if ((r = read_secret(&config->token, credentials->token, &text, err)) < 0 ||
            (r = set_token(credentials, text, err)) < 0)
            return err_wrap(err, r, "token");
    }
    if (is_new)
        make_tls(credentials);
    credentials->read_at = nsec_now_monotonic();
    return 0;
}

static int take_answer(struct kube_credentials *credentials, const struct process_result *result, struct err *err)
{
    const struct kube_exec *exec = &credentials->config->exec;
    struct kube_exec_answer answer = {0};

    if (result->err.code < 0) {
        *err = result->err;
        return err->code;
    }
    if (result->exit_status != 0) {
        size_t len = strcspn(result->complaints, "\r\n");

        return err_set(err, -EACCES, "ended with status %d%s%.*s", result->exit_status, len ? ": " : "",
                       (int)MIN(len, (size_t)300), result->complaints);
    }
    int r = kube_exec_parse(exec, result->output, result->output_len, &answer, err);
    /* Or it would be asked again at once, for ever. */
    if (r == 0 && answer.expires && nsec_now_wall() > answer.expires - EXPIRES_EARLY)
        r = err_set(err, -EKEYEXPIRED, "returned expired credentials");
    if (r == 0)
        r = set_token(credentials, TAKE_PTR(answer.token), err);
    if (r == 0) {
        bool is_new = replace(&credentials->cert, TAKE_PTR(answer.cert));

        is_new |= replace(&credentials->key, TAKE_PTR(answer.key));
        if (is_new)
            make_tls(credentials);
        credentials->expires = answer.expires;
        credentials->has_answer = true;
    }
    kube_exec_answer_done(&answer);
    return r;
}

static void set_problem(struct kube_credentials *credentials, const struct err *err)
{
    const struct kube_exec *exec = &credentials->config->exec;

    credentials->problem = *err;
    credentials->problem_until = nsec_now_monotonic() + EXEC_RETRY;
    (void)err_wrap(&credentials->problem, err->code, "credential plugin %s", exec->command);
}

static void on_plugin_done(void *arg, const struct process_result *result)
{
    struct kube_credentials *credentials = arg;
    struct err err = {0};

    credentials->plugin = NULL;
    if (take_answer(credentials, result, &err) < 0)
        set_problem(credentials, &err);
    credentials->on_change(credentials->arg);
}

static int ask_plugin(struct kube_credentials *credentials, struct err *err)
{
    const struct kube_exec *exec = &credentials->config->exec;
    _cleanup_(freep) char *question = kube_exec_question(credentials->config, credentials->ca);
    struct strbuf info;
    VEC(const char *) argv = {0};
    VEC(const char *) env = {0};

    strbuf_init(&info, KUBE_CONFIG_BYTES_MAX);
    strbuf_addf(&info, "KUBERNETES_EXEC_INFO=%s", question);
    vec_push(&argv, exec->command);
    vec_foreach (&exec->args, at)
        vec_push(&argv, *at);
    vec_push(&argv, NULL);
    /* Ours first: where a name stands twice, what the configuration says has to win, and getenv() takes the first. */
    vec_push(&env, info.text);
    vec_foreach (&exec->env, at)
        vec_push(&env, *at);
    for (char **at = environ; at && *at; at++)
        vec_push(&env, *at);
    vec_push(&env, NULL);

    struct process_request request = {
        .argv = argv.items,
        .env = env.items,
        .output_max = EXEC_OUTPUT_MAX,
        .timeout = EXEC_TIMEOUT,
        .on_done = on_plugin_done,
        .arg = credentials,
    };
    int r = process_start(credentials->loop, &request, &credentials->plugin, err);

    if (r < 0 && exec->hint)
        (void)err_wrap(err, r, "%.200s", exec->hint);
    strbuf_done(&info);
    vec_done(&argv);
    vec_done(&env);
    return r;
}

static bool has_expired(const struct kube_credentials *credentials)
{
    return credentials->expires && nsec_now_wall() > credentials->expires - EXPIRES_EARLY;
}

static int plugin_ready(struct kube_credentials *credentials, struct err *err)
{
    struct err problem = {0};

    if (credentials->has_answer && !has_expired(credentials))
        return 1;
    if (credentials->plugin)
        return 0;
    if (credentials->problem.code && nsec_now_monotonic() < credentials->problem_until)
        return err_set(err, credentials->problem.code, "%s", credentials->problem.text);
    credentials->has_answer = false;
    if (ask_plugin(credentials, &problem) == 0)
        return 0;
    set_problem(credentials, &problem);
    return err_set(err, credentials->problem.code, "%s", credentials->problem.text);
}

int kube_credentials_ready(struct kube_credentials *credentials, struct err *err)
{
    if (!credentials->tls || nsec_now_monotonic() - credentials->read_at > READ_EVERY) {
        int r = read_files(credentials, err);

        if (r < 0)
            return r;
    }
    return credentials->config->exec.command ? plugin_ready(credentials, err) : 1;
}

void kube_credentials_refuse(struct kube_credentials *credentials)
{
    credentials->has_answer = false;
    credentials->read_at = nsec_now_monotonic() - READ_EVERY - NSEC_PER_SEC;
}

static void add_header(struct kube_strings *headers, const char *name, const char *value)
{
    struct strbuf header;

    strbuf_init(&header, KUBE_SECRET_BYTES_MAX + 64);
    strbuf_addf(&header, "%s: %s", name, value);
    /* What the configuration says must not become a header of its own. */
    if (!strpbrk(value, "\r\n"))
        vec_push(headers, strbuf_take(&header));
    strbuf_done(&header);
}

void kube_credentials_headers(const struct kube_credentials *credentials, struct kube_strings *headers)
{
    const struct kube_config *config = credentials->config;
    struct strbuf text;

    strbuf_init(&text, KUBE_SECRET_BYTES_MAX);
    if (credentials->token) {
        strbuf_addf(&text, "Bearer %s", credentials->token);
        add_header(headers, "Authorization", text.text);
    } else if (config->username) {
        strbuf_addf(&text, "%s:%s", config->username, config->password ? config->password : "");
        _cleanup_(freep) char *encoded = base64_encode(text.text, text.len);

        strbuf_clear(&text);
        strbuf_addf(&text, "Basic %s", encoded);
        add_header(headers, "Authorization", text.text);
    }
    strbuf_done(&text);
    if (config->as_user)
        add_header(headers, "Impersonate-User", config->as_user);
    if (config->as_uid)
        add_header(headers, "Impersonate-Uid", config->as_uid);
    vec_foreach (&config->as_groups, at)
        add_header(headers, "Impersonate-Group", *at);
}
