package dev.isola.provider.http;

import dev.isola.scripts.ContentFailure;
import dev.isola.spi.Bytes;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;

/**
 * Content of a caller, read to its end before it is sent: its length is known then, and a caller
 * that fails changes no file. Large content is kept in a temporary file.
 */
record SpooledContent(Bytes bytes, Optional<Path> file) implements AutoCloseable {
  private static final int IN_MEMORY = 1 << 20;

  static SpooledContent of(InputStream content) {
    byte[] first;
    try {
      first = content.readNBytes(IN_MEMORY);
    } catch (IOException e) {
      throw ContentFailure.of(e);
    }
    return first.length < IN_MEMORY
        ? new SpooledContent(Bytes.of(first), Optional.empty())
        : new SpooledContent(Bytes.of(new byte[0]), Optional.of(stored(first, content)));
  }

  private static Path stored(byte[] first, InputStream rest) {
    Path file;
    try {
      file = Files.createTempFile("isola-upload", "");
    } catch (IOException e) {
      throw Fault.of(
              ErrorCode.PROVIDER_UNAVAILABLE,
              "no temporary file for an upload: " + e.getMessage(),
              "check the temporary folder")
          .exception(e);
    }
    boolean complete = false;
    try {
      Files.copy(
          new SequenceInputStream(new ByteArrayInputStream(first), rest),
          file,
          StandardCopyOption.REPLACE_EXISTING);
      complete = true;
      return file;
    } catch (IOException e) {
      throw ContentFailure.of(e);
    } finally {
      if (!complete) {
        delete(file);
      }
    }
  }

  BodyPublisher publisher() {
    try {
      return file.isPresent()
          ? BodyPublishers.ofFile(file.get())
          : BodyPublishers.ofByteArray(bytes.toArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      file.toFile().deleteOnExit();
    }
  }

  @Override
  public void close() {
    file.ifPresent(SpooledContent::delete);
  }
}
