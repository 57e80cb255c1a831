/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/delta.h"
#include "objects/fields.h"
#include "objects/object.h"
#include "objects/reader.h"

/* The decoders that the table of kinds names. Each puts its object into reader->state. */
int node_decode(struct object_reader *reader, const struct object *object, struct err *err);
int queue_decode(struct object_reader *reader, const struct object *object, struct err *err);
int pod_group_decode(struct object_reader *reader, const struct object *object, struct err *err);
int pod_decode(struct object_reader *reader, const struct object *object, struct err *err);
int priority_class_decode(struct object_reader *reader, const struct object *object, struct err *err);
int topology_decode(struct object_reader *reader, const struct object *object, struct err *err);
int device_class_decode(struct object_reader *reader, const struct object *object, struct err *err);
int resource_slice_decode(struct object_reader *reader, const struct object *object, struct err *err);
int resource_claim_decode(struct object_reader *reader, const struct object *object, struct err *err);
int volume_claim_decode(struct object_reader *reader, const struct object *object, struct err *err);
int storage_capacity_decode(struct object_reader *reader, const struct object *object, struct err *err);
int config_map_decode(struct object_reader *reader, const struct object *object, struct err *err);

/*
 * Something that KAI's admission would have refused: an error when reading strictly, else a warning. What is done
 * instead follows a '|' in the text and is only in the warning. Returns 0 or -EINVAL.
 */
int reader_object_to(struct object_reader *reader, const struct object *object, const struct json_at *at,
                     struct err *err, const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Warns of what can be read and is most likely not what was meant, when everything is decoded (doubts.c). */
void reader_note_doubts(const struct object_set *set, const struct object_reader *reader);

/* Is the object of another node pool than the one that is read? Such objects are counted among the skipped. */
bool reader_skips_pool(struct object_reader *reader, const struct object *object);

/* The NUMA zones of the node, from its NodeResourceTopology; NULL when there is none. */
int numa_decode(struct object_reader *reader, const char *node, const struct numa_spec **ret_numa, struct err *err);

/* How many volumes of each CSI driver the node takes, from its CSINode. */
int attach_limits_decode(struct object_reader *reader, const char *node, struct node_spec *spec, struct err *err);

/* "NoSchedule" and its like. */
bool taint_effect_parse(const char *word, enum taint_effect *ret_effect);

/* Devices that a BindRequest has for the pod's claim of that name, before they are written into the claim. */
int claim_put_chosen(struct object_reader *reader, pod_id pod, const char *name, const struct json_at *allocation,
                     struct err *err);

/* A claim made from a ResourceClaimTemplate, called `name`; `*ret_is_known` is false when there is no such template. */
int claim_put_from_template(struct object_reader *reader, const char *namespace, const char *template_name,
                            const char *name, bool *ret_is_known, struct err *err);
