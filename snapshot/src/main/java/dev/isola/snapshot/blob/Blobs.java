package dev.isola.snapshot.blob;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Files that are written once and never changed. A name is one or two words with a slash between
 * them; a file is there whole or not at all, also after a crash.
 */
public interface Blobs {

  /**
   * Takes over a file that was written whole. It is durable when this returns.
   *
   * @param file somewhere on this machine; gone afterwards
   */
  void put(String name, Path file) throws IOException;

  /**
   * Reads a part.
   *
   * @throws java.nio.file.NoSuchFileException when there is no such file
   * @throws java.io.EOFException when it is shorter than that
   */
  byte[] read(String name, long offset, int length) throws IOException;

  /**
   * @throws java.nio.file.NoSuchFileException when there is no such file
   */
  long size(String name) throws IOException;

  /** Returns the names that begin with {@code prefix} and a slash, in order. */
  List<String> list(String prefix) throws IOException;

  /** Removes a file; nothing happens when there is none. */
  void remove(String name) throws IOException;
}
