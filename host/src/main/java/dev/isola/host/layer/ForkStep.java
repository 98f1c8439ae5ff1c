package dev.isola.host.layer;

/** The points of a fork at which a crash leaves partial state; failpoints of the crash tests. */
public enum ForkStep {
  /** A layer exists, but not yet under its name. */
  LAYER_DRAFTED,
  /** The layer has its name, but no files; the source references it. */
  LAYER_CREATED,
  /** References to layers have been added. */
  LAYERS_ACQUIRED,
  /** An unused layer has lost its name and is not removed yet. */
  LAYER_DETACHED,
  /** The recovery plan of a commit is written. */
  COMMIT_INTENT_WRITTEN,
  /** All files of the commit exist. */
  COMMIT_PREPARED,
  /** The launcher has answered. */
  COMMIT_ANSWERED,
  /** The recovery plan is removed. */
  COMMIT_INTENT_REMOVED,
  /** A merge starts into a layer without a name. */
  MERGE_STARTED,
  /** The merged layer has all files. */
  MERGE_FILLED,
  /** The merged layer has its name, but no other layer refers to it. */
  MERGE_PUBLISHED,
  /** The topmost layer refers to the merged one. */
  MERGE_RECORDED,
  /** The layers of a fork are listed, but not referenced yet. */
  FORK_LISTED,
  /** The workspace of the fork can be mounted. */
  FORK_PREPARED,
  /** The folder for a saved sandbox exists; its commands are frozen. */
  SAVE_STARTED,
  /** The runtime has saved the processes. */
  PROCESSES_SAVED,
  /** The files are saved as well; commands are still frozen. */
  FILES_SAVED,
  /** Everything for a restored sandbox is planned. */
  RESTORE_PLANNED,
  /** The restored sandbox exists with the identity of its source; its commands are frozen. */
  RESTORED
}
