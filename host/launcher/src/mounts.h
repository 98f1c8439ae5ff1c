/* Mounts of the stage: the sandbox's root while it is assembled in a private mount namespace. */
#ifndef ISOLA_MOUNTS_H
#define ISOLA_MOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

/* The stage is a private tmpfs over this folder; it contains the sandbox's root. */
#define STAGE "/tmp"
#define STAGE_ROOT STAGE "/root"
/* Next to the root, for an OCI runtime: its bundle and its state, which is not needed once the sandbox runs. */
#define STAGE_BUNDLE STAGE "/bundle"
#define STAGE_STATE STAGE "/state"
#define STAGE_USERS STAGE "/users"
#define STAGE_PROGRAM STAGE "/program"

/* Properties of a mount. */
struct mount_options {
    bool read_only;
    bool mapped;    /* owners are mapped through the sandbox's user namespace */
    bool recursive; /* includes the mounts below */
    bool devices;   /* device files can be opened */
};

/* All functions return false and set errno on failure. Paths are inside the sandbox. */
bool stage_open(void);
/*
 * Mounts a program of the host next to the root: the stage may cover its path, and root of the sandbox's user namespace
 * may not be allowed to enter the folders above it.
 */
bool stage_program(int program);
bool stage_folder(const char *path, mode_t mode, uid_t uid, gid_t gid);
/* Creates a read-only file with this content. */
bool stage_file(const char *path, const char *content, size_t length);
/* Copies a host file if it exists and is world-readable. */
bool stage_copy(const char *file, const char *path);
bool stage_link(const char *target, const char *path);
bool stage_bind(int source, const char *path, struct mount_options options, int userns);
/* Binds a folder and the mounts below it read-only, exposing only what the subordinate user can read. */
bool stage_public(int source, const char *path);
bool stage_tmpfs(const char *path, const char *options);
/* A lower layer of an overlay and the user namespace its owners are mapped through; -1 for none. */
struct lower {
    int folder, userns;
};
/* The first lower layer is the topmost. */
bool stage_overlay(const struct lower *lowers, int count, int upper, int work, const char *path, const char *options);
/* Mounts what is at `path` a second time at `other`, read-only. */
bool stage_again(const char *path, const char *other);
/* Returns what is mounted at a path as a detached mount; -1 on failure. */
int stage_tree(const char *path, bool read_only);
/* Likewise for an open folder; owners are mapped through a user namespace unless that is -1. */
int tree_of(int folder, bool read_only, int userns);
/* Returns the new boot id next to the root as a detached read-only mount of a file; -1 on failure. */
int stage_boot_id(void);
/* Mounts a detached mount on an open file or folder. */
bool move_tree(int tree, int point);
/*
 * Opens a file of procfs in the current mount namespace without following symbolic links; -1 on failure, with ENOTSUP
 * if the path leads to anything else.
 */
int open_proc_file(const char *path);
/*
 * stage_reserve creates /.isola, whatever the image has there. Before it, mounts on reserved paths fail; after it only
 * the launcher's own mounts follow. stage_lock makes /.isola read-only.
 */
bool stage_reserve(void);
bool stage_lock(void);
/* Mounts /dev with harmless devices, private terminals and shared memory. */
bool stage_devices(uid_t owner);
/* Covers a folder with an empty folder and anything else with an empty file. */
bool stage_mask(const char *path);
/* Makes the root read-only, for runtimes that cannot do it themselves; mounts in it are unaffected. */
bool stage_seal(void);
/* Binds a folder next to the root, where symbolic links of the image cannot reach it. A writable one may exist. */
bool stage_beside(int source, const char *name, bool writable);
bool stage_bundle(uid_t owner, const char *config, size_t length);
/* Provides a user namespace as a file next to the root, for a runtime that enters it by path; does nothing for -1. */
bool stage_users(int users);
/*
 * Change what the isolating program sees of the host, in the launcher's mount namespace; missing folders are ignored.
 */
bool host_cover(const char *folder);
bool host_protect(const char *folder);

#endif
