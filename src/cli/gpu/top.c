/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu top: which program uses which GPU, refreshed on a terminal with keys to choose what is shown. The
 * terminal is given back as it was, however the program ends or is stopped. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/time.h"
#include "cli/gpu/gpu.h"
#include "cli/gpu/screen.h"
#include "text/terminal.h"

#define REFRESH NSEC_PER_SEC

/* The other screen, without cursor, where a line that is too long does not go on in the next; and back. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l";
static const char leave[] = "\033[?7h\033[?25h\033[?1049l";

static struct termios usual;
static bool has_keys;
static volatile sig_atomic_t is_resized;

/* All of these may be called by handlers of signals. */
static void take_terminal(void)
{
    struct termios raw = usual;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    if (has_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    (void)!write(STDOUT_FILENO, enter, strlen(enter));
}

static void give_terminal_back(void)
{
    (void)!write(STDOUT_FILENO, leave, strlen(leave));
    if (has_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &usual);
}

static void on_end(int signal)
{
    (void)signal;
    give_terminal_back();
    _exit(EXIT_FINE);
}

static void on_stop(int signal)
{
    int problem = errno;

    (void)signal;
    give_terminal_back();
    (void)raise(SIGSTOP);
    take_terminal();
    is_resized = 1;
    errno = problem;
}

static void on_resize(int signal)
{
    (void)signal;
    is_resized = 1;
}

static void start_screen(void)
{
    static const struct {
        int signal;
        void (*handler)(int);
    } handlers[] = {{SIGINT, on_end},  {SIGTERM, on_end},  {SIGHUP, on_end},
                    {SIGQUIT, on_end}, {SIGTSTP, on_stop}, {SIGWINCH, on_resize}};

    has_keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &usual) == 0;
    for (size_t i = 0; i < ARRAY_LEN(handlers); i++) {
        struct sigaction action = {.sa_handler = handlers[i].handler};

        /* One at a time: the terminal is not taken while it is given back. */
        (void)sigfillset(&action.sa_mask);
        (void)sigaction(handlers[i].signal, &action, NULL);
    }
    take_terminal();
}

static void measure(struct gpu_screen *screen)
{
    struct terminal terminal = terminal_of(stdout);

    screen->has_colour = terminal.has_colour;
    screen->width = terminal.width;
    screen->height = terminal.height;
}

/* Every line overwrites what was there, so that nothing flickers. */
static int show(struct gpu_screen *screen, const char *status, struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *frame = open_memstream(&text, &len);

    if (!frame)
        return err_set(err, -ENOMEM, "no memory for the screen");
    /* Whenever that was: also while the daemon was asked. */
    if (is_resized) {
        is_resized = 0;
        measure(screen);
    }
    int r = gpu_screen_draw(screen, status, frame, err);
    (void)fclose(frame);
    _cleanup_(freep) char *lines = text;
    if (r < 0)
        return r;
    (void)fputs("\033[H", stdout);
    const char *at = lines;
    for (uint32_t line = 1; *at && line <= screen->height; line++) {
        size_t size = strcspn(at, "\n");

        /* The last line of a terminal is not ended, or everything would move up. */
        (void)fwrite(at, 1, size, stdout);
        (void)fputs(at[size] && line < screen->height ? "\033[K\n" : "\033[K", stdout);
        at += size + (at[size] != '\0');
    }
    (void)fputs("\033[J", stdout);
    (void)fflush(stdout);
    return 0;
}

/* Returns false when a key ends the program, or whoever typed them is gone. */
static bool read_keys(struct gpu_screen *screen)
{
    char bytes[64];
    ssize_t len = read(STDIN_FILENO, bytes, sizeof bytes);
    bool goes_on = len > 0 || (len < 0 && errno == EINTR);

    for (ssize_t at = 0; at < len && goes_on;) {
        size_t size;
        int key = gpu_key_read(bytes + at, (size_t)(len - at), &size);

        goes_on = key < 0 || gpu_screen_key(screen, key);
        at += (ssize_t)size;
    }
    return goes_on;
}

/* Until it is time for the next look. Returns false when the program is to end. */
static bool wait_for_keys(struct gpu_screen *screen, const char *status, nsec_t until)
{
    struct err err;

    for (;;) {
        nsec_t left = until - nsec_now_monotonic();
        struct pollfd keys = {.fd = has_keys ? STDIN_FILENO : -1, .events = POLLIN};

        if (left <= 0)
            return true;
        int r = poll(&keys, 1, (int)(left / NSEC_PER_MSEC) + 1);
        if (r > 0 && !read_keys(screen))
            return false;
        if (r == 0)
            return true;
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
    start_screen();
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
    give_terminal_back();
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
