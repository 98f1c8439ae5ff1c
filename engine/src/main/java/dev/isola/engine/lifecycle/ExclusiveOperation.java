package dev.isola.engine.lifecycle;

/** What only one thread at a time does with a sandbox. */
public enum ExclusiveOperation {
  /** Suspends or resumes it. */
  SUSPENSION("the suspension or resumption"),
  /** Takes a snapshot of it. */
  SNAPSHOT("another snapshot");

  /** The operation that another thread carries out, for messages. */
  final String description;

  ExclusiveOperation(String description) {
    this.description = description;
  }
}
