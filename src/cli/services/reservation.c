/* SPDX-License-Identifier: Apache-2.0 */

/* muster reservation. */
#include "services/reservation/reservation.h"

#include "cli/commands.h"

static const char *const examples[] = {
    "POD_NAME=gpu-reservation-0 POD_NAMESPACE=kai-resource-reservation muster reservation",
    NULL,
};

const struct command reservation_command = {
    .name = "reservation",
    .summary = "reserve a GPU for the pods that share it, from within a pod",
    .usage = "[FLAG...]",
    .text =
        "Runs in the reservation pods that the binder creates: finds the GPU that the pod was given, writes its UUID\n"
        "to an annotation of the pod, and then holds the GPU until SIGTERM.\n",
    .group = GROUP_NODE,
    .service = &reservation_service,
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_service,
};
