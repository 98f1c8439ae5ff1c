package dev.isola.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.zip.GZIPOutputStream;

/**
 * A file of the pages, in memory.
 *
 * @param mediaType its content type
 * @param content its bytes
 * @param compressed the same, compressed with gzip
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Asset(String mediaType, byte[] content, byte[] compressed) {

  /** Reads a file next to this class. */
  static Asset read(String path) {
    byte[] content = bytes(path);
    return new Asset(mediaType(path), content, compress(content));
  }

  static byte[] bytes(String path) {
    try (InputStream in = Asset.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is not in this build");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static byte[] compress(byte[] content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  private static String mediaType(String path) {
    return switch (path.substring(path.lastIndexOf('.') + 1)) {
      case "js", "mjs" -> "text/javascript; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> throw new IllegalStateException("the media type of " + path + " is not known");
    };
  }
}
