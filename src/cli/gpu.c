/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu: one row of the table for what people do with the GPUs of this machine. */
#include "cli/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/daemon/config.h"
#include "net/http.h"
#include "net/loop.h"
#include "text/json.h"

enum { ANSWER_MAX = 16 << 20 };

struct asking {
    struct loop *loop;
    char *text;
    int status;
    struct err err;
};

static void on_done(void *arg, const struct http_response *response)
{
    struct asking *asking = arg;

    asking->status = response->status;
    asking->err = response->err;
    asking->text = xstrndup(response->body, response->body_len);
    loop_stop(asking->loop);
}

static int refusal(const struct asking *asking, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    const char *text = NULL;

    if (json_parse(asking->text, strlen(asking->text), "the answer", &doc, NULL) == 0)
        text = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "error"));
    return err_set(err, asking->status == 404 ? -ENOENT : -EINVAL, "%s", text ? text : "the daemon refuses");
}

int gpu_ask(const char *folder, const char *method, const char *path, const char *body, char **ret_text,
            struct err *err)
{
    _cleanup_(loop_freep) struct loop *loop = loop_new();
    struct asking asking = {.loop = loop};
    char socket[256];
    char url[256];

    (void)snprintf(socket, sizeof socket, "%s/api.sock", folder);
    (void)snprintf(url, sizeof url, "http://gpud%s", path);
    struct http_client *client = http_client_new(loop);
    struct http_request request = {.method = method,
                                   .url = url,
                                   .unix_path = socket,
                                   .proxy = "",
                                   .body = body,
                                   .body_len = body ? strlen(body) : 0,
                                   .timeout = 10 * NSEC_PER_SEC,
                                   .body_max = ANSWER_MAX,
                                   .on_done = on_done,
                                   .arg = &asking};
    (void)http_start(client, &request);
    loop_run(loop);
    http_client_free(client);
    _cleanup_(freep) char *text = asking.text;
    if (asking.err.code < 0)
        return err_set(err, asking.err.code, "no GPU daemon answers at %s: start one with 'muster gpud'", socket);
    if (asking.status >= 300)
        return refusal(&asking, err);
    *ret_text = TAKE_PTR(text);
    return 0;
}

bool gpu_library(char *path, size_t size)
{
    static const char *const places[] = {
        "/src/gpu/tenant/libmuster-gpu.so",
        "/libmuster-gpu.so",
        "/../lib/muster/libmuster-gpu.so",
        "/../lib/x86_64-linux-gnu/muster/libmuster-gpu.so",
        "/../lib/aarch64-linux-gnu/muster/libmuster-gpu.so",
    };
    char folder[2048];
    ssize_t len = readlink("/proc/self/exe", folder, sizeof folder - 1);

    if (len <= 0)
        return false;
    folder[len] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        (void)snprintf(path, size, "%s%s", folder, places[i]);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static const struct {
    const char *verb;
    int (*run)(const struct command *command, const struct gpu_call *call);
} verbs[] = {{"run", gpu_run}, {"top", gpu_top}, {"doctor", gpu_doctor}};

static void take_option(struct gpu_call *call, int option, const char *value)
{
    switch (option) {
    case GPU_OPTION_MEMORY:
        call->memory = value;
        break;
    case GPU_OPTION_MEMORY_LIMIT:
        call->memory_limit = value;
        break;
    case GPU_OPTION_SHARE:
        call->share = value;
        break;
    case GPU_OPTION_MODE:
        call->mode = value;
        break;
    case GPU_OPTION_GPU:
        call->gpu = value;
        break;
    case GPU_OPTION_NAME:
        call->name = value;
        break;
    case GPU_OPTION_FOLDER:
        call->folder = value;
        break;
    case GPU_OPTION_OUTPUT:
        call->as_json = strcmp(value, "json") == 0;
        break;
    default:
        call->once = true;
        break;
    }
}

int run_gpu(const struct command *command, struct arguments *arguments)
{
    struct gpu_call call = {0};
    struct gpud_config config;
    int option;
    int status = EXIT_WRONG_CALL;

    gpud_config_init(&config);
    call.folder = config.folder;
    while ((option = arguments_next(arguments)) >= 0)
        take_option(&call, option, arguments->value);
    if (option == ARGUMENT_HELP) {
        status = command_help(command);
    } else if (option != ARGUMENT_WRONG && arguments->operand_count == 0) {
        status = command_wrong(command, "run, top or doctor?");
    } else if (option != ARGUMENT_WRONG) {
        size_t i = 0;

        call.words = arguments->operands + 1;
        call.word_count = arguments->operand_count - 1;
        while (i < ARRAY_LEN(verbs) && strcmp(verbs[i].verb, arguments->operands[0]) != 0)
            i++;
        status = i < ARRAY_LEN(verbs)
                     ? verbs[i].run(command, &call)
                     : command_wrong(command, "'%s' is none of run, top and doctor", arguments->operands[0]);
    }
    gpud_config_done(&config);
    return status;
}
