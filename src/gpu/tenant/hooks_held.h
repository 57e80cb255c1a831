/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Calls that only ask about device memory, or read it, and cost nothing worth counting. They are hooked because they must
 * not meet memory that is away: they wait while the process is parked. As in hooks_traffic.h, arguments go through as
 * machine words. */

#include "gpu/tenant/hooks_traffic.h"

#define PARAMS_held3 WORDS_3
#define ARGS_held3 ARGS_WORDS_3
#define PARAMS_held4 WORDS_4
#define ARGS_held4 ARGS_WORDS_4
#define PARAMS_export_range WORDS_5
#define ARGS_export_range ARGS_WORDS_5

#define HELD_HANDLERS(X) \
    X(held3)             \
    X(held4)             \
    X(export_range)

#define HELD_HOOKS(X)                     \
    X(cuMemGetAddressRange, held3)        \
    X(cuMemGetAddressRange_v2, held3)     \
    X(cuPointerGetAttribute, held3)       \
    X(cuPointerGetAttributes, held4)      \
    X(cuPointerSetAttribute, held3)       \
    X(cuTexObjectCreate, held4)           \
    X(cuStreamWaitValue32, held4)         \
    X(cuStreamWaitValue32_ptsz, held4)    \
    X(cuStreamWaitValue32_v2, held4)      \
    X(cuStreamWaitValue32_v2_ptsz, held4) \
    X(cuStreamWaitValue64, held4)         \
    X(cuStreamWaitValue64_ptsz, held4)    \
    X(cuStreamWaitValue64_v2, held4)      \
    X(cuStreamWaitValue64_v2_ptsz, held4) \
    X(cuMemGetHandleForAddressRange, export_range)
