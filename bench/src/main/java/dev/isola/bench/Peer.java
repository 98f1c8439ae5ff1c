package dev.isola.bench;

import java.io.IOException;
import java.util.List;

/**
 * Something else that a user could pick on this machine: a container engine, a runtime, a tool.
 * Closing it removes whatever it made.
 */
interface Peer extends AutoCloseable {
  /** Returns its version, and what else its figures depend on. */
  String version();

  /** Returns who makes something isolated, runs {@code true} in it and is done. */
  List<BenchSubject> createSubjects();

  /**
   * Returns who runs {@code true} in something that is up already.
   *
   * @throws IOException when it cannot be brought up
   */
  List<BenchSubject> execSubjects() throws IOException, InterruptedException;

  @Override
  void close();
}
