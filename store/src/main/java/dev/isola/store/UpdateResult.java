package dev.isola.store;

/** What came of a compare-and-set. */
public sealed interface UpdateResult {

  /** It is written; {@code entry} is what is stored now, with its new revision. */
  record Written(SandboxEntry entry) implements UpdateResult {}

  /** Somebody was first and nothing was written; {@code current} is what they left. */
  record Stale(SandboxEntry current) implements UpdateResult {}
}
