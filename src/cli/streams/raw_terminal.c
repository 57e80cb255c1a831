/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/streams/raw_terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios usual;
static bool is_taken;

bool raw_terminal_is_there(void)
{
    return isatty(STDIN_FILENO) == 1;
}

void raw_terminal_give_back(void)
{
    if (is_taken)
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &usual);
    is_taken = false;
}

bool raw_terminal_take(void)
{
    static bool is_promised;  // for every way out of the process but those that nothing can catch
    struct termios raw;

    if (is_taken || tcgetattr(STDIN_FILENO, &usual) < 0)
        return is_taken;
    if (!is_promised && atexit(raw_terminal_give_back) != 0)
        return false;
    is_promised = true;
    raw = usual;
    cfmakeraw(&raw);
    is_taken = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    return is_taken;
}

bool raw_terminal_size(unsigned *ret_columns, unsigned *ret_lines)
{
    struct winsize size = {0};

    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
        return false;
    *ret_columns = size.ws_col;
    *ret_lines = size.ws_row;
    return true;
}
