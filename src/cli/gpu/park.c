/* SPDX-License-Identifier: Apache-2.0 */

/* muster gpu park, muster gpu resume: the GPU memory of a group to the host and back, while its processes wait. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/gpu/daemon_status.h"
#include "cli/gpu/gpu.h"
#include "gpu/daemon/group_spec.h"
#include "text/json.h"

#define GIB ((double)(1 << 30))

enum { OPTION_OUTPUT, OPTION_FOLDER };

static const struct command_option options[] = {
    [OPTION_OUTPUT] = OUTPUT_OPTION,
    [OPTION_FOLDER] = GPU_FOLDER_OPTION,
};

/* Why memory stays on the GPU, by the members of the daemon's answer. */
static const struct {
    const char *member;
    const char *text;
} reasons[] = {
    {"driverBytes", "allocations below 1 MiB and managed memory"},
    {"arrayBytes", "arrays"},
    {"poolBytes", "memory pools"},
    {"mappedBytes", "memory that the program has mapped itself"},
    {"exportedBytes", "memory that is shared with others"},
};

static void print_process(yyjson_val *process, bool is_parked)
{
    yyjson_val *stays = yyjson_obj_get(process, "stays");

    (void)printf("  %s (%.0f)", gpu_text_of(process, "name"), gpu_number_of(process, "pid"));
    if (is_parked)
        (void)printf(": %.2f GiB in host memory; on the GPU: %.2f GiB of contexts",
                     gpu_number_of(process, "hostBytes") / GIB, gpu_number_of(process, "contextBytes") / GIB);
    for (size_t i = 0; is_parked && i < ARRAY_LEN(reasons); i++) {
        if (gpu_number_of(stays, reasons[i].member) > 0)
            (void)printf(", %.2f GiB of %s", gpu_number_of(stays, reasons[i].member) / GIB, reasons[i].text);
    }
    (void)printf("\n");
}

/* "stop 0.002 s, move 0.512 s": the steps, in the daemon's order. */
static void print_times(yyjson_val *of, const char *indent)
{
    yyjson_val *seconds = yyjson_obj_get(of, "seconds"), *name, *took;
    size_t i, count;

    if (yyjson_obj_size(seconds) == 0)
        return;
    (void)printf("%stimes:", indent);
    yyjson_obj_foreach(seconds, i, count, name, took)(void)
        printf("%s %s %.3f s", i > 0 ? "," : "", yyjson_get_str(name), yyjson_get_num(took));
    (void)printf("\n");
}

static int print(const char *answer, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;
    size_t i, count;
    yyjson_val *process;
    int r = json_parse(answer, strlen(answer), "the daemon's answer", &doc, err);

    if (r < 0)
        return r;
    yyjson_val *root = yyjson_doc_get_root(doc);
    bool is_parked = strcmp(gpu_text_of(root, "state"), "parked") == 0;
    (void)printf("%s: %s\n", gpu_text_of(root, "group"), is_parked ? "parked" : "resumed");
    print_times(root, "  ");
    yyjson_arr_foreach(yyjson_obj_get(root, "processes"), i, count, process)
    {
        print_process(process, is_parked);
        print_times(process, "    ");
    }
    return 0;
}

static int order(const char *verb, const struct command *command, struct arguments *arguments)
{
    const char *values[ARRAY_LEN(options)] = {0};
    struct err err = {0};
    char path[128];
    int option;

    while ((option = arguments_next(arguments)) >= 0)
        values[option] = arguments->value;
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count != 1)
        return command_wrong(command,
                             arguments->operand_count == 0 ? "a GROUP is missing" : "only one GROUP at a time");
    if (!group_name_is_good(arguments->operands[0]))
        return command_wrong(command, "'%s' is not the name of a group; 'muster gpu status' lists the groups",
                             arguments->operands[0]);

    _cleanup_(freep) char *folder = gpu_folder(values[OPTION_FOLDER]);
    _cleanup_(freep) char *answer = NULL;
    (void)snprintf(path, sizeof path, "/v1/groups/%s/%s", arguments->operands[0], verb);
    int r = gpu_ask_patiently(folder, "POST", path, NULL, &answer, &err);
    if (r >= 0 && values[OPTION_OUTPUT] && strcmp(values[OPTION_OUTPUT], "json") == 0)
        (void)puts(answer);
    else if (r >= 0)
        r = print(answer, &err);
    return r < 0 ? gpu_failed(r, &err) : EXIT_FINE;
}

static int run_park(const struct command *command, struct arguments *arguments)
{
    return order("park", command, arguments);
}

static int run_resume(const struct command *command, struct arguments *arguments)
{
    return order("resume", command, arguments);
}

static const char *const park_examples[] = {
    "muster gpu run --name train --parkable --memory 20Gi -- python train.py",
    "muster gpu park train",
    NULL,
};

static const char *const resume_examples[] = {"muster gpu resume train", NULL};

const struct command gpu_park_command = {
    .name = "gpu park",
    .summary = "move the GPU memory of a group to the host; its programs wait until they are resumed",
    .usage = "[-o table|json] [--folder FOLDER] GROUP",
    .text =
        "Returns when the GPU memory is free for others. No result is lost: calls to the GPU wait, and continue after\n"
        "'muster gpu resume'. The group must have been created as parkable. Memory that cannot be moved is listed,\n"
        "and stays on the GPU.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = park_examples,
    .run = run_park,
};

const struct command gpu_resume_command = {
    .name = "gpu resume",
    .summary = "move the memory of a parked group back to its GPU",
    .usage = "[-o table|json] [--folder FOLDER] GROUP",
    .text = "Returns when the programs of the group run again. Fails and changes nothing if too little GPU memory is "
            "free.\n",
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = resume_examples,
    .run = run_resume,
};
