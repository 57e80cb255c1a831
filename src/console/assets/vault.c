/* SPDX-License-Identifier: Apache-2.0 */
#include "console/assets/vault.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "console/data/db.h"
#include "console/identity/secrets.h"
#include "text/file.h"

enum {
    KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    FILE_BYTES_MAX = 64 << 10,
    SECRET_BYTES_MAX = 1 << 20,
    OWNER_MAX = 64
};

struct vault_key {
    int64_t id;
    unsigned char bytes[KEY_BYTES];
};

struct vault {
    struct db *db;
    VEC(struct vault_key) keys;  // the last is in use
};

static const struct vault_key *current(const struct vault *vault)
{
    return &vault->keys.items[vault->keys.len - 1];
}

static const struct vault_key *find_key(const struct vault *vault, int64_t id)
{
    vec_foreach (&vault->keys, key) {
        if (key->id == id)
            return key;
    }
    return NULL;
}

int64_t vault_key_id(const struct vault *vault)
{
    return current(vault)->id;
}

/* --- the file --- */

static int parse_line(struct vault *vault, const char *path, size_t number, const char *line, struct err *err)
{
    struct vault_key key = {0};
    char *end = NULL;
    const char *rest = NULL;
    size_t len = 0;

    errno = 0;
    key.id = strtoll(line, &end, 10);
    if (end == line || *end != ' ' || errno || key.id < 1 || key.id > INT32_MAX ||
        sodium_hex2bin(key.bytes, sizeof key.bytes, end + 1, strlen(end + 1), NULL, &len, &rest) != 0 ||
        len != sizeof key.bytes || *rest)
        return err_set(err, -EBADMSG, "%s:%zu: expected a number, a space and 64 hexadecimal digits", path, number);
    if (find_key(vault, key.id))
        return err_set(err, -EBADMSG, "%s:%zu: key %lld is listed twice", path, number, (long long)key.id);
    vec_push(&vault->keys, key);
    sodium_memzero(&key, sizeof key);
    return 0;
}

static int parse_file(struct vault *vault, const char *path, char *text, struct err *err)
{
    size_t number = 0;
    char *at = NULL;
    int r = 0;

    for (char *line = strtok_r(text, "\n", &at); r == 0 && line; line = strtok_r(NULL, "\n", &at))
        r = parse_line(vault, path, ++number, line, err);
    if (r == 0 && vault->keys.len == 0)
        r = err_set(err, -ENOKEY, "%s: there is no key in it", path);
    return r;
}

static int check_mode(const char *path, struct err *err)
{
    struct stat status;

    if (stat(path, &status) < 0)
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        return err_set(err, -EPERM, "%s: other users can read the keys: run 'chmod 600 %s'", path, path);
    return 0;
}

static int make_file(const char *path, struct err *err)
{
    char key[SECRET_TEXT_MAX];
    char line[SECRET_TEXT_MAX + 8];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_set(err, -errno, "cannot make %s: %s", path, strerror(errno));
    secret_make(key);
    int len = snprintf(line, sizeof line, "1 %s\n", key);
    bool is_written = write(fd, line, (size_t)len) == len && fsync(fd) == 0;
    int code = errno;
    is_written = close(fd) == 0 && is_written;
    sodium_memzero(key, sizeof key);
    sodium_memzero(line, sizeof line);
    if (!is_written) {
        (void)unlink(path);
        return err_set(err, -EIO, "cannot write %s: %s", path, strerror(code));
    }
    return 0;
}

static int read_keys(struct vault *vault, const char *path, struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    struct err missing = {0};
    int64_t count = 0;
    int r = file_read(path, FILE_BYTES_MAX, &text, &len, &missing);

    if (r == -ENOENT) {
        r = db_query_number(vault->db, DB_CALL("SELECT count(*) FROM sealed"), &count, err);
        if (r == 0 && count > 0)
            r = err_set(err, -ENOKEY, "the database has %lld encrypted secrets, but there is no file %s with their key",
                        (long long)count, path);
        if (r == 0)
            r = make_file(path, err);
        if (r == 0)
            r = file_read(path, FILE_BYTES_MAX, &text, &len, err);
    } else if (r < 0) {
        *err = missing;
    }
    if (r == 0)
        r = check_mode(path, err);
    if (r == 0)
        r = parse_file(vault, path, text, err);
    if (text)
        sodium_memzero(text, len);
    free(text);
    return r;
}

/* --- boxes: the nonce, then the text and its tag, in base64 --- */

static char *seal(const struct vault_key *key, const char *owner, const char *text)
{
    size_t len = strlen(text);
    size_t size = NONCE_BYTES + len + TAG_BYTES;
    size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
    unsigned char *box = xmalloc(size);
    char *coded = xmalloc(room);

    randombytes_buf(box, NONCE_BYTES);
    (void)crypto_aead_xchacha20poly1305_ietf_encrypt(box + NONCE_BYTES, NULL, (const unsigned char *)text, len,
                                                     (const unsigned char *)owner, strlen(owner), NULL, box,
                                                     key->bytes);
    (void)sodium_bin2base64(coded, room, box, size, sodium_base64_VARIANT_ORIGINAL);
    free(box);
    return coded;
}

