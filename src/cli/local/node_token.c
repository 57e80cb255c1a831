/* SPDX-License-Identifier: Apache-2.0 */

/* muster node token: a token by which another machine joins this one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/local/local.h"
#include "kube/client/meta.h"
#include "local/server/service.h"
#include "text/json.h"

enum { OPTION_STATE, OPTION_LIFETIME, OPTION_OUTPUT };

static const struct command_option options[] = {
    [OPTION_STATE] = {0, "state", "FOLDER", NULL, "state folder of the server (default: that of 'muster up')"},
    [OPTION_LIFETIME] = {0, "lifetime", "DURATION", NULL, "lifetime of the token, at most 1h (default)"},
    [OPTION_OUTPUT] = OUTPUT_OPTION,
};

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* What to type on the other machine. An address that stands for all has no name of its own. */
static void print_token(yyjson_val *root)
{
    const char *address = kube_text(root, "address");
    char host[256] = "";
    bool is_any = strcmp(address, "0.0.0.0") == 0 || strcmp(address, "::") == 0;
    bool is_v6 = strchr(address, ':') != NULL;
    int port = yyjson_get_int(yyjson_obj_get(root, "port"));

    if (is_any && gethostname(host, sizeof host - 1) == 0)
        address = host;
    if (is_loopback(address))
        (void)fprintf(
            stderr,
            "muster: the server listens on %s alone: machines reach it after 'muster up --listen ADDRESS:PORT'\n",
            address);
    printf("muster join %s%s%s:%d --token %s\n", is_v6 && !is_any ? "[" : "", address, is_v6 && !is_any ? "]" : "",
           port, kube_text(root, "token"));
}

static int read_lifetime(const char *text, long long *ret_seconds, struct err *err)
{
    nsec_t lifetime = 0;
    int r = duration_parse(text, &lifetime, err);

    if (r == 0 && (lifetime < NSEC_PER_SEC || lifetime > NSEC_PER_HOUR))
        r = err_set(err, -EINVAL, "from 1s to 1h");
    *ret_seconds = lifetime / NSEC_PER_SEC;
    return r < 0 ? err_wrap(err, -EINVAL, "--lifetime %s", text) : 0;
}

static int ask_token(const char *folder, long long seconds, bool is_json)
{
    _cleanup_(freep) char *answer = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    struct err err = {0};
    char body[64];

    (void)snprintf(body, sizeof body, "{\"seconds\":%lld}", seconds);
    int code = local_post(folder, "/muster/node-token", body, &answer, &err);
    if (code == 0)
        code = json_parse(answer, strlen(answer), "the answer", &doc, &err);
    if (code < 0)
        return command_failed(-EIO, &err);
    if (is_json)
        printf("%s\n", answer);
    else
        print_token(yyjson_doc_get_root(doc));
    return EXIT_FINE;
}

static int run_token(const struct command *command, struct arguments *arguments)
{
    const char *state = NULL, *lifetime = "1h";
    long long seconds = 0;
    bool is_json = false;
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_STATE)
            state = arguments->value;
        else if (option == OPTION_LIFETIME)
            lifetime = arguments->value;
        else
            is_json = strcmp(arguments->value, "json") == 0;
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    if (read_lifetime(lifetime, &seconds, &err) < 0)
        return command_wrong(command, "%s", err.text);
    _cleanup_(freep) char *folder = state_folder(state);

    return ask_token(folder, seconds, is_json);
}

static const char *const examples[] = {"muster node token", "muster node token --lifetime 10m", NULL};

const struct command node_token_verb = {
    .name = "node token",
    .summary = "print a token with which another machine can join this one",
    .usage = "[--lifetime DURATION] [-o table|json]",
    .text =
        "Prints the command to run on the other machine. The token can be used once, within an hour, and names the\n"
        "server by the fingerprint of its certificate authority. Only administrators can create tokens.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_token,
};
