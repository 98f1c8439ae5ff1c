package dev.isola.host.image;

import dev.isola.spi.error.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The blobs of an OCI layout, each named by the hash of its content. The hash is computed over the
 * bytes actually used, because a file can change after a separate check.
 */
record OciBlobs(Path layout) {
  private static final Pattern DIGEST = Pattern.compile("sha256:[0-9a-f]{64}");
  private static final int MAX_DOCUMENT_SIZE = 4 << 20;

  /** A reference to a blob. */
  record Descriptor(String mediaType, String digest, long size) {
    static Descriptor of(OciDocument document) {
      String digest = document.string("digest").orElse("");
      if (!DIGEST.matcher(digest).matches()) {
        throw OciDocument.bad(
            document.what() + " has the digest '" + digest + "', which is not a sha256 digest");
      }
      return new Descriptor(
          document.string("mediaType").orElse(""), digest, document.number("size"));
    }
  }

  /** Reads a manifest, an index or a configuration. */
  OciDocument document(String what, Descriptor descriptor) throws IOException {
    if (descriptor.size() > MAX_DOCUMENT_SIZE) {
      throw OciDocument.bad(what + " has " + descriptor.size() + " bytes");
    }
    byte[] bytes;
    try (InputStream in = open(descriptor)) {
      bytes = in.readNBytes(MAX_DOCUMENT_SIZE + 1);
    }
    verify(what, descriptor.digest(), ContentDigest.of(bytes));
    return OciDocument.parse(what, bytes);
  }

  /** Opens a blob. The caller must read all of it, hash it and call {@link #verify}. */
  InputStream open(Descriptor descriptor) throws IOException {
    Path blob = layout.resolve("blobs").resolve("sha256").resolve(descriptor.digest().substring(7));
    if (!Files.isRegularFile(blob)) {
      throw OciDocument.bad("the blob " + descriptor.digest() + " is missing");
    }
    if (Files.size(blob) != descriptor.size()) {
      throw wrong("the blob", descriptor.digest(), Files.size(blob) + " bytes");
    }
    return Files.newInputStream(blob);
  }

  static void verify(String what, String expected, String found) {
    if (!expected.equals(found)) {
      throw wrong(what, expected, found);
    }
  }

  private static SandboxException wrong(String what, String expected, String found) {
    return OciDocument.bad(
        what + " does not match its digest: expected " + expected + ", found " + found);
  }
}
