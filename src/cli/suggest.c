/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include "cli/command.h"
#include "text/suggest.h"

int command_unknown(const char *name)
{
    struct suggestion suggestion;
    char hint[SUGGESTION_MAX];

    suggestion_init(&suggestion, name);
    for (const struct command *command = commands; command->name; command++)
        suggestion_offer(&suggestion, command->name);
    return command_wrong(NULL, "there is no command '%s'%s", name, suggestion_text(&suggestion, "", hint));
}
