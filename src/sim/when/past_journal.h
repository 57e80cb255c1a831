/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "sim/when/past.h"

struct err;

/*
 * Reads the cycles of a journal up to `now` into an empty history, whose trace is empty as well and takes what workloads
 * looked like. Fails as replay_run does.
 */
MUST_CHECK int past_read_journal(struct past *history, const char *path, nsec_t now, struct err *err);

/* The same of a path that is the folder of a journal, or a trace that was recorded up to `now` or beyond. */
MUST_CHECK int past_read(struct past *history, const char *path, nsec_t now, struct err *err);
