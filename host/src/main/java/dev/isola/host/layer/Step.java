package dev.isola.host.layer;

/** A moment at which an end of the process leaves something half done of a fork. */
public enum Step {
  /** A layer is there, not under its name yet. */
  LAYER_DRAFTED,
  /** It has its name and no files; the source uses it. */
  LAYER_MADE,
  /** Somebody else has marked that it uses layers. */
  LAYERS_USED,
  /** One that nobody uses has lost its name, and is still there. */
  LAYER_TAKEN,
  /** What is to be pushed is written down. */
  PUSH_INTENDED,
  /** All that the launcher needs is there. */
  PUSH_PREPARED,
  /** The launcher has said what came of it. */
  PUSH_ANSWERED,
  /** What was to be pushed is crossed out. */
  PUSH_FORGOTTEN,
  /** Layers are about to be merged into one that has no name yet. */
  MERGE_BEGUN,
  /** It has all files. */
  MERGE_FILLED,
  /** It has its name, and nobody knows it. */
  MERGE_NAMED,
  /** Who lies on the others can find it. */
  MERGE_NOTED,
  /** A fork's layers are written down, and not marked yet. */
  FORK_LISTED,
  /** Its workspace can be mounted. */
  FORK_PREPARED
}
