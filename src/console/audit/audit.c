/* SPDX-License-Identifier: Apache-2.0 */
#include "console/audit/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "console/data/db.h"
#include "console/identity/secrets.h"
#include "text/file.h"

enum { HEAD_TEXT_MAX = 128, PATH_TEXT_MAX = 4096 };

/* What the first entry is chained to. */
#define BEGINNING "0000000000000000000000000000000000000000000000000000000000000000"

struct head {
    int64_t seq;
    char hash[SECRET_TEXT_MAX];
};

static int take_head(void *arg, const struct db_value *columns, size_t count)
{
    struct head *head = arg;

    (void)count;
    head->seq = columns[0].number;
    (void)snprintf(head->hash, sizeof head->hash, "%s", columns[1].text ? columns[1].text : "");
    return 0;
}

static int read_head(struct db *db, struct head *ret_head, struct err *err)
{
    *ret_head = (struct head){.hash = BEGINNING};
    return db_query(db, DB_CALL("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1"), take_head, ret_head, err);
}

/* The hash covers the number and the time as well. */
static void chain(const char *before, int64_t seq, nsec_t time, const char *entry, char hash[static SECRET_TEXT_MAX])
{
    char place[SECRET_TEXT_MAX + 64];

    (void)snprintf(place, sizeof place, "%s %lld %lld ", before, (long long)seq, (long long)time);
    secret_digest_two(place, entry, hash);
}

int64_t audit_add(struct db *db, nsec_t time, const char *entry, struct err *err)
{
    char hash[SECRET_TEXT_MAX];
    struct head head;
    int r = read_head(db, &head, err);

    if (r < 0)
        return r;
    chain(head.hash, head.seq + 1, time, entry, hash);
    r = db_run(db,
               DB_CALL("INSERT INTO audit(seq, time, entry, hash) VALUES($1, $2, $3, $4)", db_number(head.seq + 1),
                       db_number(time), db_text(entry), db_text(hash)),
               NULL, err);
    return r < 0 ? r : head.seq + 1;
}

static int write_whole(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    int r = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -EIO;

    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    (void)close(fd);
    return r;
}

int audit_write_head(struct db *db, const char *path, struct err *err)
{
    _cleanup_(freep) char *fresh = NULL;
    char text[HEAD_TEXT_MAX];
    struct strbuf name;
    struct head head;
    int r = read_head(db, &head, err);

    if (r < 0)
        return r;
    strbuf_init(&name, PATH_TEXT_MAX);
    strbuf_addf(&name, "%s.new", path);
    fresh = strbuf_take(&name);
    (void)snprintf(text, sizeof text, "%lld %s\n", (long long)head.seq, head.hash);
    r = write_whole(fresh, text);
    if (r == 0 && rename(fresh, path) < 0)
        r = -errno;
    return r < 0 ? err_set(err, r, "writing '%s': %s", path, strerror(-r)) : 0;
}

struct walk {
    struct head last;
    struct head wanted;  // seq 0: none
    bool has_wanted;
    struct err *err;
};

static int check_entry(void *arg, const struct db_value *columns, size_t count)
{
    struct walk *walk = arg;
    char hash[SECRET_TEXT_MAX];
    int64_t seq = columns[0].number;

    (void)count;
    if (seq != walk->last.seq + 1)
        return err_set(walk->err, -EBADMSG, "entry %lld is missing", (long long)walk->last.seq + 1);
    chain(walk->last.hash, seq, columns[1].number, columns[2].text ? columns[2].text : "", hash);
    if (strcmp(hash, columns[3].text ? columns[3].text : "") != 0)
        return err_set(walk->err, -EBADMSG, "entry %lld was changed", (long long)seq);
    walk->last.seq = seq;
    memcpy(walk->last.hash, hash, sizeof hash);
    if (seq == walk->wanted.seq && strcmp(hash, walk->wanted.hash) == 0)
        walk->has_wanted = true;
    return 0;
}

static int read_head_file(const char *path, struct head *ret_head, struct err *err)
{
    _cleanup_(freep) char *text = NULL;
    size_t len = 0;
    char *end = NULL;
    int r = file_read(path, HEAD_TEXT_MAX, &text, &len, err);

    if (r < 0)
        return r;
    errno = 0;
    ret_head->seq = strtoll(text, &end, 10);
    if (errno != 0 || ret_head->seq < 0 || *end != ' ' || sscanf(end, " %64s", ret_head->hash) != 1)
        return err_set(err, -EBADMSG, "'%s' is not the head of an audit log", path);
    return 0;
}

int64_t audit_verify(struct db *db, const char *head_path, struct err *err)
{
    struct walk walk = {.last = {.hash = BEGINNING}, .err = err};
    int r = head_path ? read_head_file(head_path, &walk.wanted, err) : 0;

    if (r == 0)
        r = db_query(db, DB_CALL("SELECT seq, time, entry, hash FROM audit ORDER BY seq"), check_entry, &walk, err);
    if (r < 0)
        return r;
    if (walk.wanted.seq > walk.last.seq)
        return err_set(err, -EBADMSG, "the log ends with entry %lld, and its head is entry %lld: its end was cut",
                       (long long)walk.last.seq, (long long)walk.wanted.seq);
    if (walk.wanted.seq > 0 && !walk.has_wanted)
        return err_set(err, -EBADMSG, "entry %lld differs from the head: the log was rewritten",
                       (long long)walk.wanted.seq);
    return walk.last.seq;
}
