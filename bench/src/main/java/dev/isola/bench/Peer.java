package dev.isola.bench;

import java.io.IOException;
import java.util.List;

/**
 * An alternative to Isola on this machine: a container engine, a runtime or a tool. Closing it
 * removes everything it created.
 */
interface Peer extends AutoCloseable {
  /** Returns its version and anything else that affects its results. */
  String version();

  /** Returns subjects that create an isolated environment, run {@code true} in it and end. */
  List<BenchSubject> createSubjects();

  /**
   * Returns subjects that run {@code true} in a running environment.
   *
   * @throws IOException if the environment cannot be started
   */
  List<BenchSubject> execSubjects() throws IOException, InterruptedException;

  @Override
  void close();
}