static int unseal(const struct vault_key *key, const char *owner, const char *coded, char **ret_text, struct err *err)
{
    size_t room = strlen(coded);
    size_t size = 0;
    unsigned char *box = xmalloc(room + 1);
    unsigned long long len = 0;
    char *text = NULL;

    bool is_whole = sodium_base642bin(box, room, coded, room, NULL, &size, NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
                    size >= NONCE_BYTES + TAG_BYTES;
    if (is_whole) {
        text = xcalloc(1, size - NONCE_BYTES - TAG_BYTES + 1);
        is_whole = crypto_aead_xchacha20poly1305_ietf_decrypt((unsigned char *)text, &len, NULL, box + NONCE_BYTES,
                                                              size - NONCE_BYTES, (const unsigned char *)owner,
                                                              strlen(owner), box, key->bytes) == 0;
    }
    free(box);
    if (!is_whole) {
        free(text);
        return err_set(err, -EBADMSG, "the secret of %.50s was changed, or was encrypted with another key", owner);
    }
    *ret_text = text;
    return 0;
}

/* --- the table --- */

struct row {
    const struct vault *vault;
    const char *owner;
    char *text;
    struct err *err;
};

static int take_row(void *arg, const struct db_value *columns, size_t count)
{
    struct row *row = arg;
    const struct vault_key *key = find_key(row->vault, columns[0].number);

    (void)count;
    if (!key)
        return err_set(row->err, -ENOKEY, "the secret of %.50s needs key %lld, which the file does not have",
                       row->owner, (long long)columns[0].number);
    return unseal(key, row->owner, columns[1].text, &row->text, row->err);
}

int vault_get(struct vault *vault, const char *owner, char **ret_text, struct err *err)
{
    struct row row = {vault, owner, NULL, err};
    int r = db_query(vault->db, DB_CALL("SELECT key_id, box FROM sealed WHERE owner = $1", db_text(owner)), take_row,
                     &row, err);

    if (r == 0 && !row.text)
        return err_set(err, -ENOENT, "there is no secret of %.50s", owner);
    *ret_text = row.text;
    return r;
}

int vault_put(struct vault *vault, const char *owner, const char *text, struct err *err)
{
    const struct vault_key *key = current(vault);

    if (strlen(text) > SECRET_BYTES_MAX)
        return err_set(err, -EFBIG, "the secret is too long");
    _cleanup_(freep) char *box = seal(key, owner, text);
    return db_run(vault->db,
                  DB_CALL("INSERT INTO sealed(owner, key_id, box) VALUES($1, $2, $3)"
                          " ON CONFLICT(owner) DO UPDATE SET key_id = excluded.key_id, box = excluded.box",
                          db_text(owner), db_number(key->id), db_text(box)),
                  NULL, err);
}

int vault_delete(struct vault *vault, const char *owner, struct err *err)
{
    return db_run(vault->db, DB_CALL("DELETE FROM sealed WHERE owner = $1", db_text(owner)), NULL, err);
}

/* --- opening --- */

struct owner {
    char id[OWNER_MAX];
};
struct owners VEC_OF(struct owner);

static int add_owner(void *arg, const struct db_value *columns, size_t count)
{
    struct owners *owners = arg;
    struct owner owner;

    (void)count;
    (void)snprintf(owner.id, sizeof owner.id, "%s", columns[0].text);
    vec_push(owners, owner);
    return 0;
}

static int renew(struct vault *vault, const char *owner, struct err *err)
{
    char *text = NULL;
    int r = vault_get(vault, owner, &text, err);

    if (r == 0)
        r = vault_put(vault, owner, text, err);
    if (text)
        sodium_memzero(text, strlen(text));
    free(text);
    return r;
}

/* All or none: a console that is stopped meanwhile finds the older keys in use. */
static int renew_all(struct vault *vault, struct err *err)
{
    struct owners owners = {0};
    int r = db_query(vault->db, DB_CALL("SELECT owner FROM sealed WHERE key_id <> $1", db_number(current(vault)->id)),
                     add_owner, &owners, err);

    if (r == 0 && owners.len > 0)
        r = db_begin(vault->db, err);
    if (r == 0 && owners.len > 0) {
        for (uint32_t i = 0; r == 0 && i < owners.len; i++)
            r = renew(vault, owners.items[i].id, err);
        if (r == 0)
            r = db_commit(vault->db, err);
        else
            db_rollback(vault->db);
    }
    vec_done(&owners);
    return r;
}

/* Who owns the secret that tells the keys of this database from others. */
#define CHECK_OWNER "vault"

/* Consoles of one database need the same keys: with others, each would write what the other cannot read. */
static int check_keys(struct vault *vault, const char *path, struct err *err)
{
    char *text = NULL;
    int r = db_begin(vault->db, err);

    if (r < 0)
        return r;
    r = vault_get(vault, CHECK_OWNER, &text, err);
    free(text);
    if (r == -ENOENT)
        r = vault_put(vault, CHECK_OWNER, "", err);
    if (r == 0)
        return db_commit(vault->db, err);
    db_rollback(vault->db);
    return r == -EBADMSG ? err_set(err, r, "'%s' is not the file with the keys of this database", path) : r;
}

int vault_open(const char *path, struct db *db, struct vault **ret_vault, struct err *err)
{
    struct vault *vault = xcalloc(1, sizeof *vault);
    int r;

    vault->db = db;
    r = read_keys(vault, path, err);
    if (r == 0)
        r = renew_all(vault, err);
    if (r == 0)
        r = check_keys(vault, path, err);
    if (r < 0) {
        vault_free(vault);
        return r;
    }
    *ret_vault = vault;
    return 0;
}

void vault_free(struct vault *vault)
{
    if (!vault)
        return;
    if (vault->keys.items)
        sodium_memzero(vault->keys.items, vault->keys.len * sizeof *vault->keys.items);
    vec_done(&vault->keys);
    free(vault);
}
