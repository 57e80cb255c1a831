/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"
#include "base/time.h"
#include "text/json.h"

struct engine;
struct err;
struct scenario;
struct scenario_round;
struct scenario_timing;
struct strbuf;

/* How scenarios are simulated and shown. */
struct scenario_report {
    FILE *out;
    bool as_json;
    uint32_t repeats;             // at least 1: each from a fresh state; timings are their medians
    nsec_t (*clock)(void);        // NULL: no timings
    size_t (*peak_memory)(void);  // of this process in bytes, NULL: not told
    struct strbuf *warnings;      // lines about things that were left out
    uint32_t shown;               // scenarios so far
};

/* Simulates the scenario at `at`, or each one of the array there, and writes what came out. */
MUST_CHECK int scenario_report_all(struct scenario_report *report, const struct json_at *at, struct err *err);

/* The opening and closing bracket of the whole output; nothing for people. */
void scenario_report_begin(struct scenario_report *report);
void scenario_report_end(struct scenario_report *report);
