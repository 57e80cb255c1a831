/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/local/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "kube/access/config.h"
#include "local/server/server.h"
#include "net/http.h"
#include "text/json.h"

enum { ANSWER_MAX = 1 << 20, PATH_BYTES_MAX = 8192 };

#define ASK_TIMEOUT (10 * NSEC_PER_SEC)
#define ORDER_TIMEOUT NSEC_PER_HOUR

char *local_path(const char *folder, const char *name)
{
    struct strbuf text;

    strbuf_init(&text, PATH_BYTES_MAX);
    strbuf_addf(&text, "%s/%s", folder, name);
    return strbuf_take(&text);
}

/* The part of the word behind the dashes and the name; NULL when it is another flag. */
static const char *behind_name(const char *word, const char *name)
{
    size_t dashes = strspn(word, "-");
    size_t len = strlen(name);

    return (dashes == 1 || dashes == 2) && strncmp(word + dashes, name, len) == 0 ? word + dashes + len : NULL;
}

const char *local_flag(const struct arguments *arguments, const char *name)
{
    const char *value = NULL;

    for (int i = 0; i < arguments->argc; i++) {
        const char *rest = behind_name(arguments->argv[i], name);
        bool has_next = i + 1 < arguments->argc && arguments->argv[i + 1][0] != '-';

        if (rest && *rest == '=')
            value = rest + 1;
        else if (rest && !*rest)
            value = has_next ? arguments->argv[i + 1] : "true";
    }
    return value;
}

bool local_wants_text(const struct arguments *arguments)
{
    for (int i = 0; i < arguments->argc; i++) {
        if (strcmp(arguments->argv[i], "--help") == 0 || strcmp(arguments->argv[i], "-h") == 0 ||
            strcmp(arguments->argv[i], "--version") == 0)
            return true;
    }
    return false;
}

/* One request over a socket of the folder. Returns 0 with an answer of any status, or a negative errno when nobody answers. */
static int ask(const char *folder, const char *name, struct http_request *request, struct http_answer *ret_answer,
               struct err *err)
{
    _cleanup_(freep) char *socket = local_path(folder, name);
    _cleanup_(freep) char *url = local_path(KUBE_UNIX_SERVER, request->url + 1);

    request->url = url;
    request->unix_path = socket;
    request->proxy = "";
    request->body_max = ANSWER_MAX;
    http_ask(request, ret_answer);
    if (ret_answer->err.code == 0)
        return 0;
    free(TAKE_PTR(ret_answer->body));
    if (ret_answer->err.code == -ETIMEDOUT)
        return err_set(err, -ETIMEDOUT, "the server in %s does not answer: see %s/" LOCAL_LOG, folder, folder);
    return err_set(err, ret_answer->err.code, "Muster is not running in %s: start it with 'muster up'", folder);
}

int local_ask(const char *folder, const char *method, const char *path, char **ret_body, struct err *err)
{
    return local_ask_socket(folder, SERVER_SOCKET, method, path, ret_body, err);
}

int local_ask_socket(const char *folder, const char *name, const char *method, const char *path, char **ret_body,
                     struct err *err)
{
    struct http_request request = {.method = method, .url = path, .timeout = ASK_TIMEOUT};
    struct http_answer answer = {0};
    int r = ask(folder, name, &request, &answer, err);

    if (r < 0)
        return r;
    if (answer.status != 200) {
        free(answer.body);
        return err_set(err, -EIO, "the server in %s answered with HTTP status %d", folder, answer.status);
    }
    if (ret_body)
        *ret_body = answer.body;
    else
        free(answer.body);
    return 0;
}

static int post(const char *folder, const char *path, const char *body, nsec_t timeout, char **ret_body,
                struct err *err)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    struct http_request request = {
        .method = "POST", .url = path, .timeout = timeout, .headers = headers, .body = body, .body_len = strlen(body)};
    struct http_answer answer = {0};
    int r = ask(folder, SERVER_SOCKET, &request, &answer, err);

    if (r == 0 && answer.status != 200) {
        yyjson_doc *doc = yyjson_read(answer.body, strlen(answer.body), 0);
        const char *message = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "message"));

        r = err_set(err, -EIO, "%s", message ? message : "the server refused the request");
        yyjson_doc_free(doc);
    }
    if (r == 0 && ret_body)
        *ret_body = TAKE_PTR(answer.body);
    free(answer.body);
    return r;
}

int local_post(const char *folder, const char *path, const char *body, char **ret_body, struct err *err)
{
    return post(folder, path, body, ASK_TIMEOUT, ret_body, err);
}

int local_order(const char *folder, const char *path, const char *body, struct err *err)
{
    return post(folder, path, body, ORDER_TIMEOUT, NULL, err);
}

int local_server_pid(const char *folder)
{
    _cleanup_(freep) char *body = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (local_ask(folder, "GET", "/muster/process", &body, NULL) < 0 ||
        json_parse(body, strlen(body), "the answer", &doc, NULL) < 0)
        return 0;
    return yyjson_get_int(yyjson_obj_get(yyjson_doc_get_root(doc), "pid"));
}

int local_print_access(const char *folder)
{
    _cleanup_(freep) char *kubeconfig = local_path(folder, SERVER_KUBECONFIG);

    if (access(kubeconfig, F_OK) < 0)
        printf("\nkubectl cannot reach it (--listen=0). Muster's own commands use the socket in its state folder.\n");
    else
        printf("\nTo use it with kubectl:\n  export KUBECONFIG=%s\n", kubeconfig);
    return EXIT_FINE;
}
