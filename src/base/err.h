/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What went wrong, for a person to read.
 *
 * A function that can fail for a reason that a user should see takes `struct err *err` as its last parameter and
 * returns a negative errno. The caller owns the struct; it needs no clean-up and may be NULL when nobody will read it.
 * The innermost function says what is wrong, each caller may put in front where: "a.yaml: node gpu-1: cpu: ...".
 */
struct err {
    int code;        // a negative errno, 0 while nothing has failed
    char text[512];  // one line, no final full stop, cut with "..." when too long
};

/* Fills `err` and returns `code`, so that failing is one statement:
 * return err_set(err, -ENOENT, "no queue %s", name); */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "<context>: " in front of the text and returns `code`, which is handed on. */
int err_wrap(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
