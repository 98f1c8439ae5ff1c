package dev.isola.host.layer;

/** A moment at which an end of the process leaves something half done of a fork. */
public enum ForkStep {
  /** A layer is there, not under its name yet. */
  LAYER_DRAFTED,
  /** It has its name and no files; the source uses it. */
  LAYER_CREATED,
  /** Somebody else has marked that it uses layers. */
  LAYERS_ACQUIRED,
  /** One that nobody uses has lost its name, and is still there. */
  LAYER_DETACHED,
  /** What is to be pushed is written down. */
  COMMIT_INTENT_WRITTEN,
  /** All that the launcher needs is there. */
  COMMIT_PREPARED,
  /** The launcher has said what came of it. */
  COMMIT_ANSWERED,
  /** What was to be pushed is crossed out. */
  COMMIT_INTENT_REMOVED,
  /** Layers are about to be merged into one that has no name yet. */
  MERGE_STARTED,
  /** It has all files. */
  MERGE_FILLED,
  /** It has its name, and nobody knows it. */
  MERGE_PUBLISHED,
  /** Who lies on the others can find it. */
  MERGE_RECORDED,
  /** A fork's layers are written down, and not marked yet. */
  FORK_LISTED,
  /** Its workspace can be mounted. */
  FORK_PREPARED
}
