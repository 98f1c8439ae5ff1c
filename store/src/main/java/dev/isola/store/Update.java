package dev.isola.store;

/** What came of a compare-and-set. */
public sealed interface Update {

  /** It is written; {@code entry} is what is stored now, with its new revision. */
  record Written(SandboxEntry entry) implements Update {}

  /** Somebody was first and nothing was written; {@code current} is what they left. */
  record Lost(SandboxEntry current) implements Update {}
}
