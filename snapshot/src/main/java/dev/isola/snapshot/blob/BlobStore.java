package dev.isola.snapshot.blob;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Files that are written once and never changed. A name is one or two words with a slash between
 * them; a file is there whole or not at all, also after a crash. For several threads.
 */
public interface BlobStore {

  /** Who may write; nobody else can before it is closed. */
  interface Claim extends AutoCloseable {
    @Override
    void close() throws IOException;
  }

  /**
   * Becomes the only one who writes here.
   *
   * @param work a folder of this machine that nobody but the caller uses
   * @throws AlreadyClaimedException when somebody else is
   */
  Claim claim(Path work) throws IOException;

  /**
   * Takes over a file that was written whole. It is durable when this returns. One that is there
   * under that name is replaced.
   *
   * @param file somewhere on this machine; it may be gone afterwards
   */
  void put(String name, Path file) throws IOException;

  /**
   * Like {@link #put}, but never replaces anything.
   *
   * @throws java.nio.file.FileAlreadyExistsException when there is one of that name
   */
  void create(String name, Path file) throws IOException;

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
