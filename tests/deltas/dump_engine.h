/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct engine;
struct state;

/*
 * What an engine says, in words and by names, for the caller to free: what it decided so far, in order; why gangs wait;
 * what queues are given. (The state itself in words is in model/test/dump.h.)
 */
char *dump_decisions(const struct engine *engine, const struct state *state);
char *dump_verdicts(const struct engine *engine, const struct state *state);
char *dump_shares(const struct engine *engine, const struct state *state);
