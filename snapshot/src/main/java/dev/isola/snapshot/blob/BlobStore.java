package dev.isola.snapshot.blob;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Stores immutable blobs. A name has one or two segments separated by a slash. A blob is stored
 * completely or not at all, even after a crash. Thread-safe.
 */
public interface BlobStore {

  /** Exclusive write access to the store, until closed. */
  interface Claim extends AutoCloseable {
    @Override
    void close() throws IOException;
  }

  /**
   * Claims exclusive write access.
   *
   * @param work a local folder that only the caller uses
   * @throws AlreadyClaimedException if another owner has claimed the store
   */
  Claim claim(Path work) throws IOException;

  /**
   * Stores a complete file, replacing a blob of the same name. The blob is durable when this method
   * returns.
   *
   * @param file a local file, which may be gone afterwards
   */
  void put(String name, Path file) throws IOException;

  /**
   * Like {@link #put}, but fails instead of replacing a blob.
   *
   * @throws java.nio.file.FileAlreadyExistsException if a blob of that name exists
   */
  void create(String name, Path file) throws IOException;

  /**
   * Reads a range of a blob.
   *
   * @throws java.nio.file.NoSuchFileException if the blob does not exist
   * @throws java.io.EOFException if the blob ends before the range does
   */
  byte[] read(String name, long offset, int length) throws IOException;

  /**
   * @throws java.nio.file.NoSuchFileException if the blob does not exist
   */
  long size(String name) throws IOException;

  /** Returns the names that begin with {@code prefix} and a slash, sorted. */
  List<String> list(String prefix) throws IOException;

  /** Removes a blob. Has no effect if the blob does not exist. */
  void remove(String name) throws IOException;
}
