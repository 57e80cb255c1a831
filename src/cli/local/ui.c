/* SPDX-License-Identifier: Apache-2.0 */

/* muster ui: a link to the page of Muster on this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/local/local.h"
#include "local/server/service.h"
#include "text/json.h"
#include "web/web.h"

int local_link(const char *folder, char **ret_url, struct err *err)
{
    _cleanup_(freep) char *body = NULL;
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    int r = local_ask_socket(folder, WEB_SOCKET, "POST", WEB_LINK_PATH, &body, err);

    if (r == 0)
        r = json_parse(body, strlen(body), "the answer", &doc, err);
    if (r < 0)
        return r;
    const char *url = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "url"));

    if (!url)
        return err_set(err, -EIO, "the server in %s gave no link", folder);
    *ret_url = xstrdup(url);
    return 0;
}

static int run_ui(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *folder = NULL;
    _cleanup_(freep) char *url = NULL;
    const char *state = NULL;
    struct err err = {0};
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        state = arguments->value;
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    folder = state_folder(state);
    int r = local_link(folder, &url, &err);

    if (r < 0)
        return command_failed(-EIO, &err);
    printf("%s\n", url);
    if (isatty(STDOUT_FILENO))
        printf("Open it in a browser on this machine. It works once, within 5 minutes.\n");
    return EXIT_FINE;
}

static const struct command_option ui_options[] = {
    {0, "state", "FOLDER", NULL, "state folder of the server (default: that of 'muster up')"},
};
static const char *const ui_examples[] = {"muster ui", "xdg-open \"$(muster ui)\"", NULL};

const struct command ui_command = {
    .name = "ui",
    .summary = "print a link to the page of Muster on this machine",
    .usage = "[--state FOLDER]",
    .text = "The page shows GPUs, queues, workloads and why they wait, live. The link logs a browser in once, and "
            "within 5\n"
            "minutes: on a machine with several accounts, every user can reach the page's port.\n",
    .group = GROUP_LOCAL,
    .options = ui_options,
    .option_count = ARRAY_LEN(ui_options),
    .examples = ui_examples,
    .operands = OPERANDS_NONE,
    .run = run_ui,
};
