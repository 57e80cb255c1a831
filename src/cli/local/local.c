/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/local/local.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/command.h"
#include "kube/access/config.h"
#include "local/server/server.h"
#include "net/http.h"
#include "net/loop.h"
#include "text/json.h"

enum { ANSWER_MAX = 1 << 20, PATH_BYTES_MAX = 8192 };

#define ASK_TIMEOUT (10 * NSEC_PER_SEC)

struct asking {
    struct loop *loop;
    struct err err;
    char *text;
    int status;
};

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

static void on_done(void *arg, const struct http_response *response)
{
    struct asking *asking = arg;

    asking->status = response->status;
    asking->err = response->err;
    asking->text = xstrndup(response->body, response->body_len);
    loop_stop(asking->loop);
}

int local_ask(const char *folder, const char *method, const char *path, char **ret_body, struct err *err)
{
    _cleanup_(loop_freep) struct loop *loop = loop_new();
    _cleanup_(freep) char *socket = local_path(folder, SERVER_SOCKET);
    struct asking asking = {.loop = loop};
    char url[256];

    (void)snprintf(url, sizeof url, KUBE_UNIX_SERVER "%s", path);
    struct http_client *client = http_client_new(loop);

    (void)http_start(client, &(struct http_request){
                                 .method = method,
                                 .url = url,
                                 .unix_path = socket,
                                 .proxy = "",
                                 .timeout = ASK_TIMEOUT,
                                 .body_max = ANSWER_MAX,
                                 .on_done = on_done,
                                 .arg = &asking,
                             });
    loop_run(loop);
    http_client_free(client);
    if (asking.err.code < 0) {
        free(asking.text);
        return err_set(err, asking.err.code, "Muster is not running in %s: start it with 'muster up'", folder);
    }
    if (asking.status != 200) {
        free(asking.text);
        return err_set(err, -EIO, "the server in %s answers with status %d", folder, asking.status);
    }
    if (ret_body)
        *ret_body = asking.text;
    else
        free(asking.text);
    return 0;
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

    printf("\nTo use it with kubectl:\n  export KUBECONFIG=%s\n", kubeconfig);
    return EXIT_FINE;
}
