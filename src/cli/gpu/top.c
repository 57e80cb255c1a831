/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu top: which program uses which GPU, refreshed on a terminal with keys to choose what is shown. The
 * terminal is given back as it was, however the program ends or is stopped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/full_screen.h"
#include "cli/gpu/gpu.h"
#include "cli/gpu/screen.h"
#include "text/terminal.h"

#define REFRESH NSEC_PER_SEC

static void measure(struct gpu_screen *screen)
{
    struct terminal terminal = terminal_of(stdout);

    screen->has_colour = terminal.has_colour;
    screen->width = terminal.width;
    screen->height = terminal.height;
}

static int show(struct gpu_screen *screen, const char *status, struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *frame = open_memstream(&text, &len);

    if (!frame)
        return err_set(err, -ENOMEM, "no memory for the screen");
    /* Whenever that was: also while the daemon was asked. */
    if (full_screen_was_resized())
        measure(screen);
    int r = gpu_screen_draw(screen, status, frame, err);
    (void)fclose(frame);
    _cleanup_(freep) char *lines = text;
    if (r < 0)
        return r;
    full_screen_show(lines, screen->height);
    return 0;
}

static bool on_key(void *arg, int key)
{
    return gpu_screen_key(arg, key);
}

/* Until it is time for the next look. Returns false when the program is to end. */
static bool wait_for_keys(struct gpu_screen *screen, const char *status, nsec_t until)
{
    struct err err;

    for (;;) {
        enum full_screen_event event = full_screen_wait(until, on_key, screen);

        if (event != SCREEN_CHANGED)
            return event == SCREEN_IS_DUE;
        if (show(screen, status, &err) < 0)
            return true;
    }
}

/* A daemon that is away for a while, as when it is restarted, is waited for; what it said last stays. */
static int watch(const char *folder, char **status, struct err *err)
{
    struct gpu_screen screen = {.sort = GPU_SORT_MEMORY};
    struct err problem = {0};
    int r = 0;

    /* A screen follows its window, which a variable of the shell does not. */
    (void)unsetenv("COLUMNS");
    measure(&screen);
    full_screen_take();
    do {
        char *text = NULL;

        if (!screen.is_paused) {
            screen.problem = gpu_ask(folder, "GET", "/v1/status", NULL, &text, &problem) < 0 ? problem.text : NULL;
            if (text) {
                free(*status);
                *status = text;
            }
        }
        r = show(&screen, *status, err);
    } while (r >= 0 && wait_for_keys(&screen, *status, nsec_now_monotonic() + REFRESH));
    full_screen_give_back();
    return r;
}

static int run(const struct command *command, struct arguments *arguments)
{
    _cleanup_(freep) char *status = NULL;
    _cleanup_(freep) char *folder = NULL;
    struct err err = {0};
    int end;

    if (!gpu_read_folder(arguments, &folder, &end))
        return end;
    if (!terminal_of(stdout).can_redraw)
        return command_wrong(command, "this needs a terminal; 'muster gpu status' prints to files and pipes");
    int r = gpu_ask(folder, "GET", "/v1/status", NULL, &status, &err);
    if (r >= 0)
        r = watch(folder, &status, &err);
    return r < 0 ? gpu_failed(r, &err) : EXIT_FINE;
}

static const struct command_option options[] = {GPU_FOLDER_OPTION};

static const char *const examples[] = {"muster gpu top", NULL};

const struct command gpu_top_command = {
    .name = "gpu top",
    .summary = "watch GPUs, the programs that hold them and those that wait",
    .usage = "[--folder FOLDER]",
    .text = "Refreshes every second. Press 'h' for the list of keys. 'muster gpu status' prints the same once.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run,
};
