/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "cluster/cluster_files.h"

struct object_kind;
struct object_set;
struct object_source;
struct yaml_docs;

/*
 * A cluster while it is being read, wherever its objects come from. Documents stay in memory until the state is built,
 * since objects borrow from them and refer to each other.
 */
struct cluster_reading;

struct cluster_reading *cluster_reading_new(struct object_notes *notes, nsec_t undated_from);
void cluster_reading_free(struct cluster_reading *reading);
void cluster_reading_freep(struct cluster_reading **reading);

/* Kinds that were left out and warnings go there; may be NULL. */
struct object_notes *cluster_reading_notes(struct cluster_reading *reading);

/* A document of manifests or a snapshot; takes ownership of it, also when it fails. `name` is the file's, for messages;
 * `is_found`: nobody named that file. */
MUST_CHECK int cluster_reading_add_json(struct cluster_reading *reading, yyjson_doc *doc, const char *name,
                                        bool is_found, struct err *err);

/* The same for the documents of a YAML file, which are empty afterwards. */
MUST_CHECK int cluster_reading_add_yaml(struct cluster_reading *reading, struct yaml_docs *docs, const char *name,
                                        bool is_found, struct err *err);

/* One object of a running cluster, which `name` stands for; takes ownership of the document. What admission should have
 * refused is a warning from now on. */
MUST_CHECK int cluster_reading_add_live(struct cluster_reading *reading, const struct object_kind *kind,
                                        yyjson_doc *doc, const char *name, struct err *err);

/* The objects themselves, those that were made among them after cluster_reading_build. */
const struct object_set *cluster_reading_set(const struct cluster_reading *reading);

/* Objects of known kinds so far, and those that were made from them by cluster_reading_build. */
uint32_t cluster_reading_objects(const struct cluster_reading *reading);
uint32_t cluster_reading_made(const struct cluster_reading *reading);

/* After cluster_reading_build: time-based fair share as the settings have it. */
struct usage_setting cluster_reading_usage(const struct cluster_reading *reading);

/* Everything is read: settings first, for they say how to read the rest. */
MUST_CHECK int cluster_reading_build(struct cluster_reading *reading, const struct cluster_options *options,
                                     struct state *state, struct config *config, struct err *err);
