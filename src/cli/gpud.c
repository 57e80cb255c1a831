/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpud: the daemon of a node with GPUs, until it is told to stop. */
#include "gpu/daemon/gpud.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "gpu/daemon/config.h"
#include "net/loop.h"

enum { ENDING_S = 2 };

enum { OPTION_CONFIG, OPTION_FOLDER, OPTION_LOG_FORMAT, OPTION_VERBOSE };

static void on_signal(void *arg, int signal)
{
    (void)signal;
    loop_stop(arg);
}

/* NVML may hang, and what hangs in a thread cannot be called off. Everything has been written by then. */
static void on_alarm(int signal)
{
    (void)signal;
    _exit(EXIT_FINE);
}

static int serve(const struct gpud_config *config, struct log *log, struct err *err)
{
    _cleanup_(loop_freep) struct loop *loop = loop_new();
    struct gpud *gpud = NULL;
    int r = loop_on_signal(loop, SIGTERM, on_signal, loop, err);

    if (r >= 0)
        r = loop_on_signal(loop, SIGINT, on_signal, loop, err);
    if (r >= 0)
        r = gpud_start(loop, config, log, &gpud, err);
    if (r >= 0) {
        loop_run(loop);
        log_info(log, "GPU daemon ends");
    }
    gpud_free(gpud);
    (void)signal(SIGALRM, on_alarm);
    (void)alarm(ENDING_S);
    return r;
}

int run_gpud(const struct command *command, struct arguments *arguments)
{
    struct log_options log_options = {.level = LOG_INFO, .name = "gpud"};
    const char *folder = NULL;
    struct gpud_config config;
    struct err err = {0};
    int option;
    int r = 0;

    gpud_config_init(&config);
    while (r >= 0 && (option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_CONFIG)
            r = gpud_config_read(&config, arguments->value, &err);
        else if (option == OPTION_FOLDER)
            folder = arguments->value;
        else if (option == OPTION_LOG_FORMAT)
            log_options.is_json = strcmp(arguments->value, "json") == 0;
        else
            log_options.level = LOG_DEBUG;
    }
    if (r >= 0 && (option != ARGUMENT_END || arguments->operand_count > 0)) {
        gpud_config_done(&config);
        if (option == ARGUMENT_HELP)
            return command_help(command);
        return option == ARGUMENT_WRONG ? EXIT_WRONG_CALL
                                        : command_wrong(command, "what is '%s'?", arguments->operands[0]);
    }
    if (folder) {
        free(config.folder);
        config.folder = xstrdup(folder);
    }
    if (r >= 0) {
        _cleanup_(log_freep) struct log *log = log_new(&log_options);

        r = serve(&config, log, &err);
    }
    gpud_config_done(&config);
    return r < 0 ? command_failed(r, &err) : EXIT_FINE;
}
