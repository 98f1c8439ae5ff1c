package dev.isola.store;

/** The result of a compare-and-set. */
public sealed interface UpdateResult {

  /**
   * The update succeeded.
   *
   * @param entry the entry as stored, with its new revision
   */
  record Written(SandboxEntry entry) implements UpdateResult {}

  /**
   * The revision was outdated and nothing was written.
   *
   * @param current the stored entry
   */
  record Stale(SandboxEntry current) implements UpdateResult {}
}
