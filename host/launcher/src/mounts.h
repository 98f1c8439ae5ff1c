/* Mounts of the stage: the sandbox's root as it is put together in a mount namespace of its own. */
#ifndef ISOLA_MOUNTS_H
#define ISOLA_MOUNTS_H

#include <stdbool.h>
#include <sys/types.h>

/* Where the stage is: a private tmpfs over this folder, the sandbox's root in it. */
#define STAGE "/tmp"
#define STAGE_ROOT STAGE "/root"
/* Beside it, for an OCI runtime: its bundle, and what it writes down, which nobody needs once the sandbox runs. */
#define STAGE_BUNDLE STAGE "/bundle"
#define STAGE_STATE STAGE "/state"
#define STAGE_USERS STAGE "/users"

/* What a mount may be besides readable and writable. */
struct mount_options {
    bool read_only;
    bool mapped;    /* owners are seen through the sandbox's user namespace */
    bool recursive; /* with what is mounted beneath */
    bool devices;   /* they can be opened */
};

/* All return false with errno; paths are inside the sandbox unless they are descriptors. */
bool stage_open(void);
bool stage_folder(const char *path, mode_t mode, uid_t uid, gid_t gid);
/* A file that has this content and cannot be written. */
bool stage_file(const char *path, const char *content, size_t length);
/* A copy of a file of the host that everybody there may read; no file, no copy. */
bool stage_copy(const char *file, const char *path);
bool stage_link(const char *target, const char *path);
bool stage_bind(int source, const char *path, struct mount_options options, int userns);
/* A folder with all that is mounted beneath, read only, of which only that can be read that the other user may read. */
bool stage_public(int source, const char *path);
bool stage_tmpfs(const char *path, const char *options);
/* What lies beneath the upper folder of an overlay, and the user namespace its owners are seen through; -1 for none. */
struct lower {
    int folder, userns;
};
/* The first of the lower ones is the topmost. */
bool stage_overlay(const struct lower *lowers, int count, int upper, int work, const char *path, const char *options);
/* What is mounted at a path, once more and read only, at another. */
bool stage_again(const char *path, const char *other);
/* What is mounted at a path, as a tree that is mounted nowhere; -1 on failure. */
int stage_tree(const char *path, bool read_only);
/* The same of a folder that is open; owners are seen through a user namespace unless that is -1. */
int tree_of(int folder, bool read_only, int userns);
/*
 * /.isola becomes a folder of its own, whatever a caller's image has there; before this nothing can be mounted on what
 * is reserved, after it only what is ours is mounted. Locked, nothing in it can be changed.
 */
bool stage_reserve(void);
bool stage_lock(void);
/* /dev: the devices that harm nobody, terminals of its own, memory to share. */
bool stage_devices(uid_t owner);
/* Covers what is there with nothing: a folder with an empty one, anything else with an empty file. */
bool stage_mask(const char *path);
/* Makes the root read only, for who cannot do that later; what is mounted in it stays as it is. */
bool stage_seal(void);
/* A folder beside the root, out of the reach of the links in it. */
bool stage_beside(int source, const char *name);
bool stage_bundle(uid_t owner, const char *config, size_t length);
/* A user namespace as a file beside the root, for a runtime that enters it by a path; nothing for -1. */
bool stage_users(int users);
/* What the program that isolates sees of the host, in our mount namespace; what is not there needs nothing. */
bool host_cover(const char *folder);
bool host_protect(const char *folder);

#endif
