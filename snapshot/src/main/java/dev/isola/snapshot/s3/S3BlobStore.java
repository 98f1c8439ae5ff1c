package dev.isola.snapshot.s3;

import dev.isola.codec.digest.Sha256;
import dev.isola.snapshot.blob.BlobStore;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A blob store in a bucket of any S3-compatible service. The service stores an object completely or
 * not at all. Packs have about 16 MiB, so no multipart upload is needed.
 */
public final class S3BlobStore implements BlobStore, AutoCloseable {
  private static final int LIST_BYTES = 16 << 20;
  private static final int MAX_PAGES = 100_000;

  private final S3Config config;
  private final S3Client bucket;
  private final S3Lease lease;

  public S3BlobStore(S3Config config, Clock clock) {
    this(config, clock, S3Client.FIRST_PAUSE);
  }

  S3BlobStore(S3Config config, Clock clock, Duration firstPause) {
    this.config = config;
    this.bucket = new S3Client(config, clock, firstPause);
    this.lease = new S3Lease(bucket);
  }

  @Override
  public Claim claim(Path work) throws IOException {
    return lease.claim(work);
  }

  @Override
  public void put(String name, Path file) throws IOException {
    bucket.send(S3Client.S3Request.put(name, Map.of(), body(file)).withGuard(lease::check), 200);
  }

  @Override
  public void create(String name, Path file) throws IOException {
    S3Client.S3Request ask = S3Client.S3Request.put(name, Map.of("if-none-match", "*"), body(file));
    S3Client.S3Response answer = bucket.send(ask.withGuard(lease::check), 200, 412);
    if (answer.status() == 412 && !(answer.repeated() && isSame(name, file))) {
      throw new FileAlreadyExistsException(name);
    }
  }

  /**
   * Tells whether the stored object equals the file: after an attempt without a response, that
   * attempt may have created the object.
   */
  private boolean isSame(String name, Path file) throws IOException {
    long size = Files.size(file);
    return size == size(name)
        && Arrays.equals(read(name, 0, Math.toIntExact(size)), Files.readAllBytes(file));
  }

  private static S3Client.Body body(Path file) throws IOException {
    MessageDigest digest = Sha256.newDigest();
    long length;
    try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
      length = in.transferTo(OutputStream.nullOutputStream());
    }
    return S3Client.Body.of(file, length, HexFormat.of().formatHex(digest.digest()));
  }

  @Override
  public byte[] read(String name, long offset, int length) throws IOException {
    if (length == 0) {
      return new byte[0];
    }
    S3Client.S3Response answer =
        bucket.send(
            S3Client.S3Request.of(
                "GET",
                name,
                Map.of("range", "bytes=" + offset + "-" + (offset + length - 1)),
                length),
            200,
            206,
            404,
            416);
    if (answer.status() == 404) {
      throw new NoSuchFileException(name);
    }
    byte[] bytes = answer.response().body();
    boolean whole = answer.status() == 200 && offset == 0; // The range covered the whole object.
    if (answer.status() == 416 || !(answer.status() == 206 || whole) || bytes.length != length) {
      throw new EOFException(name + " ends before byte " + (offset + length));
    }
    return bytes;
  }

  @Override
  public long size(String name) throws IOException {
    S3Client.S3Response answer =
        bucket.send(S3Client.S3Request.of("HEAD", name, Map.of(), 0), 200, 404);
    if (answer.status() == 404) {
      throw new NoSuchFileException(name);
    }
    return answer
        .response()
        .headers()
        .firstValueAsLong("content-length")
        .orElseThrow(
            () -> new IOException(bucket + " does not report the size of " + name + " is"));
  }

  @Override
  public List<String> list(String prefix) throws IOException {
    List<String> names = new ArrayList<>();
    String next = "";
    for (int page = 0; page < MAX_PAGES; page++) {
      SortedMap<String, String> query = new TreeMap<>();
      query.put("list-type", "2");
      query.put("prefix", config.prefix() + prefix + "/");
      if (!next.isEmpty()) {
        query.put("continuation-token", next);
      }
      S3Client.S3Response answer =
          bucket.send(
              new S3Client.S3Request(
                  "GET", "", query, Map.of(), S3Client.Body.NONE, LIST_BYTES, () -> {}),
              200);
      S3ListPage list = S3ListPage.read(answer.response().body());
      for (String key : list.keys()) {
        if (!key.startsWith(config.prefix() + prefix + "/")) {
          throw new IOException(bucket + " lists keys outside the requested prefix");
        }
        names.add(key.substring(config.prefix().length()));
      }
      next = list.next();
      if (next.isEmpty()) {
        return names.stream().sorted().toList();
      }
    }
    throw new IOException(bucket + " returns an endless listing");
  }

  @Override
  public void remove(String name) throws IOException {
    S3Client.S3Request ask = S3Client.S3Request.of("DELETE", name, Map.of(), 0);
    bucket.send(ask.withGuard(lease::check), 200, 204, 404);
  }

  @Override
  public void close() {
    bucket.close();
  }

  @Override
  public String toString() {
    return bucket.toString();
  }
}
