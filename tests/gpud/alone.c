/* SPDX-License-Identifier: Apache-2.0 */

/* gpud-alone gpud -c CONFIG: the GPU daemon without the rest of the program, so that it is quickly built in other ways. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "gpu/daemon/config.h"
#include "gpu/daemon/gpud.h"
#include "net/loop.h"
#include "text/metrics.h"

static void on_signal(void *arg, int signal)
{
    (void)signal;
    loop_stop(arg);
}

int main(int argc, char **argv)
{
    struct gpud_config config;
    struct gpud *gpud = NULL;
    struct err err = {0};

    if (argc != 4 || strcmp(argv[1], "gpud") != 0 || strcmp(argv[2], "-c") != 0)
        return 2;
    struct log *log = log_new(&(struct log_options){.level = LOG_INFO, .name = "gpud"});
    struct loop *loop = loop_new();
    struct metrics *metrics = metrics_new("");
    gpud_config_init(&config);
    int r = gpud_config_read(&config, argv[3], &err);
    if (r >= 0)
        r = loop_on_signal(loop, SIGTERM, on_signal, loop, &err);
    if (r >= 0)
        r = gpud_start(loop, &config, log, metrics, &gpud, &err);
    if (r >= 0)
        loop_run(loop);
    else
        (void)fprintf(stderr, "%s\n", err.text);
    gpud_free(gpud);
    metrics_free(metrics);
    loop_free(loop);
    gpud_config_done(&config);
    log_free(log);
    return r < 0;
}
