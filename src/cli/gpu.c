/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu: one row of the table for what people do with the GPUs of this machine. */
#include "cli/gpu.h"

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

static int no_answer(const char *socket, int code, struct err *err)
{
    struct stat file;

    if (code == -ETIMEDOUT)
        return err_set(err, code, "the GPU daemon at %s does not answer", socket);
    if (access(socket, R_OK | W_OK) < 0 && errno == EACCES)
        return stat(socket, &file) == 0
                   ? err_set(err, -EACCES, "the GPU daemon at %s belongs to user %u, who alone can ask it", socket,
                             (unsigned)file.st_uid)
                   : err_set(err, -EACCES, "%s cannot be reached by this user", socket);
    return err_set(err, code, "no GPU daemon answers at %s: start one with 'muster gpud'", socket);
}

int gpu_failed(int code, const struct err *err)
{
    return command_failed(code == -EINVAL || code == -ENOENT ? code : -EIO, err);
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
        return no_answer(socket, asking.err.code, err);
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

/* The one that an option is for; NULL: all. */
static const char *const option_verbs[] = {
    [GPU_OPTION_MEMORY] = "run", [GPU_OPTION_MEMORY_LIMIT] = "run", [GPU_OPTION_SHARE] = "run",
    [GPU_OPTION_MODE] = "run",   [GPU_OPTION_GPU] = "run",          [GPU_OPTION_NAME] = "run",
    [GPU_OPTION_FOLDER] = NULL,  [GPU_OPTION_OUTPUT] = "top",       [GPU_OPTION_ONCE] = "top",
};

/* The first option that is not for the verb; -1 when there is none. */
static int misplaced(const char *verb, uint32_t options)
{
    for (int i = 0; i < (int)ARRAY_LEN(option_verbs); i++) {
        if ((options >> i & 1) && option_verbs[i] && strcmp(option_verbs[i], verb) != 0)
            return i;
    }
    return -1;
}

static int run_verb(const struct command *command, const struct gpu_call *call, const char *verb, uint32_t options)
{
    int wrong = misplaced(verb, options);

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        if (strcmp(verbs[i].verb, verb) != 0)
            continue;
        if (wrong >= 0)
            return command_wrong(command, "--%s is for 'muster gpu %s'", command->options[wrong].long_name,
                                 option_verbs[wrong]);
        return verbs[i].run(command, call);
    }
    return command_wrong(command, "'%s' is none of run, top and doctor", verb);
}

int run_gpu(const struct command *command, struct arguments *arguments)
{
    struct gpu_call call = {0};
    struct gpud_config config;
    uint32_t options = 0;
    int option;
    int status = EXIT_WRONG_CALL;

    gpud_config_init(&config);
    call.folder = config.folder;
    while ((option = arguments_next(arguments)) >= 0) {
        take_option(&call, option, arguments->value);
        options |= 1u << option;
    }
    if (option == ARGUMENT_HELP) {
        status = command_help(command);
    } else if (option == ARGUMENT_WRONG && arguments->operand_count > 1 && strcmp(arguments->operands[0], "run") == 0) {
        (void)fputs("muster gpu: what belongs to the program goes behind '--'\n", stderr);
    } else if (option != ARGUMENT_WRONG && arguments->operand_count == 0) {
        status = command_wrong(command, "run, top or doctor?");
    } else if (option != ARGUMENT_WRONG) {
        call.words = arguments->operands + 1;
        call.word_count = arguments->operand_count - 1;
        status = run_verb(command, &call, arguments->operands[0], options);
    }
    gpud_config_done(&config);
    return status;
}
