/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct emit;
struct engine;
struct scenario;
struct scenario_round;
struct scenario_timing;

/* One round as a JSON object, with `timing` in the place of the round's own. */
void scenario_write_round(struct emit *e, const struct scenario *s, const struct engine *engine,
                          const struct scenario_round *round, const struct scenario_timing *timing);

/* All pods as they are now, as a JSON array. */
void scenario_write_pods(struct emit *e, const char *key, const struct scenario *s);

/* All nodes with their books, as a JSON array. */
void scenario_write_nodes(struct emit *e, const char *key, const struct scenario *s);
