/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * Whose object it is: two annotations that the API server alone writes. It writes them when an object is created for
 * somebody else than the owner of the daemon, and takes them over from the owner of an object that a controller creates,
 * so that the pods of a Job carry those of the Job. Annotations that clients send in their place are replaced.
 *
 * Objects without the annotations belong to the owner of the daemon.
 */
#define KEY_SUBMITTED_BY "muster.scheduler/submitted-by"  // the uid as a number, for example "1000"
#define KEY_SUBMITTER_NAME "muster.scheduler/user"        // the name that the uid had, for people

/* The identity of objects whose owner cannot be told: no real user, and no rights. */
enum { UID_NOBODY = 65534 };

/*
 * The uid that a pod of this object runs as: that of the annotation, or `daemon_owner` for an object without it. Returns
 * 0, or -EINVAL for an annotation that is no uid: such a pod must not run.
 */
MUST_CHECK int owner_uid(yyjson_val *object, uint32_t daemon_owner, uint32_t *ret_uid, struct err *err);

/* The uid in the annotation's value, which may be NULL: no uid. */
MUST_CHECK int owner_uid_parse(const char *text, uint32_t *ret_uid, struct err *err);
