/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/command.h"

/*
 * The table of commands, one row each, in the order in which help lists them within their groups. Row X stands for the
 * `const struct command X_command`, which the command's own file defines together with its options, examples and verbs.
 */
#define ALL_COMMANDS(ROW) \
    ROW(submit)           \
    ROW(list)             \
    ROW(top)              \
    ROW(describe)         \
    ROW(logs)             \
    ROW(exec)             \
    ROW(attach)           \
    ROW(cancel)           \
    ROW(suspend)          \
    ROW(resume)           \
    ROW(queue)            \
    ROW(node)             \
    ROW(events)           \
    ROW(history)          \
    ROW(slurm)            \
    ROW(up)               \
    ROW(down)             \
    ROW(join)             \
    ROW(status)           \
    ROW(backup)           \
    ROW(restore)          \
    ROW(export)           \
    ROW(ui)               \
    ROW(simulate)         \
    ROW(why)              \
    ROW(when)             \
    ROW(whatif)           \
    ROW(compare)          \
    ROW(trace)            \
    ROW(replay)           \
    ROW(migrate)          \
    ROW(shadow)           \
    ROW(scheduler)        \
    ROW(grouper)          \
    ROW(binder)           \
    ROW(admission)        \
    ROW(operator)         \
    ROW(podgroups)        \
    ROW(queues)           \
    ROW(scaler)           \
    ROW(starter)          \
    ROW(numa_exporter)    \
    ROW(controller)       \
    ROW(console)          \
    ROW(audit)            \
    ROW(gpu)              \
    ROW(gpud)             \
    ROW(fencer)           \
    ROW(reservation)      \
    ROW(credential)       \
    ROW(pod_shim)         \
    ROW(scenario)         \
    ROW(jq)               \
    ROW(completion)       \
    ROW(complete)         \
    ROW(man)              \
    ROW(version)          \
    ROW(help)

#define DECLARE_COMMAND(name) extern const struct command name##_command;
ALL_COMMANDS(DECLARE_COMMAND)
#undef DECLARE_COMMAND

/* All commands, ended by NULL. */
extern const struct command *const commands[];
