/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct http_exchange;

/*
 * Errors over HTTP: one map from errno to status, and three forms of the body. The owner of a server chooses the form for
 * all of it (struct rest_options); handlers only say what is wrong.
 */
enum rest_error_form {
    REST_ERRORS_JSON,    // {"error": "there is no group 'a'"}: for our own clients
    REST_ERRORS_CODE,    // {"code": 404, "message": "there is no group 'a'"}: as Run:ai's
    REST_ERRORS_STATUS,  // a Status object of Kubernetes, for its clients: kind, reason, message, details, code
};

/* What is wrong, in full. All but the message may be left out. */
struct rest_problem {
    int code;             // a negative errno; gives status and reason where they are not set
    int status;           // of HTTP
    const char *reason;   // of a Status: "AlreadyExists"; "": it has none
    const char *message;  // a sentence for people
    const char *name;     // details of a Status: which object
    const char *group;
    const char *kind;
    const char *uid;
    const char *continue_token;  // metadata of a Status: where a list that has expired can go on
    bool has_details;            // also when they are empty, as Kubernetes does for paths that lead nowhere
    int retry_after;             // seconds; with 429 at least 1. Sent as the header Retry-After, too
    const struct rest_cause {
        const char *reason;  // "FieldValueInvalid"
        const char *message;
        const char *field;  // "spec.levels"
    } *causes;
    size_t cause_count;
};

/* Answers with an error. */
void rest_fail(struct http_exchange *exchange, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
void rest_fail_err(struct http_exchange *exchange, const struct err *err);
void rest_fail_problem(struct http_exchange *exchange, const struct rest_problem *problem);

/*
 * The status of a negative errno; 500 for those that are not in the map:
 *
 *     400  EINVAL EILSEQ EBADMSG ENAMETOOLONG     413  EFBIG E2BIG EMSGSIZE
 *     401  ENOKEY                                 415  EMEDIUMTYPE
 *     403  EACCES EPERM                           421  EADDRNOTAVAIL
 *     404  ENOENT                                 422  ENOTSUP EDOM ERANGE
 *     405  ENOTTY                                 429  EAGAIN EUSERS
 *     409  EEXIST EBUSY                           501  ENOSYS
 *     410  ESTALE                                 503  ESHUTDOWN ECANCELED
 *                                                 504  ETIMEDOUT
 */
int rest_status_of(int code);
