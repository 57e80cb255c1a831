/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

#include "base/macros.h"

struct err;
struct sync_item;
struct wants;

/*
 * MPI: rank 0 of the gang is the launcher, which starts processes on the workers by SSH. All have the host file, whose lines
 * are the workers with their slots, and one pair of keys, made for this training. A worker without a command runs sshd.
 */
bool mpi_is_of(yyjson_val *item);

/* The ConfigMap with the host file, and the Secret with the keys. */
MUST_CHECK int mpi_want_files(const struct sync_item *item, struct wants *wants, struct err *err);

/* Mounts them in a pod, by the item of its rank, and tells Open MPI, MPICH and Intel MPI of them. */
void mpi_encode_pod(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *pod);
