package dev.isola.snapshot.failpoint;

/** The points at which a crash leaves an operation of the store incomplete. */
public enum SnapshotFailpoint {
  /** The store is claimed; the leftovers of the previous owner still exist. */
  OPEN_CLAIMED,
  TAKE_BEGUN,
  /** A pack was started in the staging folder. */
  PACK_STAGED,
  /** The pack is complete, still in the staging folder. */
  PACK_WRITTEN,
  /** The pack is in the store, and no snapshot uses it yet. */
  PACK_KEPT,
  /** All packs of a snapshot are in the store. */
  TAKE_COMMITTED,
  /** The manifest is complete in the staging folder. */
  LIST_WRITTEN,
  /** The manifest is in the store, so the snapshot exists. */
  LIST_KEPT,
  /** A file is synced to disk but not yet renamed. */
  FILE_SYNCED,
  /** The file is renamed; the new name may not be on disk yet. */
  FILE_NAMED,
  /** A file is removed; the removal may not be on disk yet. */
  FILE_REMOVED,
  /** The manifest of a snapshot is removed; its packs still exist. */
  LIST_REMOVED,
  COLLECT_BEGUN,
  /** The needed chunks are known. */
  COLLECT_COUNTED,
  /** An unused pack is removed. */
  COLLECT_REMOVED,
  /** The needed chunks of a pack are also in a new pack. */
  COLLECT_REWRITTEN,
  /** The original pack is removed. */
  COLLECT_REPLACED,
  /** The manifest of the snapshot to restore is read. */
  RESTORE_LISTED,
  /** All chunks of the snapshot are verified. */
  RESTORE_CHECKED,
  /** A part of a file is about to be returned. */
  RESTORE_READ
}
