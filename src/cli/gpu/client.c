/* SPDX-License-Identifier: Apache-2.0 */

/* What the verbs of `muster gpu` share: requests to the daemon, and where things are. */
#include "cli/gpu/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/daemon/config.h"
#include "net/http.h"
#include "text/json.h"

enum { ANSWER_MAX = 16 << 20 };

static int refusal(const struct http_answer *answer, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *text = NULL;

    if (json_parse(answer->body, answer->body_len, "the answer", &doc, NULL) == 0)
        text = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "error"));
    return err_set(err, answer->status == 404 ? -ENOENT : -EINVAL, "%s",
                   text ? text : "the GPU daemon refuses the request");
}

static int no_answer(const char *socket, int code, struct err *err)
{
    struct stat file;

    if (code == -ETIMEDOUT)
        return err_set(err, code, "the GPU daemon at %s does not answer", socket);
    if (access(socket, R_OK | W_OK) < 0 && errno == EACCES)
        return stat(socket, &file) == 0
                   ? err_set(err, -EACCES, "the GPU daemon at %s belongs to user %u: only that user can use it", socket,
                             (unsigned)file.st_uid)
                   : err_set(err, -EACCES, "no permission to open %s: run as the user that runs the GPU daemon",
                             socket);
    return err_set(err, code, "no GPU daemon answers at %s: start one with 'muster gpud'", socket);
}

int gpu_failed(int code, const struct err *err)
{
    return command_failed(code == -EINVAL || code == -ENOENT ? code : -EIO, err);
}

static int ask(const char *folder, const char *method, const char *path, const char *body, nsec_t timeout,
               char **ret_text, struct err *err)
{
    struct http_answer answer;
    char socket[256];
    char url[256];

    (void)snprintf(socket, sizeof socket, "%s/api.sock", folder);
    (void)snprintf(url, sizeof url, "http://gpud%s", path);
    http_ask(&(struct http_request){.method = method,
                                    .url = url,
                                    .unix_path = socket,
                                    .proxy = "",
                                    .body = body,
                                    .body_len = body ? strlen(body) : 0,
                                    .timeout = timeout,
                                    .body_max = ANSWER_MAX},
             &answer);
    _cleanup_(freep) char *text = answer.body;
    if (answer.err.code < 0)
        return no_answer(socket, answer.err.code, err);
    if (answer.status >= 300)
        return refusal(&answer, err);
    *ret_text = TAKE_PTR(text);
    return 0;
}

int gpu_ask(const char *folder, const char *method, const char *path, const char *body, char **ret_text,
            struct err *err)
{
    return ask(folder, method, path, body, 10 * NSEC_PER_SEC, ret_text, err);
}

int gpu_ask_patiently(const char *folder, const char *method, const char *path, const char *body, char **ret_text,
                      struct err *err)
{
    return ask(folder, method, path, body, 900 * NSEC_PER_SEC, ret_text, err);
}

char *gpu_folder(const char *given)
{
    struct gpud_config config;
    char *folder;

    gpud_config_init(&config);
    folder = xstrdup(given ? given : config.folder);
    gpud_config_done(&config);
    return folder;
}

bool gpu_read_folder(struct arguments *arguments, char **ret_folder, int *ret_status)
{
    const char *given = NULL;
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        given = arguments->value;
    if (option != ARGUMENT_END)
        *ret_status = arguments_status(arguments, option);
    else if (arguments->operand_count > 0)
        *ret_status = command_wrong(arguments->command, "unexpected argument '%s'", arguments->operands[0]);
    else
        *ret_folder = gpu_folder(given);
    return option == ARGUMENT_END && arguments->operand_count == 0;
}
