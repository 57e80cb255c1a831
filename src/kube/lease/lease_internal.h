/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "kube/lease/lease.h"

/* What we want a Lease to say. */
struct lease_claim {
    const char *namespace;
    const char *name;
    const char *identity;
    nsec_t duration;
    nsec_t now;  // on the wall clock
};

/* The Lease to write: a new one, or `object` with our name and time in it. To be freed by the caller. */
yyjson_mut_doc *lease_claim_encode(const struct lease_claim *claim, yyjson_val *object, enum lease_step step);

/* `object` with nobody's name in it. */
yyjson_mut_doc *lease_release_encode(yyjson_val *object, nsec_t now);
