/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/full_screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/keys.h"

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

void full_screen_give_back(void)
{
    (void)!write(STDOUT_FILENO, leave, strlen(leave));
    if (has_keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &usual);
}

static void on_end(int signal)
{
    (void)signal;
    full_screen_give_back();
    _exit(EXIT_FINE);
}

static void on_stop(int signal)
{
    int problem = errno;

    (void)signal;
    full_screen_give_back();
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

void full_screen_take(void)
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

bool full_screen_was_resized(void)
{
    bool result = is_resized;

    is_resized = 0;
    return result;
}

void full_screen_show(const char *lines, uint32_t height)
{
    const char *at = lines;

    (void)fputs("\033[H", stdout);
    for (uint32_t line = 1; *at && line <= height; line++) {
        size_t size = strcspn(at, "\n");

        /* The last line of a terminal is not ended, or everything would move up. */
        (void)fwrite(at, 1, size, stdout);
        (void)fputs(at[size] && line < height ? "\033[K\n" : "\033[K", stdout);
        at += size + (at[size] != '\0');
    }
    (void)fputs("\033[J", stdout);
    (void)fflush(stdout);
}

/* Returns false when a key ends the program, or whoever typed them is gone. */
static bool read_keys(bool (*on_key)(void *arg, int key), void *arg)
{
    char bytes[64];
    ssize_t len = read(STDIN_FILENO, bytes, sizeof bytes);
    bool goes_on = len > 0 || (len < 0 && errno == EINTR);

    for (ssize_t at = 0; at < len && goes_on;) {
        size_t size;
        int key = key_read(bytes + at, (size_t)(len - at), &size);

        goes_on = key < 0 || on_key(arg, key);
        at += (ssize_t)size;
    }
    return goes_on;
}

enum full_screen_event full_screen_wait(nsec_t until, bool (*on_key)(void *arg, int key), void *arg)
{
    struct pollfd keys = {.fd = has_keys ? STDIN_FILENO : -1, .events = POLLIN};
    nsec_t left = until - nsec_now_monotonic();

    if (left <= 0)
        return SCREEN_IS_DUE;
    int r = poll(&keys, 1, (int)(left / NSEC_PER_MSEC) + 1);
    if (r == 0)
        return SCREEN_IS_DUE;
    return r > 0 && !read_keys(on_key, arg) ? SCREEN_ENDS : SCREEN_CHANGED;
}
