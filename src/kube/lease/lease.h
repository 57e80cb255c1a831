/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/time.h"
#include "kube/client/client.h"

/*
 * Being the one who acts: a Lease that one process holds and renews, and that others take over when it has not been
 * renewed for its duration. No clock is compared with that of another machine: a lease is old when it has not changed
 * for so long while we looked.
 */
struct lease;

struct lease_options {
    const char *namespace;
    const char *name;
    const char *identity;        // unlike that of all others: "<hostname>_<uuid>"
    nsec_t duration;             // after which others may take it; 0: 15 s
    nsec_t renew_deadline;       // we count as having lost it when it was not renewed for so long; 0: 10 s
    nsec_t retry_period;         // between attempts; 0: 2 s
    void (*on_held)(void *arg);  // we act from now on
    void (*on_lost)(void *arg, const struct err *err);     // we must not act any more; the lease is not sought again
    void (*on_leader)(void *arg, const char *identity);    // another one acts; may be NULL
    void (*on_problem)(void *arg, const struct err *err);  // an attempt failed; may be NULL
    void *arg;
};

/* Copies the options, and seeks the lease from now on. */
struct lease *lease_new(struct kube_client *client, const struct lease_options *options);

/* Gives it up for others to take at once, if it is held, and frees it after `on_done`, which may be NULL. Nothing
 * else is called back from now on. */
void lease_release(struct lease *lease, void (*on_done)(void *arg), void *arg);

/* Frees it without a word to anybody: others wait until it is old. */
void lease_free(struct lease *lease);

/* Whether we may act at this moment. Also right in a process that stood still for a while. */
bool lease_is_held(const struct lease *lease);

/* The rest is what it is made of, for tests. */

/* What a Lease says. */
struct lease_record {
    char holder[256];  // "" when nobody holds it
    nsec_t duration;
    nsec_t acquired;
    nsec_t renewed;
    int64_t transitions;
};

/* What is missing or makes no sense is "" or 0. */
void lease_record_read(yyjson_val *object, struct lease_record *ret_record);

enum lease_step { LEASE_CREATE, LEASE_TAKE, LEASE_RENEW, LEASE_WAIT };

/* What to do about a record, NULL when there is none, that has not changed since `seen`. */
enum lease_step lease_decide(const struct lease_record *record, const char *identity, nsec_t seen, nsec_t now);

/* RFC 3339 with exactly six digits: the only form that the server takes for these. Returns `text`. */
const char *micro_time_format(nsec_t time, char text[static TIME_TEXT_MAX]);
