/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct http_exchange;
struct scheduler_view;
struct strbuf;

/*
 * KAI's /get-snapshot: a zip of the scheduler's settings and of all objects that it goes by, which `muster simulate` and
 * KAI's own tool read.
 *
 * The scheduler keeps no objects. They are listed from the API server when somebody asks, kind by kind and page by page,
 * and packed as they come.
 */
struct snapshots;

/* Borrows the view. */
struct snapshots *snapshots_new(const struct scheduler_view *view);

/* Snapshots that are being made end with 503. */
void snapshots_free(struct snapshots *snapshots);

/* Answers the exchange, in a while. One is made at a time; others are told to come again. */
void snapshots_serve(struct snapshots *snapshots, struct http_exchange *exchange);

/*
 * Appends `"config": {...}, "schedulerParams": {...}`, as a snapshot begins, and `"pastUse": [...]` where the scheduler
 * goes by it: KAI's tool passes over that.
 */
void snapshot_settings(const struct scheduler_view *view, struct strbuf *out);
