/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct caller;
struct live;

/*
 * Answers of `muster why` and `muster whatif` as the caller may see them: neighbours that it may not see are left out and counted in
 * `hidden`. A workload's own queue and those above are always told: its answer is about them.
 */
void live_cut_why(const struct live *live, const struct caller *caller, yyjson_mut_doc *doc);
void live_cut_whatif(const struct live *live, const struct caller *caller, yyjson_mut_doc *doc);
