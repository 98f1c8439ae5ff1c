package dev.isola.snapshot.failpoint;

/** A moment at which an end of the process leaves something half done in the store. */
public enum SnapshotFailpoint {
  /** The store has its owner; what an earlier one left is still there. */
  OPEN_CLAIMED,
  TAKE_BEGUN,
  /** A pack is begun beside the store. */
  PACK_STAGED,
  /** It is whole, and still beside the store. */
  PACK_WRITTEN,
  /** It is in the store, and nobody needs it yet. */
  PACK_KEPT,
  /** All packs of a snapshot are in the store. */
  TAKE_COMMITTED,
  /** Its list is written beside the store. */
  LIST_WRITTEN,
  /** Its list is in the store, so the snapshot exists. */
  LIST_KEPT,
  /** A file is on the disk without its name. */
  FILE_SYNCED,
  /** It has its name, which may not be on the disk yet. */
  FILE_NAMED,
  /** A name is gone, perhaps not on the disk yet. */
  FILE_REMOVED,
  /** The list of a snapshot that was removed is gone, and its packs are not. */
  LIST_REMOVED,
  COLLECT_BEGUN,
  /** It is known what is needed. */
  COLLECT_COUNTED,
  /** A pack that nobody needed is gone. */
  COLLECT_REMOVED,
  /** What is needed of a pack is in another one too. */
  COLLECT_REWRITTEN,
  /** The first one is gone. */
  COLLECT_REPLACED,
  /** The list of a snapshot that is to be restored is read. */
  RESTORE_LISTED,
  /** So is all that it needs. */
  RESTORE_CHECKED,
  /** A part of a file is about to be given out. */
  RESTORE_READ
}
