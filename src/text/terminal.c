/* SPDX-License-Identifier: Apache-2.0 */
#include "text/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/macros.h"

enum { DEFAULT_WIDTH = 80, DEFAULT_HEIGHT = 24, MAX_WIDTH = 10000 };

const char *const colour_choice_names[] = {
    [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never", NULL};

static const char *const sequences[_TEXT_STYLE_MAX] = {
    [STYLE_PLAIN] = "",       [STYLE_GOOD] = "\033[32m", [STYLE_WARN] = "\033[33m",
    [STYLE_BAD] = "\033[31m", [STYLE_DIM] = "\033[2m",   [STYLE_BOLD] = "\033[1m",
};

/* Of the process: an option of the command line, like the environment variables beside it. */
static enum colour_choice chosen = COLOUR_AUTO;

void terminal_choose_colour(enum colour_choice choice)
{
    chosen = choice;
}

static bool knows_escapes(void)
{
    const char *kind = getenv("TERM");

    return kind && *kind && strcmp(kind, "dumb") != 0;
}

static bool has_colour(bool can_redraw)
{
    const char *no_colour = getenv("NO_COLOR");

    if (chosen != COLOUR_AUTO)
        return chosen == COLOUR_ALWAYS;
    return can_redraw && (!no_colour || !*no_colour);
}

static uint32_t width_of(long reported)
{
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;

    if (width <= 0)
        width = reported > 0 ? reported : DEFAULT_WIDTH;
    return (uint32_t)MIN(width, (long)MAX_WIDTH);
}

struct terminal terminal_of(FILE *out)
{
    int fd = fileno(out);
    struct winsize size = {0};

    if (fd < 0 || !isatty(fd))
        return (struct terminal){.has_colour = has_colour(false)};
    if (ioctl(fd, TIOCGWINSZ, &size) < 0)
        size = (struct winsize){0};

    struct terminal terminal = {
        .width = width_of(size.ws_col),
        .height = size.ws_row > 0 ? size.ws_row : DEFAULT_HEIGHT,
        .can_redraw = knows_escapes(),
    };
    terminal.has_colour = has_colour(terminal.can_redraw);
    return terminal;
}

const char *style_start(enum text_style style, bool has_colours)
{
    return has_colours ? sequences[style] : "";
}

const char *style_end(enum text_style style, bool has_colours)
{
    return has_colours && style != STYLE_PLAIN ? "\033[0m" : "";
}
